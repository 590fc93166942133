import { describe, expect, test } from 'vitest';
import type { PathwayInput } from '../../../src/agents/pathway/schema/pathwaySchema.ts';
import type { SpeechToText } from '../../../src/models/ports/speechToText.ts';
import { delayedSaves } from '../../support/delayedSaves.ts';
import { scriptedCaller } from '../support/scriptedSpeech.ts';
import { eventsOf, GREETING, greeted, simulatedCall, WITH_FALLBACK } from '../support/simulatedCall.ts';

/** An agent that greets, and whose model then hangs. */
const silentAgent = (options: Partial<Parameters<typeof simulatedCall>[0]> = {}) =>
  simulatedCall({ answer: (index) => (index === 0 ? GREETING : { hang: true }), ...options });

/** What is said, for how long, and the pause after it. */
type Said = [text: string, durationMs: number, pauseMs: number];

test.each<[string, Said[], requests: number, stored: string]>([
  ['Words without an answer', [['I would like a table.', 900, 1500]], 2, 'I would like a table.'],
  ['An utterance that looks incomplete', [['Never mind, and', 900, 500]], 1, 'Never mind, and'],
  ['An utterance without a transcript', [['Never mind. Goodbye.', 900, 0]], 1, 'Never mind. Goodbye.'],
  [
    'An utterance with a pause',
    [
      ['Never mind, and', 900, 400],
      ['thank you.', 600, 0],
    ],
    1,
    'Never mind, and thank you.',
  ],
  [
    'A turn that was cancelled and what followed',
    [
      ['I would like a table.', 900, 1200],
      ['For two, and', 900, 500],
    ],
    2,
    'I would like a table. For two, and',
  ],
])('%s is stored as a whole when the caller hangs up', async (_what, said, requests, stored) => {
  const call = silentAgent();
  await greeted(call);
  for (const [text, durationMs, pauseMs] of said) {
    await call.say(text, durationMs);
    await call.stream.advance(pauseMs);
  }
  await call.hangUp();
  expect(call.transcript()).toEqual([`assistant: ${GREETING.text}`, `user: ${stored}`]);
  expect(call.model.requests).toHaveLength(requests);
});

test('Digits without an answer are stored when the caller hangs up', async () => {
  const call = silentAgent();
  await greeted(call);
  call.stream.pressDigit('4');
  call.stream.pressDigit('#');
  await call.stream.advance(500);
  await call.hangUp();
  expect(call.transcript().at(-1)).toBe('user: 4');
  expect(eventsOf(call, 'dtmf')).toMatchObject([{ digits: '4' }]);
});

test('An utterance during the storing of the last answer is stored when the caller hangs up', async () => {
  const saves = delayedSaves();
  const call = simulatedCall({
    answer: (index) => (index === 0 ? GREETING : { text: 'One two three four. Five six seven eight nine.' }),
    wrapSessions: saves.wrapSessions,
  });
  await greeted(call);
  saves.hold();
  await call.say('Count for me.', 900);
  await call.agentSpeaks();
  await call.stream.advance(900);
  await call.say('Stop that please.', 900);
  await call.stream.advance(3000);
  await call.stream.hangUp();
  saves.release();
  await call.report;
  expect(call.transcript().filter((message) => message.startsWith('user'))).toEqual([
    'user: Count for me.',
    'user: Stop that please.',
  ]);
});

test('An utterance over the agent is stored after the truncated answer when the caller hangs up', async () => {
  const call = simulatedCall({
    answer: () => ({ text: 'One two three four. Five six seven eight nine ten.' }),
  });
  await call.agentSpeaks();
  await call.stream.advance(900);
  await call.say('Stop that please.', 500);
  await call.hangUp();
  expect(call.transcript().at(-1)).toBe('user: Stop that please.');
  expect(call.transcript().at(0)).toMatch(/^assistant: One two/);
});

test('A last utterance that cannot be transcribed does not delay the end of the session', async () => {
  const failing = silentAgent();
  await greeted(failing);
  failing.caller.fail = new Error('away');
  await failing.say('Goodbye.', 900);
  await failing.hangUp();
  expect(failing.errors).toHaveLength(1);
  expect(failing.transcript()).toHaveLength(1);

  const hanging = silentAgent();
  await greeted(hanging);
  hanging.caller.delayTurns = Number.POSITIVE_INFINITY;
  await hanging.say('Goodbye.', 900);
  await hanging.stream.hangUp();
  await hanging.clock.advance(5000);
  await hanging.report;
  hanging.caller.delayTurns = 0;
  expect(hanging.transcript()).toHaveLength(1);
});

test('Words over the agent are stored before the digits that follow them', async () => {
  const call = simulatedCall({
    answer: (index) =>
      index === 0 ? { text: 'One two three four. Five six seven eight nine ten.' } : { text: 'Thank you.' },
  });
  await call.agentSpeaks();
  await call.stream.advance(900);
  await call.say('Stop that please.', 600);
  call.stream.pressDigit('4');
  call.stream.pressDigit('#');
  await greeted(call);
  await call.hangUp();
  expect(call.transcript().slice(1)).toEqual(['user: Stop that please.', 'user: 4', 'assistant: Thank you.']);
});

test('Words and the digits after them keep their order when their turn is not stored', async () => {
  let failures = 0;
  const call = simulatedCall({
    answer: (index) =>
      index === 0 ? { text: 'One two three four. Five six seven eight nine ten.' } : { text: 'Thank you.' },
    pathway: WITH_FALLBACK,
    wrapSessions: (sessions) => ({
      ...sessions,
      async find(projectId, sessionId) {
        if (failures-- > 0) throw new Error('the sessions are down');
        return await sessions.find(projectId, sessionId);
      },
    }),
  });
  await call.agentSpeaks();
  await call.stream.advance(900);
  await call.say('Stop that please.', 600);
  failures = 1;
  call.stream.pressDigit('4');
  call.stream.pressDigit('#');
  await greeted(call);
  await call.hangUp();
  expect(call.errors).toHaveLength(1);
  expect(call.transcript().slice(1)).toEqual([
    'user: Stop that please.',
    'user: 4',
    'assistant: A person will call you.',
  ]);
});

test('A turn that waits for the one before it is replaced by the next', async () => {
  const saves = delayedSaves();
  const call = simulatedCall({
    answer: (index) => (index === 0 ? GREETING : { text: 'Thank you.' }),
    wrapSessions: saves.wrapSessions,
  });
  await call.agentSpeaks();
  saves.hold();
  await call.agentFallsSilent();
  await call.stream.advance(100);
  await call.say('A table please.', 900);
  await call.stream.advance(1500);
  await call.say('For two, please.', 900);
  await call.stream.advance(1500);
  expect(call.model.requests).toHaveLength(1);
  saves.release();
  await greeted(call);
  await call.hangUp();
  expect(call.model.requests).toHaveLength(2);
  expect(call.transcript().slice(1)).toEqual([
    'user: A table please. For two, please.',
    'assistant: Thank you.',
  ]);
});

describe('Words after the last turn', () => {
  const goodbye = { text: 'Goodbye then, my dear.', calls: [{ name: 'end_call' }] };
  const pathway: PathwayInput = {
    nodes: [{ id: 'start', type: 'start', data: { title: 'Talk', prompt: 'Talk.', tools: ['end_call'] } }],
    edges: [],
  };

  test.each([
    ['over the agent’s goodbye', 600],
    ['after it', 2000],
  ])('are stored although the session has ended: %s', async (_when, afterMs) => {
    const call = simulatedCall({ answer: (index) => (index === 0 ? GREETING : goodbye), pathway });
    await greeted(call);
    await call.say('That was all.', 600);
    await call.agentSpeaks();
    await call.stream.advance(afterMs);
    await call.say('One more thing!', 900);
    await call.stream.until(() => call.stream.commands.length > 0);
    await call.stream.hangUp();
    expect((await call.report).outcome).toBe('hung_up');
    expect(call.memory.sessions.size).toBe(0);
    expect(call.transcript()[1]).toBe('user: That was all.');
    expect(call.transcript()[2]).toMatch(/^assistant: Goodbye/);
    expect(call.transcript().slice(3)).toEqual(['user: One more thing!']);
  });

  test('are stored while the session is ended over the API', async () => {
    const call = silentAgent();
    await greeted(call);
    await call.say('Never mind.', 500);
    await call.memory.engine.end('project-1', 's', 'api_end');
    await call.say('Goodbye.', 400);
    await call.stream.until(() => call.stream.commands.length > 0);
    await call.hangUp();
    expect(call.transcript().at(-1)).toBe('user: Never mind. Goodbye.');
    expect(call.memory.sessions.size).toBe(0);
  });

  test('are stored up to a transfer over the API, and not after it', async () => {
    const call = silentAgent();
    await greeted(call);
    await call.say('Never mind.', 600);
    call.stream.reportTransfer({ status: 'begun', to: '+886212345678' });
    await call.say('Hello, who is there?', 900);
    await call.stream.advance(3000);
    await call.hangUp();
    expect(call.transcript()).toEqual([`assistant: ${GREETING.text}`, 'user: Never mind.']);
  });

  test('are stored when the caller hangs up before the greeting', async () => {
    let release = () => {};
    const after = new Promise<void>((resolve) => {
      release = resolve;
    });
    const call = simulatedCall({ answer: () => ({ after, ...GREETING }) });
    await call.stream.advance(200);
    await call.say('Hello? Nobody there?', 900);
    await call.stream.hangUp();
    release();
    await call.report;
    expect(call.transcript()).toEqual(['user: Hello? Nobody there?']);
  });
});

test('The words of a turn that failed after the session ended are stored', async () => {
  let fail = () => {};
  const after = new Promise<void>((resolve) => {
    fail = resolve;
  });
  const away = new Error('away');
  const call = silentAgent({ answer: (index) => (index === 0 ? GREETING : { after, fail: away }) });
  await greeted(call);
  await call.say('Where are you?', 600);
  await call.stream.until(() => call.model.requests.length === 2);
  await call.memory.engine.end('project-1', 's', 'api_end');
  fail();
  await call.stream.until(() => call.stream.commands.length > 0);
  await call.hangUp();
  expect(call.transcript().slice(1)).toEqual(['user: Where are you?']);
});

test('Words of two turns that were not stored are stored with the next one', async () => {
  let failures = 0;
  const call = simulatedCall({
    answer: () => GREETING,
    wrapSessions: (sessions) => ({
      ...sessions,
      async find(projectId, sessionId) {
        if (failures-- > 0) throw new Error('the sessions are down');
        return await sessions.find(projectId, sessionId);
      },
    }),
  });
  await greeted(call);
  // Neither the words nor the failure after them can be stored; the apology can.
  failures = 2;
  await call.say('Where are you?', 600);
  await call.agentSpeaks();
  await call.stream.until(() => call.stream.commands.some(({ kind }) => kind === 'hangup'));
  await call.hangUp();
  expect(call.errors).toHaveLength(2);
  expect(call.transcript()[1]).toBe('user: Where are you?');
  expect(call.transcript().filter((line) => line.startsWith('user'))).toHaveLength(1);
});

test.each([
  [
    'and answered while they have said nothing else',
    undefined,
    ['user: A table, please.', 'assistant: Certainly.'],
  ],
  ['and dropped where they have said something else', 'Hello?', ['user: Hello?', 'assistant: Certainly.']],
])('Words that come after the caller was asked to repeat are logged %s', async (_what, said, expected) => {
  const caller = scriptedCaller();
  const late: (() => void)[] = [];
  const speechToText: SpeechToText = {
    ...caller,
    openStream(options) {
      const stream = caller.openStream(options);
      if (caller.hints.length > 1) return stream;
      const answered = new Promise<void>((resolve) => late.push(resolve));
      return {
        ...stream,
        async finalize(signal) {
          await answered;
          return await stream.finalize(signal);
        },
      };
    },
  };
  const call = simulatedCall({
    answer: (index) => (index === 0 ? GREETING : { text: 'Certainly.' }),
    speechToText,
  });
  await greeted(call);
  call.stream.speak(caller.say('A table, please.', 900));
  await call.stream.advance(900);
  await greeted(call);
  if (said) {
    call.stream.speak(caller.say(said, 900));
    await call.stream.advance(900);
    await greeted(call);
  }
  for (const answer of late) answer();
  await call.stream.advance(4000);
  await call.hangUp();
  expect(call.errors.join()).toMatch(/answered \d{4,5} ms after the caller's last word/);
  const words = call.transcript().filter((line) => !line.includes('Sorry') && !line.includes(GREETING.text));
  expect(words).toEqual(expected);
});

test('Last words of a session that has ended meanwhile are given to the engine', async () => {
  const words: string[][] = [];
  const call = silentAgent({
    withDeps: ({ engine }) => ({
      engine: {
        runTurn: (...turn) => engine.runTurn(...turn),
        heardAfterEnd: async (_session, last) => void words.push([...last]),
      },
    }),
  });
  await greeted(call);
  await call.say('Stop calling me.', 900);
  await call.memory.engine.end('project-1', 's', 'call_ended');
  await call.hangUp();
  expect(words).toEqual([['Stop calling me.']]);
  expect(call.transcript().at(-1)).toBe('user: Stop calling me.');
});
