import { describe, expect, test } from 'vitest';
import type { PathwayInput } from '../../src/agents/pathway/schema/pathwaySchema.ts';
import { ModelError } from '../../src/providers/ports/modelError.ts';
import { scriptedVoice } from './support/scriptedSpeech.ts';
import { type SimulatedCall, simulatedCall, soundMs, WITH_FALLBACK } from './support/simulatedCall.ts';

const GREETING = { text: 'Hello there. How can I help you?' };
const LONG = { text: 'One two three four. Five six seven eight. Nine ten eleven twelve.' };
const away = new ModelError('model_unavailable', 'The model is away', { beforeFirstToken: true });

const nodeWith = (data: object): PathwayInput => ({
  nodes: [{ id: 'start', type: 'start', data: { title: 'Talk', prompt: 'Talk.', ...data } }],
  edges: [],
});

const last = (call: SimulatedCall) => call.memory.records.flatMap(({ messages }) => messages).at(-1);
const events = (call: SimulatedCall, type: string) =>
  call.memory
    .events()
    .filter((event) => event.type === type)
    .map(({ data }) => data);

async function greeted(call: SimulatedCall): Promise<void> {
  await call.agentSpeaks();
  await call.agentFallsSilent();
  await call.stream.advance(100);
}

describe('a turn', () => {
  test('the agent greets at once, hears the caller out, answers, and all of it is history', async () => {
    const call = simulatedCall({ answer: (index) => [GREETING, { text: 'Gladly.' }][index] ?? {} });
    await call.stream.advance(60);
    expect(call.isAgentSpeaking()).toBe(true);
    await greeted(call);
    await call.say('I would like a table.', 900);
    await greeted(call);
    await call.stream.hangUp();
    expect(call.transcript()).toEqual([
      'assistant: Hello there. How can I help you?',
      'user: I would like a table.',
      'assistant: Gladly.',
    ]);
    expect(await call.report).toMatchObject({
      outcome: 'closed',
      interruptions: 0,
      turns: [{ kind: 'begin' }, { kind: 'words' }],
    });
  });

  test('a talk that goes on over another stream is not begun anew: the agent says that it is back', async () => {
    const answer = (index: number) => [GREETING, { text: 'Gladly.' }][index] ?? {};
    const call = simulatedCall({ answer, session: { isResumed: true } });
    await greeted(call);
    await call.say('I would like a table.', 900);
    await greeted(call);
    await call.stream.hangUp();
    expect(call.transcript()).toEqual([
      'assistant: Sorry, I lost you for a moment. Please go on.',
      'user: I would like a table.',
      `assistant: ${GREETING.text}`,
    ]);
    expect(events(call, 'error')).toEqual([expect.objectContaining({ code: 'stream_resumed' })]);
    expect((await call.report).turns.map(({ kind }) => kind)).toEqual(['notice', 'words']);
  });

  test('its latency is what the two sides of a recording show, and its parts add up', async () => {
    const call = simulatedCall({
      answer: (index) => [GREETING, { text: 'Gladly.' }][index] ?? {},
      stream: { bufferDelayMs: 60 },
    });
    await greeted(call);
    await call.say('I would like a table.', 900);
    await greeted(call);
    const lastVoiced = call.stream.callerAudio().findLastIndex((sample) => sample !== 0) + 1;
    const firstSound = call.stream.agentAudio().findIndex((sample, at) => at >= lastVoiced && sample !== 0);
    const shownMs = ((firstSound - lastVoiced) * 1000) / 8000;
    const { latencyMs = 0, latencyParts } = last(call) ?? {};
    expect(Math.abs(latencyMs - 60 - shownMs)).toBeLessThanOrEqual(20);
    const { bufferMs = 0, endpointingMs = 0 } = latencyParts ?? {};
    expect(bufferMs).toBe(60);
    expect(endpointingMs).toBeGreaterThanOrEqual(400);
    expect(Object.values(latencyParts ?? {}).reduce((sum, part) => sum + part, 0)).toBe(latencyMs);
    await call.stream.hangUp();
    expect((await call.report).turns[1]).toMatchObject({ latencyMs, latencyParts });
  });

  test('its latency is right also where audio came before anybody listened', async () => {
    const answer = (index: number) => [GREETING, { text: 'Gladly.' }][index] ?? {};
    const call = simulatedCall({ answer, stream: { receivedBefore: 8 * 1500, bufferDelayMs: 0 } });
    await greeted(call);
    await call.say('I would like a table.', 900);
    await greeted(call);
    expect(last(call)?.latencyMs).toBeGreaterThan(400);
    expect(last(call)?.latencyMs).toBeLessThan(600);
    await call.stream.hangUp();
    await call.report;
  });

  test('words that a node expects end the turn sooner than words that seem to go on', async () => {
    const waits: number[] = [];
    for (const text of ['yes', 'I would like to']) {
      const call = simulatedCall({ answer: () => GREETING, pathway: nodeWith({ expectedAnswers: ['Yes'] }) });
      await greeted(call);
      await call.say(text, 600);
      expect(call.caller.hints.at(-1)).toEqual(['Yes']);
      const from = call.stream.nowMs();
      await call.agentSpeaks();
      waits.push(call.stream.nowMs() - from);
      await call.stream.hangUp();
    }
    expect(waits[0]).toBeLessThan(400);
    expect(waits[1]).toBeGreaterThan(1200);
  });

  test('a caller who goes on before anything sounded has said it all in one turn', async () => {
    let release = () => {};
    const after = new Promise<void>((resolve) => {
      release = resolve;
    });
    const call = simulatedCall({
      answer: (index) => [GREETING, { text: 'Too early.', after }, { text: 'Certainly.' }][index] ?? {},
    });
    await greeted(call);
    await call.say('I need a table.', 600);
    await call.stream.until(() => call.model.requests.length === 2);
    await call.say('For six people.', 600);
    release();
    await greeted(call);
    await call.stream.hangUp();
    expect(call.transcript().slice(1)).toEqual([
      'user: I need a table. For six people.',
      'assistant: Certainly.',
    ]);
    await call.report;
  });

  test('a caller who was answered in the middle of a number is given longer pauses', async () => {
    const call = simulatedCall({
      answer: (index) => (index === 0 ? GREETING : { text: 'I see, thank you.' }),
    });
    await greeted(call);
    await call.say('five', 400);
    await call.agentSpeaks();
    await call.say('six', 500);
    await call.stream.advance(800);
    await call.say('seven', 400);
    await greeted(call);
    await call.stream.hangUp();
    await call.report;
    expect(call.transcript().filter((line) => line.startsWith('user'))).toEqual([
      'user: five',
      'user: six seven',
    ]);
  });

  test('the first words are spoken while the model still writes', async () => {
    let release = () => {};
    const after = new Promise<void>((resolve) => {
      release = resolve;
    });
    const call = simulatedCall({
      answer: (index) => (index === 0 ? { text: 'Good morning to you. And more ', hang: true } : { after }),
    });
    await call.stream.advance(100);
    expect(call.voice.texts).toEqual(['Good morning to you.']);
    expect(call.isAgentSpeaking()).toBe(true);
    release();
    await call.stream.hangUp();
    await call.report;
  });

  test('an answer that is long in coming is announced', async () => {
    const call = simulatedCall({ answer: (index) => (index === 0 ? GREETING : { hang: true }) });
    await greeted(call);
    await call.say('Who are you?', 600);
    await call.stream.advance(6000);
    expect(call.voice.texts.at(-1)).toBe('One moment, please.');
    await call.stream.hangUp();
    await call.report;
    expect(call.transcript().slice(1)).toEqual(['user: Who are you?', 'assistant: One moment, please.']);
  });

  test('one that never comes was announced, which is history too', async () => {
    let fail = () => {};
    const after = new Promise<void>((resolve) => {
      fail = resolve;
    });
    const call = simulatedCall({ answer: (index) => (index === 0 ? GREETING : { after, fail: away }) });
    await greeted(call);
    await call.say('Who are you?', 600);
    await call.agentSpeaks();
    await call.agentFallsSilent();
    fail();
    await call.stream.until(() => call.stream.commands.length > 0);
    await call.stream.hangUp();
    await call.report;
    expect(call.transcript().slice(1)).toEqual([
      'user: Who are you?',
      'assistant: One moment, please.',
      expect.stringMatching(/^assistant: I am sorry, something is not working/),
    ]);
  });

  test('one that is still not there is announced again', async () => {
    const call = simulatedCall({ answer: (index) => (index === 0 ? GREETING : { hang: true }) });
    await greeted(call);
    await call.say('Who are you?', 600);
    for (let time = 1; time <= 2; time += 1) {
      await call.stream.until(() => call.isAgentSpeaking());
      expect(call.voice.texts.at(-1)).toBe('One moment, please.');
      await call.stream.until(() => !call.isAgentSpeaking());
    }
    await call.stream.hangUp();
    await call.report;
  });
});

describe('cutting in', () => {
  test('stops the agent within a frame, and history keeps what was heard', async () => {
    const call = simulatedCall({ answer: (index) => [LONG, { text: 'Of course.' }][index] ?? {} });
    await call.agentSpeaks();
    await call.stream.advance(1500);
    await call.say('No I want something else.', 1000);
    expect(call.isAgentSpeaking()).toBe(false);
    await greeted(call);
    await call.stream.hangUp();
    const soundedMs = soundMs(call.stream.agentAudio()) - 600;
    expect(soundedMs).toBeGreaterThan(1500 + 400);
    expect(soundedMs).toBeLessThan(1500 + 400 + 80);
    expect(call.memory.records.flatMap(({ messages }) => messages)[0]).toMatchObject({
      content: 'One two three four. Five six',
      generatedText: LONG.text,
      interrupted: true,
    });
    expect(events(call, 'barge_in')).toEqual([
      {
        heardText: 'One two three four. Five six',
        heardMs: expect.closeTo(soundedMs, -2),
        // Within the frame in which it was decided.
        stopMs: 0,
      },
    ]);
    expect(call.transcript().slice(1)).toEqual(['user: No I want something else.', 'assistant: Of course.']);
    expect(await call.report).toMatchObject({ interruptions: 1, falseInterruptions: 0 });
  });

  test('stops the model too', async () => {
    const call = simulatedCall({
      answer: (index) => (index === 0 ? { text: `${LONG.text} `, hang: true } : { text: 'Of course.' }),
    });
    await call.agentSpeaks();
    await call.say('No I want something else.', 1200);
    await greeted(call);
    expect(call.model.left()).toBe(1);
    expect(call.transcript()[0]).toBe('assistant: One');
    await call.stream.hangUp();
    await call.report;
  });

  test.each([
    ['mm-hm', 500],
    ['', 500],
    ['right, right', 700],
  ])(
    '%j is none: the agent goes on where it stopped, and nothing of it is lost',
    async (text, durationMs) => {
      const call = simulatedCall({ answer: () => LONG });
      await call.agentSpeaks();
      await call.stream.advance(1000);
      await call.say(text, durationMs);
      await call.stream.advance(8000);
      await call.stream.hangUp();
      expect(call.transcript()).toEqual([`assistant: ${LONG.text}`]);
      // Twelve words of 300 ms, and the 5 ms of the fade.
      expect(soundMs(call.stream.agentAudio())).toBeGreaterThanOrEqual(3600 - 10);
      expect(soundMs(call.stream.agentAudio())).toBeLessThanOrEqual(3600 + 20);
      expect(await call.report).toMatchObject({ interruptions: 0, falseInterruptions: 1 });
    },
  );

  test('a short acknowledgement does not even stop it, a short objection does', async () => {
    const heard = async (text: string) => {
      const call = simulatedCall({ answer: (index) => [LONG, { text: 'Fine.' }][index] ?? {} });
      await call.agentSpeaks();
      await call.stream.advance(1000);
      await call.say(text, 240);
      await call.stream.advance(300);
      const wasStopped = !call.isAgentSpeaking();
      await call.stream.hangUp();
      await call.report;
      return wasStopped;
    };
    expect(await heard('okay')).toBe(false);
    expect(await heard('stop')).toBe(true);
  });

  test('is not possible where the node forbids it, and takes as much speech as the node says', async () => {
    const call = simulatedCall({ answer: () => LONG, pathway: nodeWith({ interruption: 'off' }) });
    await call.agentSpeaks();
    await call.say('No I want something else.', 1500);
    expect(call.isAgentSpeaking()).toBe(true);
    await call.stream.hangUp();
    expect(await call.report).toMatchObject({ interruptions: 0 });

    const patient = simulatedCall({ answer: () => LONG, pathway: nodeWith({ interruptAfterMs: 1500 }) });
    await patient.agentSpeaks();
    await patient.say('No I want', 1300);
    expect(patient.isAgentSpeaking()).toBe(true);
    await patient.say('something else.', 400);
    expect(patient.isAgentSpeaking()).toBe(false);
    await patient.stream.hangUp();
    await patient.report;
  });

  test('a short answer to the agent’s last words counts', async () => {
    const call = simulatedCall({
      answer: (index) => [{ text: 'Shall I book it?' }, { text: 'Booked.' }][index] ?? {},
    });
    await call.agentSpeaks();
    await call.stream.advance(500);
    await call.say('yes', 260);
    await call.stream.advance(2000);
    await call.stream.hangUp();
    expect(call.transcript().slice(1)).toEqual(['user: yes', 'assistant: Booked.']);
    await call.report;
  });

  test('by a peer that answers neither marks nor stops is reckoned by time', async () => {
    const call = simulatedCall({ answer: () => LONG, stream: { isMute: true } });
    await call.agentSpeaks();
    await call.say('No I want something else.', 1200);
    await call.stream.advance(6000);
    await call.stream.hangUp();
    expect((await call.report).outcome).toBe('closed');
    expect(last(call)).toBeDefined();
  });

  test('a peer that answers no marks is heard and answered all the same', async () => {
    const call = simulatedCall({
      answer: (index) => [GREETING, { text: 'Gladly.' }][index] ?? {},
      stream: { isMute: true },
    });
    await greeted(call);
    await call.stream.advance(3000);
    await call.say('I would like a table.', 1200);
    await greeted(call);
    await call.stream.advance(3000);
    await call.stream.hangUp();
    await call.report;
    expect(call.transcript()).toEqual([
      'assistant: Hello there. How can I help you?',
      'user: I would like a table.',
      'assistant: Gladly.',
    ]);
  });

  test('hanging up in the middle of an answer leaves what was heard', async () => {
    const call = simulatedCall({ answer: () => LONG });
    await call.agentSpeaks();
    await call.stream.advance(1000);
    await call.stream.hangUp();
    await call.report;
    expect(last(call)).toMatchObject({
      content: 'One two three',
      generatedText: LONG.text,
      interrupted: true,
    });
  });
});

test.each([
  ['says', (call: SimulatedCall) => call.say('Please cancel it.', 900), 'Please cancel it.'],
  ['presses', async (call: SimulatedCall) => [...'2#'].forEach(call.stream.pressDigit), '2'],
] as const)('what a caller %s and hangs up before the answer is history', async (_how, ask, content) => {
  const call = simulatedCall({ answer: (index) => (index === 0 ? GREETING : { hang: true }) });
  await greeted(call);
  await ask(call);
  await call.stream.until(() => call.model.requests.length === 2);
  await call.stream.hangUp();
  await call.report;
  expect(call.transcript()).toEqual([`assistant: ${GREETING.text}`, `user: ${content}`]);
});

test('what the caller said in a turn that was not kept is history with the next one', async () => {
  const call = simulatedCall({
    answer: (index) => [GREETING, { hang: true }, { text: 'Here.' }][index] ?? {},
  });
  await greeted(call);
  await call.say('Where are you?', 600);
  // The agent asks for a moment, and is cut short before the pathway has said a word.
  await call.stream.until(() => call.voice.texts.at(-1) === 'One moment, please.');
  await call.say('Hello, where are you?', 1200);
  await greeted(call);
  await call.stream.hangUp();
  expect(call.transcript().slice(1)).toEqual([
    'user: Where are you?',
    'assistant: One',
    'user: Hello, where are you?',
    'assistant: Here.',
  ]);
  await call.report;
});

test('and with the one after it where that could not be kept either', async () => {
  let areAway = 0;
  const call = simulatedCall({
    answer: () => GREETING,
    wrapSessions: (sessions) => ({
      ...sessions,
      async find(projectId, sessionId) {
        if (areAway-- > 0) throw new Error('sessions are away');
        return await sessions.find(projectId, sessionId);
      },
    }),
  });
  await greeted(call);
  // Neither the words are kept, nor the failure that follows; the apology at the end is.
  areAway = 2;
  await call.say('Where are you?', 600);
  await call.agentSpeaks();
  await call.stream.until(() => call.stream.commands.some(({ kind }) => kind === 'hangup'));
  await call.stream.hangUp();
  await call.report;
  expect(call.errors).toHaveLength(2);
  expect(call.transcript()[1]).toBe('user: Where are you?');
  expect(call.transcript().filter((line) => line.startsWith('user'))).toHaveLength(1);
});

describe('silence', () => {
  test('is asked about in the node’s words, and in the end hung up on', async () => {
    const silence = { afterMs: 3000, prompts: ['Hello?', 'Anybody?'], hangupAfter: 2 };
    const call = simulatedCall({ answer: () => GREETING, pathway: nodeWith({ silence }) });
    await greeted(call);
    await call.stream.until(() => call.stream.commands.length > 0, 30_000);
    expect(call.stream.commands).toEqual([{ kind: 'hangup' }]);
    expect(call.transcript().slice(1)).toEqual([
      'assistant: Hello?',
      'assistant: Anybody?',
      'assistant: I cannot hear you. Goodbye.',
    ]);
    expect(events(call, 'silence').length).toBe(3);
    expect(Number(events(call, 'silence')[0]?.durationMs)).toBeGreaterThanOrEqual(3000);
    expect(last(call)?.content).toBe('I cannot hear you. Goodbye.');
    expect(last(call)?.latencyMs).toBeUndefined();
    await call.stream.hangUp();
    expect((await call.report).outcome).toBe('hung_up');
  });

  test('on hold is none, and begins anew after it', async () => {
    const silence = { afterMs: 3000, prompts: ['Hello?'] };
    const call = simulatedCall({ answer: () => GREETING, pathway: nodeWith({ silence }) });
    await greeted(call);
    call.stream.putOnHold(true);
    await call.stream.advance(60_000);
    call.stream.putOnHold(false);
    await call.stream.advance(2900);
    expect(events(call, 'silence')).toEqual([]);
    await greeted(call);
    expect(call.transcript().slice(1)).toEqual(['assistant: Hello?']);
    await call.stream.hangUp();
    await call.report;
  });

  test('takes the pathway’s own way where there is one', async () => {
    const pathway: PathwayInput = {
      nodes: [
        { id: 'start', type: 'start', data: { title: 'Talk', prompt: 'Talk.', silence: { afterMs: 2000 } } },
        { id: 'late', type: 'say', data: { title: 'Late', prompt: 'You seem to be busy.' } },
      ],
      edges: [{ id: 'silent', source: 'start', target: 'late', data: { condition: { event: 'silence' } } }],
    };
    const call = simulatedCall({ answer: () => GREETING, pathway });
    await greeted(call);
    await greeted(call);
    await call.stream.hangUp();
    expect(call.transcript()[1]).toBe('assistant: You seem to be busy.');
    await call.report;
  });
});

describe('keys', () => {
  const pathway: PathwayInput = {
    nodes: [
      { id: 'start', type: 'start', data: { title: 'Menu', prompt: 'Menu.' } },
      { id: 'sales', type: 'say', data: { title: 'Sales', prompt: 'This is sales.' } },
    ],
    edges: [
      { id: 'one', source: 'start', target: 'sales', data: { condition: { event: 'dtmf', digits: '1' } } },
    ],
  };

  test('one that leads on is followed at once, in the middle of a sentence', async () => {
    const call = simulatedCall({ answer: () => LONG, pathway });
    await call.agentSpeaks();
    await call.stream.advance(500);
    call.stream.pressDigit('1');
    await call.stream.advance(200);
    expect(call.voice.texts.at(-1)).toBe('This is sales.');
    await call.stream.hangUp();
    await call.report;
    expect(events(call, 'dtmf')).toEqual([{ digits: '1' }]);
  });

  test('where the agent cannot be interrupted, they count once it has spoken', async () => {
    const [start, sales] = pathway.nodes ?? [];
    const nodes = [{ ...start, data: { title: 'Menu', prompt: 'Menu.', interruption: 'off' } }, sales];
    const call = simulatedCall({ answer: () => LONG, pathway: { ...pathway, nodes } as PathwayInput });
    await call.agentSpeaks();
    call.stream.pressDigit('1');
    await call.stream.advance(500);
    expect(call.voice.texts).not.toContain('This is sales.');
    await call.stream.advance(4000);
    expect(call.voice.texts).toContain('This is sales.');
    expect(call.transcript()[0]).toBe(`assistant: ${LONG.text}`);
    await call.stream.hangUp();
    await call.report;
  });

  test('pressed while an answer is being thought out, they come before it', async () => {
    const call = simulatedCall({ answer: (index) => [GREETING, { hang: true }][index] ?? {}, pathway });
    await greeted(call);
    await call.say('Well let me see.', 600);
    await call.stream.until(() => call.model.requests.length === 2);
    call.stream.pressDigit('1');
    await call.stream.advance(200);
    expect(call.voice.texts.at(-1)).toBe('This is sales.');
    await call.stream.hangUp();
    await call.report;
  });

  test('what was said before them, and is not answered, is history', async () => {
    const call = simulatedCall({
      answer: (index) => [GREETING, { hang: true }][index] ?? { text: 'Thank you.' },
    });
    await greeted(call);
    await call.say('Well, let me see.', 600);
    await call.stream.until(() => call.model.requests.length === 2);
    call.stream.pressDigit('7');
    call.stream.pressDigit('#');
    await greeted(call);
    await call.say('The other one is', 600);
    await call.stream.advance(160);
    call.stream.pressDigit('8');
    call.stream.pressDigit('#');
    await greeted(call);
    await call.stream.hangUp();
    await call.report;
    expect(call.transcript().slice(1)).toEqual([
      'user: Well, let me see.',
      'user: 7',
      'assistant: Thank you.',
      'user: The other one is',
      'user: 8',
      'assistant: Thank you.',
    ]);
    // It answers the keys, and is counted from them.
    expect(last(call)?.latencyMs).toBeLessThan(150);
  });

  test('others are collected until the caller is done', async () => {
    const call = simulatedCall({
      answer: (index) => [GREETING, { text: 'Thank you.' }, { text: 'Seven.' }][index] ?? {},
    });
    await greeted(call);
    for (const digit of '4711') {
      call.stream.pressDigit(digit);
      await call.stream.advance(500);
    }
    await call.stream.advance(1500);
    expect(events(call, 'dtmf')).toEqual([]);
    await call.stream.advance(1500);
    await greeted(call);
    expect(events(call, 'dtmf')).toEqual([{ digits: '4711' }]);
    call.stream.pressDigit('7');
    call.stream.pressDigit('#');
    await greeted(call);
    expect(events(call, 'dtmf').at(-1)).toEqual({ digits: '7' });
    await call.stream.hangUp();
    await call.report;
    const answers = call.memory.records.flatMap(({ messages }) =>
      messages.filter(({ role }) => role === 'assistant'),
    );
    // From the last key on: who is slower than the time between two keys has waited for that, too.
    const [, slow] = answers;
    expect(slow?.latencyMs).toBeGreaterThanOrEqual(2500);
    expect(slow?.latencyMs).toBeLessThan(3000);
    expect(answers.at(-1)?.latencyMs).toBeLessThan(500);
  });
});

describe('when something fails', () => {
  test('a model that is away leads to an apology and the end, never to silence', async () => {
    const call = simulatedCall({
      answer: (index) => (index === 0 ? GREETING : { fail: away }),
      agent: { placeholderMessages: { en: ['One second.'] } },
    });
    await greeted(call);
    await call.say('I want a table.', 600);
    await call.stream.until(() => call.stream.commands.length > 0);
    expect(call.stream.commands).toEqual([{ kind: 'hangup' }]);
    expect(call.transcript().slice(1)).toEqual([
      'user: I want a table.',
      'assistant: One second. I am sorry, something is not working on our side. Please call again later. Goodbye.',
    ]);
    expect(events(call, 'error')[0]).toMatchObject({ code: 'model_unavailable' });
    await call.stream.hangUp();
    expect((await call.report).outcome).toBe('failed');
  });

  test('the node’s fallback is taken where it has one', async () => {
    const pathway = WITH_FALLBACK;
    const call = simulatedCall({ answer: (index) => (index === 0 ? GREETING : { fail: away }), pathway });
    await greeted(call);
    await call.say('I want a table.', 600);
    await greeted(call);
    expect(call.transcript().slice(1)).toEqual([
      'user: I want a table.',
      'assistant: A person will call you.',
    ]);
    expect(call.stream.commands).toEqual([]);
    await call.stream.hangUp();
    await call.report;
  });

  test('a model that cannot even greet leads to the apology', async () => {
    const call = simulatedCall({ answer: () => ({ fail: away }) });
    await call.stream.until(() => call.stream.commands.length > 0);
    expect(call.voice.texts.join(' ')).toContain('something is not working');
    await call.stream.hangUp();
    expect((await call.report).outcome).toBe('failed');
  });

  test('a voice that is away is tried again, then another one speaks', async () => {
    const fallbackSpeech = scriptedVoice(8000, 7000);
    const answer = (index: number) => [GREETING, { text: 'I am the machine.' }][index] ?? {};
    const call = simulatedCall({ answer, fallbackSpeech });
    call.voice.failures = 1;
    await greeted(call);
    expect([call.voice.texts.length, fallbackSpeech.texts.length]).toEqual([3, 0]);
    call.voice.failures = 2;
    await call.say('Who are you?', 600);
    await greeted(call);
    expect(fallbackSpeech.texts).toEqual(['I am the machine.']);
    expect(last(call)?.content).toBe('I am the machine.');
    await call.stream.hangUp();
    await call.report;
  });

  test('an answer that nobody can speak was not heard, and the history says why', async () => {
    const call = simulatedCall({ answer: (index) => [GREETING, { text: 'I am the machine.' }][index] ?? {} });
    await greeted(call);
    call.voice.failures = 2;
    await call.say('Who are you?', 600);
    await call.stream.advance(1000);
    expect(call.transcript().at(-1)).toBe('assistant: ');
    await call.stream.hangUp();
    await call.report;
    expect(call.sessionEvents).toMatchObject([
      { type: 'error', data: { code: 'speech_failed', message: 'The voice is away' } },
    ]);
  });

  test('a model that breaks off in the middle leaves what was said, and the apology follows', async () => {
    const call = simulatedCall({
      answer: (index) =>
        [GREETING, { text: 'Let me look into that. And', fail: away }][index] ?? { fail: away },
    });
    await greeted(call);
    await call.say('Who are you?', 600);
    await call.stream.until(() => call.stream.commands.length > 0);
    const transcript = call.transcript();
    expect(transcript[2]).toBe('assistant: Let me look into that. And');
    expect(transcript[3]).toContain('something is not working');
    await call.stream.hangUp();
    expect((await call.report).outcome).toBe('failed');
  });

  test('a recogniser that is away is admitted, and keys are pointed to', async () => {
    const call = simulatedCall({ answer: () => GREETING });
    call.caller.fail = new ModelError('model_rejected', 'not installed', { beforeFirstToken: true });
    await greeted(call);
    await call.say('Hello?', 600);
    await greeted(call);
    expect(last(call)?.content).toContain('keys of your phone');
    expect(events(call, 'error')).toEqual([{ code: 'transcription_failed', message: 'not installed' }]);
    await call.stream.hangUp();
    await call.report;
  });

  test('speech without words is asked for again, a cough is not', async () => {
    const call = simulatedCall({ answer: () => GREETING });
    await greeted(call);
    await call.say('', 300);
    await call.stream.advance(2000);
    expect(call.transcript().length).toBe(1);
    await call.say('', 1000);
    await greeted(call);
    expect(last(call)?.content).toContain('I did not catch that');
    await call.stream.hangUp();
    await call.report;
  });
});

describe('the end', () => {
  const withTool = (name: string, args: object = {}) => ({
    text: 'Goodbye then.',
    calls: [{ name, arguments: args }],
  });

  test('end_call plays everything out and hangs up', async () => {
    const call = simulatedCall({
      answer: (index) => [GREETING, withTool('end_call')][index] ?? {},
      pathway: nodeWith({ tools: ['end_call'] }),
    });
    await greeted(call);
    await call.say('That was all.', 600);
    await call.stream.until(() => call.stream.commands.length > 0);
    expect(call.stream.commands).toEqual([{ kind: 'hangup' }]);
    expect(soundMs(call.stream.agentAudio())).toBeCloseTo(9 * 300, -2);
    await call.stream.hangUp();
    expect((await call.report).outcome).toBe('hung_up');
    expect(call.memory.endings[0]?.reason).toBe('end_call_tool');
  });

  test('transfer_call hands the call over once its words are out', async () => {
    const call = simulatedCall({
      answer: (index) => [GREETING, withTool('transfer_call', { to: '+886212345678' })][index] ?? {},
      pathway: nodeWith({ tools: ['transfer_call'] }),
    });
    await greeted(call);
    await call.say('A person please.', 600);
    await call.agentSpeaks();
    expect(call.stream.commands).toEqual([]);
    await call.stream.until(() => call.stream.commands.length > 0);
    await call.stream.advance(20);
    expect(call.isAgentSpeaking()).toBe(false);
    expect(call.stream.commands).toEqual([{ kind: 'transfer', to: '+886212345678' }]);
    expect(events(call, 'transfer').length).toBe(1);
    await call.stream.hangUp();
    expect((await call.report).outcome).toBe('transferred');
  });

  test('a call that could not be handed over is not left in silence', async () => {
    const call = simulatedCall({
      answer: (index) => [GREETING, withTool('transfer_call', { to: '+886212345678' })][index] ?? {},
      pathway: nodeWith({ tools: ['transfer_call'] }),
    });
    await greeted(call);
    await call.say('A person please.', 600);
    await call.stream.until(() => call.stream.commands.length > 0);
    await call.say('Hello? Anybody?', 2000);
    await call.stream.advance(40_000);
    expect(call.model.requests.length).toBe(2);
    await call.stream.until(() => call.stream.commands.length > 1);
    expect(call.voice.texts.join(' ')).toContain('something is not working');
    expect(call.stream.commands.at(-1)).toEqual({ kind: 'hangup' });
    await call.stream.hangUp();
    expect((await call.report).outcome).toBe('failed');
  });

  test('a transfer that fails brings the caller back: the agent says so, and the talk goes on', async () => {
    const call = simulatedCall({
      answer: (index) => [GREETING, withTool('transfer_call', { to: '+886212345678' })][index] ?? GREETING,
      pathway: nodeWith({ tools: ['transfer_call'] }),
    });
    await greeted(call);
    await call.say('A person please.', 600);
    await call.stream.until(() => call.stream.commands.length > 0);
    call.stream.reportTransfer({ status: 'begun', to: '+886212345678' });
    // A phone may ring for as long as it likes.
    await call.stream.advance(60_000);
    expect(call.isAgentSpeaking()).toBe(false);
    call.stream.reportTransfer({ status: 'failed', to: '+886212345678', reason: 'busy: 486 Busy Here' });
    await call.agentSpeaks();
    await call.agentFallsSilent();
    expect(call.voice.texts.join(' ')).toContain('could not reach anyone');
    await call.say('Then tell me the hours.', 600);
    await greeted(call);
    const [request] = call.model.requests.slice(-1);
    expect(JSON.stringify(request?.messages)).toContain('The transfer to +886212345678 failed');
    expect(events(call, 'tool_result').at(-1)).toEqual({
      name: 'transfer_call',
      ok: false,
      result: 'busy: 486 Busy Here',
      to: '+886212345678',
    });
    await call.stream.hangUp();
    expect((await call.report).outcome).toBe('closed');
  });

  test('a node that transfers goes on by its edge for a transfer that failed', async () => {
    const call = simulatedCall({
      answer: () => ({}),
      pathway: {
        nodes: [
          { id: 'start', type: 'start', data: { title: 'Start', prompt: '' } },
          { id: 'desk', type: 'transfer', data: { title: 'Desk', prompt: '', to: '+886212345678' } },
          { id: 'sorry', type: 'say', data: { title: 'Sorry', prompt: 'They are all busy. Goodbye.' } },
          { id: 'end', type: 'end', data: { title: 'End' } },
        ],
        edges: [
          { id: 'e0', source: 'start', target: 'desk' },
          {
            id: 'e1',
            source: 'desk',
            target: 'sorry',
            data: { condition: { event: 'tool_result', ok: false } },
          },
          { id: 'e2', source: 'sorry', target: 'end' },
        ],
      },
    });
    await call.stream.until(() => call.stream.commands.length > 0);
    call.stream.reportTransfer({ status: 'begun', to: '+886212345678' });
    call.stream.reportTransfer({ status: 'failed', to: '+886212345678', reason: 'no_answer' });
    await call.stream.until(() => call.stream.commands.length > 1);
    expect(call.voice.texts).toEqual(['They are all busy.', 'Goodbye.']);
    expect(call.stream.commands.at(-1)).toEqual({ kind: 'hangup' });
    await call.stream.hangUp();
    await call.report;
  });

  test('a call that is transferred over the agent’s head is taken from it in the midst of a word', async () => {
    const call = simulatedCall({ answer: () => GREETING });
    await call.agentSpeaks();
    call.stream.reportTransfer({ status: 'begun', to: '+886212345678' });
    await call.stream.advance(40);
    expect(call.isAgentSpeaking()).toBe(false);
    await call.say('Hello? Who is there?', 1000);
    await call.stream.advance(5000);
    expect([call.isAgentSpeaking(), call.model.requests.length]).toEqual([false, 1]);
    await call.stream.hangUp();
    expect(await call.report).toMatchObject({ outcome: 'transferred', interruptions: 0 });
  });

  test('a session that was ended over the API is not begun anew: the agent hangs up', async () => {
    const call = simulatedCall({ answer: () => GREETING });
    await greeted(call);
    await call.say('Who are you?', 600);
    await greeted(call);
    await call.memory.engine.end('project-1', 's', 'api_end');
    await call.say('Are you there?', 600);
    await call.stream.until(() => call.stream.commands.length > 0);
    expect(call.stream.commands).toEqual([{ kind: 'hangup' }]);
    expect([call.memory.sessions.size, call.model.requests.length]).toEqual([0, 2]);
    await call.stream.hangUp();
    expect((await call.report).outcome).toBe('hung_up');
  });

  test('a stream that brings no audio any more is given up', async () => {
    const call = simulatedCall({ answer: () => GREETING });
    await greeted(call);
    call.clock.advance(29_000);
    expect(call.stream.isClosed()).toBe(false);
    call.clock.advance(2000);
    expect(call.stream.isClosed()).toBe(true);
    expect((await call.report).outcome).toBe('closed');
    expect(call.clock.pendingTimers()).toBe(0);
  });

  test('a stream that is not closed after the agent has hung up is closed', async () => {
    const call = simulatedCall({
      answer: () => withTool('end_call'),
      pathway: nodeWith({ tools: ['end_call'] }),
    });
    await call.stream.until(() => call.stream.isClosed(), 20_000);
    expect((await call.report).outcome).toBe('hung_up');
  });
});
