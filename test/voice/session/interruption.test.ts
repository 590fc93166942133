import { expect, test } from 'vitest';
import type { PathwayInput } from '../../../src/agents/pathway/schema/pathwaySchema.ts';
import { sleep } from '../../../src/base/async/sleep.ts';
import type { ChatRequest } from '../../../src/models/ports/chatModel.ts';
import { delayedSaves } from '../../support/delayedSaves.ts';
import {
  eventsOf,
  GREETING,
  greeted,
  lastMessage,
  nodeWith,
  type SimulatedCall,
  simulatedCall,
  soundMs,
} from '../support/simulatedCall.ts';

const LONG = { text: 'One two three four. Five six seven eight. Nine ten eleven twelve.' };

test('An interruption stops the agent within a frame, and the history keeps what was heard', async () => {
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
  expect(eventsOf(call, 'barge_in')).toEqual([
    {
      heardText: 'One two three four. Five six',
      heardMs: expect.closeTo(soundedMs, -2),
      // In the frame of the decision.
      stopMs: 0,
    },
  ]);
  expect(call.transcript().slice(1)).toEqual(['user: No I want something else.', 'assistant: Of course.']);
  expect(await call.report).toMatchObject({ interruptions: 1, falseInterruptions: 0 });
});

test('A message says that what was heard is estimated where the peer reports nothing', async () => {
  const call = simulatedCall({ answer: () => LONG, stream: { isMute: true, isHeardEstimated: true } });
  await call.agentSpeaks();
  await call.hangUp();
  expect(call.memory.records.flatMap(({ messages }) => messages)).toMatchObject([
    { role: 'assistant', heard: 'estimated' },
  ]);
});

test('An interruption aborts the model request', async () => {
  const call = simulatedCall({
    answer: (index) => (index === 0 ? { text: `${LONG.text} `, hang: true } : { text: 'Of course.' }),
  });
  await call.agentSpeaks();
  await call.say('No I want something else.', 1200);
  await greeted(call);
  expect(call.model.abortedRequests()).toBe(1);
  expect(call.transcript()[0]).toBe('assistant: One');
  await call.hangUp();
});

test.each([
  ['mm-hm', 500],
  ['', 500],
  ['right, right', 700],
])('%j is a false interruption: the agent resumes where it paused', async (text, durationMs) => {
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
});

test('A short backchannel does not pause the agent, a short objection interrupts it', async () => {
  const heard = async (text: string) => {
    const call = simulatedCall({ answer: (index) => [LONG, { text: 'Fine.' }][index] ?? {} });
    await call.agentSpeaks();
    await call.stream.advance(1000);
    await call.say(text, 240);
    await call.stream.advance(300);
    const wasStopped = !call.isAgentSpeaking();
    await call.hangUp();
    return wasStopped;
  };
  expect(await heard('okay')).toBe(false);
  expect(await heard('stop')).toBe(true);
});

test('A node may forbid interruptions, or require longer speech', async () => {
  const call = simulatedCall({ answer: () => LONG, pathway: nodeWith({ interruption: 'off' }) });
  await call.agentSpeaks();
  await call.say('No I want something else.', 1500);
  expect(call.isAgentSpeaking()).toBe(true);
  expect(await call.hangUp()).toMatchObject({ interruptions: 0 });

  const patient = simulatedCall({ answer: () => LONG, pathway: nodeWith({ interruptAfterMs: 1500 }) });
  await patient.agentSpeaks();
  await patient.say('No I want', 1300);
  expect(patient.isAgentSpeaking()).toBe(true);
  await patient.say('something else.', 400);
  expect(patient.isAgentSpeaking()).toBe(false);
  await patient.hangUp();
});

test('A short answer over the agent’s last words is answered', async () => {
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

test('An interruption works with a peer that reports neither marks nor clears', async () => {
  const call = simulatedCall({ answer: () => LONG, stream: { isMute: true } });
  await call.agentSpeaks();
  await call.say('No I want something else.', 1200);
  await call.stream.advance(6000);
  await call.stream.hangUp();
  expect((await call.report).outcome).toBe('closed');
  expect(lastMessage(call)).toBeDefined();
});

test('A caller behind a peer that reports no marks is answered', async () => {
  const call = simulatedCall({
    answer: (index) => [GREETING, { text: 'Gladly.' }][index] ?? {},
    stream: { isMute: true },
  });
  await greeted(call);
  await call.stream.advance(3000);
  await call.say('I would like a table.', 1200);
  await greeted(call);
  await call.stream.advance(3000);
  await call.hangUp();
  expect(call.transcript()).toEqual([
    'assistant: Hello there. How can I help you?',
    'user: I would like a table.',
    'assistant: Gladly.',
  ]);
});

test('Hanging up truncates the answer to what was heard', async () => {
  const call = simulatedCall({ answer: () => LONG });
  await call.agentSpeaks();
  await call.stream.advance(1000);
  await call.hangUp();
  expect(lastMessage(call)).toMatchObject({
    content: 'One two three',
    generatedText: LONG.text,
    interrupted: true,
  });
});

test('Speech while a played answer is being stored is not an interruption', async () => {
  const saves = delayedSaves();
  const call = simulatedCall({
    answer: (index) => [GREETING, { text: 'It is noon.' }, { text: 'Gladly.' }][index] ?? {},
    wrapSessions: saves.wrapSessions,
  });
  await greeted(call);
  saves.hold();
  await call.say('What time is it?', 600);
  await call.agentSpeaks();
  await call.agentFallsSilent();
  await call.say('Thank you very much.', 900);
  saves.release();
  await greeted(call);
  expect(await call.hangUp()).toMatchObject({ interruptions: 0 });
  expect(call.transcript().slice(1)).toEqual([
    'user: What time is it?',
    'assistant: It is noon.',
    'user: Thank you very much.',
    'assistant: Gladly.',
  ]);
  expect(eventsOf(call, 'barge_in')).toEqual([]);
});

test.each([240, 320, 400, 480, 560, 720])(
  'A caller who continues %d ms after an expected answer has every word stored once',
  async (pauseMs) => {
    let clock: SimulatedCall['clock'] | undefined;
    const model = {
      name: 'waiting',
      async *stream(request: ChatRequest, signal: AbortSignal) {
        const isAnswer = request.messages.some(({ role }) => role === 'user');
        if (isAnswer && clock) await sleep(clock, 300, signal);
        const text = isAnswer ? 'I have booked it for you, as you like it.' : 'Shall I book it?';
        yield { type: 'text', text } as const;
        yield { type: 'end', finishReason: 'stop', model: request.model } as const;
      },
    };
    const data = { title: 'Talk', prompt: 'Talk.', expectedAnswers: ['yes'] };
    const call = simulatedCall({
      answer: () => ({}),
      model,
      pathway: { nodes: [{ id: 'start', type: 'start', data }], edges: [] },
    });
    clock = call.clock;
    await greeted(call);
    await call.say('yes', 400);
    await call.stream.advance(pauseMs);
    const agentMs = () => soundMs(call.stream.agentAudio());
    const before = agentMs();
    await call.say('but not on Monday', 1200);
    // The speech that interrupts, and the 5 ms of the fade.
    expect(agentMs() - before).toBeLessThanOrEqual(405);
    await call.stream.advance(2500);
    await call.hangUp();
    const said = call.transcript().filter((line) => line.startsWith('user: '));
    expect(said.map((line) => line.slice('user: '.length)).join(' ')).toBe('yes but not on Monday');
  },
);

const DISCLOSURE: PathwayInput = {
  nodes: [
    { id: 'start', type: 'start', data: { title: 'Begin' } },
    {
      id: 'notice',
      type: 'say',
      data: { title: 'Notice', prompt: 'This call is being recorded for quality.', interruption: 'off' },
    },
    { id: 'talk', type: 'conversation', data: { title: 'Talk', prompt: 'Talk.' } },
  ],
  edges: [
    { id: 'begin', source: 'start', target: 'notice' },
    { id: 'told', source: 'notice', target: 'talk' },
  ],
};

test('A node’s interruption policy holds until its words were heard, though the next words are queued', async () => {
  const call = simulatedCall({
    pathway: DISCLOSURE,
    answer: (index) => [LONG, { text: 'Of course.' }][index] ?? {},
  });
  await call.agentSpeaks();
  await call.stream.advance(300);
  await call.say('No I want something else.', 1200);
  expect(call.isAgentSpeaking()).toBe(true);
  // The disclosure has seven words of 300 ms; what follows it can be interrupted.
  await call.stream.advance(2100);
  await call.say('No I want something else.', 1000);
  expect(call.isAgentSpeaking()).toBe(false);
  await greeted(call);
  await call.hangUp();
  expect(eventsOf(call, 'barge_in')).toEqual([
    expect.objectContaining({
      heardText: expect.stringMatching(/^This call is being recorded for quality\.\s+One two/),
    }),
  ]);
});

test('The words that the model says for the next node follow that node’s interruption policy', async () => {
  const pathway: PathwayInput = {
    nodes: [
      { id: 'start', type: 'start', data: { title: 'Talk', prompt: 'Talk.' } },
      {
        id: 'terms',
        type: 'conversation',
        data: { title: 'Terms', prompt: 'Say the terms.', interruption: 'off' },
      },
    ],
    edges: [
      { id: 'asked', source: 'start', target: 'terms', data: { condition: 'They ask for the terms.' } },
    ],
  };
  const moved = { ...LONG, calls: [{ name: 'move_to', arguments: { edge: 'asked' } }] };
  const call = simulatedCall({ pathway, answer: (index) => [GREETING, moved][index] ?? {} });
  await greeted(call);
  await call.say('What are the terms?', 800);
  await call.agentSpeaks();
  await call.stream.advance(300);
  await call.say('No I want something else.', 1500);
  expect(call.isAgentSpeaking()).toBe(true);
  expect(await call.hangUp()).toMatchObject({ interruptions: 0 });
});
