import { describe, expect, test } from 'vitest';
import type { PathwayInput } from '../../src/agents/pathway/schema/pathwaySchema.ts';
import type { TurnCheckpoint } from '../../src/engine/session/interruptedTurn.ts';
import { slowSaves } from '../support/slowSaves.ts';
import { type SimulatedCall, simulatedCall } from './support/simulatedCall.ts';

const GREETING = { text: 'Hello there. How can I help you?' };

async function greeted(call: SimulatedCall): Promise<void> {
  await call.agentSpeaks();
  await call.agentFallsSilent();
  await call.stream.advance(100);
}

/** An agent that greets, and whose model then thinks for ever. */
const silentAgent = (options: Partial<Parameters<typeof simulatedCall>[0]> = {}) =>
  simulatedCall({ answer: (index) => (index === 0 ? GREETING : { hang: true }), ...options });

test('words whose answer did not come before the call’s end are history', async () => {
  const call = silentAgent();
  await greeted(call);
  await call.say('I would like a table.', 900);
  await call.stream.advance(1500);
  await call.stream.hangUp();
  await call.report;
  expect(call.transcript()).toEqual([`assistant: ${GREETING.text}`, 'user: I would like a table.']);
});

test('keys whose answer did not come before the call’s end are history', async () => {
  const call = silentAgent();
  await greeted(call);
  call.stream.pressDigit('4');
  call.stream.pressDigit('#');
  await call.stream.advance(500);
  await call.stream.hangUp();
  await call.report;
  expect(call.transcript().at(-1)).toBe('user: 4');
  expect(call.memory.events().filter(({ type }) => type === 'dtmf')).toMatchObject([
    { data: { digits: '4' } },
  ]);
});

test('what a caller said last, and hung up before anybody took the turn, is history', async () => {
  const call = silentAgent();
  await greeted(call);
  await call.say('Never mind, and', 900);
  // The words are known, and look as if there were more to come.
  await call.stream.advance(500);
  await call.stream.hangUp();
  await call.report;
  expect(call.transcript()).toEqual([`assistant: ${GREETING.text}`, 'user: Never mind, and']);
  expect(call.model.requests).toHaveLength(1);
});

test('what a caller hung up upon, and was not recognised yet, is history', async () => {
  const call = silentAgent();
  await greeted(call);
  await call.say('Never mind. Goodbye.', 900);
  await call.stream.hangUp();
  await call.report;
  expect(call.transcript()).toEqual([`assistant: ${GREETING.text}`, 'user: Never mind. Goodbye.']);
  expect(call.model.requests).toHaveLength(1);
});

test('what a caller says while an answer before it is still being kept, and hangs up upon, is history', async () => {
  const saves = slowSaves();
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
  saves.letGo();
  await call.report;
  expect(call.transcript().filter((message) => message.startsWith('user'))).toEqual([
    'user: Count for me.',
    'user: Stop that please.',
  ]);
});

test('what a caller goes on to say after a pause, and hangs up upon, is history as a whole', async () => {
  const call = silentAgent();
  await greeted(call);
  await call.say('Never mind, and', 900);
  await call.stream.advance(400);
  await call.say('thank you.', 600);
  await call.stream.hangUp();
  await call.report;
  expect(call.transcript().at(-1)).toBe('user: Never mind, and thank you.');
});

test('what a caller says over the agent, and hangs up upon, is history after what they heard of it', async () => {
  const call = simulatedCall({
    answer: () => ({ text: 'One two three four. Five six seven eight nine ten.' }),
  });
  await call.agentSpeaks();
  await call.stream.advance(900);
  await call.say('Stop that please.', 500);
  await call.stream.hangUp();
  await call.report;
  expect(call.transcript().at(-1)).toBe('user: Stop that please.');
  expect(call.transcript().at(0)).toMatch(/^assistant: One two/);
});

test('last words that the recogniser cannot tell, or not in time, end the talk all the same', async () => {
  const failing = silentAgent();
  await greeted(failing);
  failing.caller.fail = new Error('away');
  await failing.say('Goodbye.', 900);
  await failing.stream.hangUp();
  await failing.report;
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

test('words of an answer taken back, and what followed, are history where the caller then hangs up', async () => {
  const call = silentAgent();
  await greeted(call);
  await call.say('I would like a table.', 900);
  await call.stream.advance(1200);
  await call.say('For two, and', 900);
  await call.stream.advance(500);
  await call.stream.hangUp();
  await call.report;
  expect(call.transcript().at(-1)).toBe('user: I would like a table. For two, and');
});

test('a turn under way is noted each second with what was heard, and the note goes when the turn is kept', async () => {
  const noted: (TurnCheckpoint | 'dropped')[] = [];
  const checkpoints = {
    put: async (_instance: string, note: TurnCheckpoint) => void noted.push(note),
    drop: async () => void noted.push('dropped'),
  };
  const call = simulatedCall({
    answer: (index) => (index === 0 ? GREETING : { text: 'One two three four. Five six seven eight nine.' }),
    checkpoints,
  });
  await greeted(call);
  expect(noted.at(-1)).toBe('dropped');
  noted.splice(0);
  await call.say('Count for me.', 900);
  await call.agentSpeaks();
  await call.stream.advance(1500);
  const last = noted.at(-1);
  expect(last).toMatchObject({ turn: 1, nodeId: 'start', said: 'Count for me.' });
  expect(last).toHaveProperty('heard', expect.stringMatching(/^One two/));
  await call.agentFallsSilent();
  await call.stream.advance(100);
  expect(noted.at(-1)).toBe('dropped');
  expect(noted.length).toBeLessThanOrEqual(6);
  await call.stream.hangUp();
  await call.report;
});

test('notes that cannot be put are an error once in a while, and the talk goes on', async () => {
  const away = async () => {
    throw new Error('away');
  };
  const call = silentAgent({ checkpoints: { put: away, drop: away } });
  await greeted(call);
  await call.say('Hello.', 600);
  await call.stream.advance(3000);
  expect(call.errors.length).toBeGreaterThan(0);
  expect(call.errors.length).toBeLessThanOrEqual(4);
  await call.stream.hangUp();
  await call.report;
  expect(call.transcript().at(-1)).toBe('user: Hello.');
});

test('what a caller says over the agent, and then presses keys, is history before these', async () => {
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
  await call.stream.hangUp();
  await call.report;
  expect(call.transcript().slice(1)).toEqual(['user: Stop that please.', 'user: 4', 'assistant: Thank you.']);
});

describe('what a caller says', () => {
  const goodbye = { text: 'Goodbye then, my dear.', calls: [{ name: 'end_call' }] };
  const pathway: PathwayInput = {
    nodes: [{ id: 'start', type: 'start', data: { title: 'Talk', prompt: 'Talk.', tools: ['end_call'] } }],
    edges: [],
  };

  test.each([
    ['over the agent’s farewell', 600],
    ['after it', 2000],
  ])('%s is history, though the session has ended', async (_when, afterMs) => {
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

  test('while the session is ended over the API is history', async () => {
    const call = silentAgent();
    await greeted(call);
    await call.say('Never mind.', 500);
    await call.memory.engine.end('project-1', 's', 'api_end');
    await call.say('Goodbye.', 400);
    await call.stream.until(() => call.stream.commands.length > 0);
    await call.stream.hangUp();
    await call.report;
    expect(call.transcript().at(-1)).toBe('user: Never mind. Goodbye.');
    expect(call.memory.sessions.size).toBe(0);
  });

  test('before the call is transferred over the agent’s head is history, what they say to others is not', async () => {
    const call = silentAgent();
    await greeted(call);
    await call.say('Never mind.', 600);
    call.stream.reportTransfer({ status: 'begun', to: '+886212345678' });
    await call.say('Hello, who is there?', 900);
    await call.stream.advance(3000);
    await call.stream.hangUp();
    await call.report;
    expect(call.transcript()).toEqual([`assistant: ${GREETING.text}`, 'user: Never mind.']);
  });

  test('while the greeting is still being made, and hangs up upon, is history', async () => {
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

test('what a caller said in a turn that failed once its session was ended is history', async () => {
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
  await call.stream.hangUp();
  await call.report;
  expect(call.transcript().slice(1)).toEqual(['user: Where are you?']);
});
