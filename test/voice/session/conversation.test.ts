import { expect, test } from 'vitest';
import { PROJECT } from '../../support/memoryEngine.ts';
import {
  eventsOf,
  GREETING,
  greeted,
  lastMessage,
  nodeWith,
  simulatedCall,
} from '../support/simulatedCall.ts';

test('The agent greets within 60 ms, listens, answers, and the history has it all', async () => {
  const measured: unknown[] = [];
  const call = simulatedCall({
    answer: (index) => [GREETING, { text: 'Gladly.' }][index] ?? {},
    withDeps: () => ({ onSpokenTurn: (turn) => measured.push(turn) }),
  });
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
  const report = await call.report;
  expect(report).toMatchObject({
    outcome: 'closed',
    interruptions: 0,
    turns: [{ kind: 'begin' }, { kind: 'user_message' }],
  });
  expect(measured).toEqual(report.turns);
});

test('A resumed session starts with a notice instead of the greeting', async () => {
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
  expect(eventsOf(call, 'error')).toEqual([expect.objectContaining({ code: 'stream_resumed' })]);
  expect((await call.report).turns.map(({ kind }) => kind)).toEqual(['channel_error', 'user_message']);
});

test('Turn latency equals what the recorded channels show, and its parts are what each step took', async () => {
  let release = () => {};
  const after = new Promise<void>((resolve) => {
    release = resolve;
  });
  const call = simulatedCall({
    answer: (index) => [GREETING, { text: 'Gladly.', after }][index] ?? {},
    stream: { bufferDelayMs: 60 },
  });
  await greeted(call);
  await call.say('I would like a table.', 900);
  await call.stream.until(() => call.model.requests.length === 2);
  await call.stream.advance(200);
  release();
  await greeted(call);
  const lastVoiced = call.stream.callerAudio().findLastIndex((sample) => sample !== 0) + 1;
  const firstSound = call.stream.agentAudio().findIndex((sample, at) => at >= lastVoiced && sample !== 0);
  const shownMs = ((firstSound - lastVoiced) * 1000) / 8000;
  const { latencyMs = 0, latencyParts, latencyDetails, spoken: answered } = lastMessage(call) ?? {};
  expect(Math.abs(latencyMs - 60 - shownMs)).toBeLessThanOrEqual(20);
  const durations = { bufferMs: 60, endpointingMs: 300, transcriptionMs: 0, answerMs: 220, speechMs: 0 };
  expect(latencyParts).toEqual({ ...durations, playoutMs: 0, preemptive: 'none' });
  expect(latencyMs).toBe(580);
  expect(latencyDetails).toEqual({ modelMs: 220, sentenceMs: 0 });
  const asked = call.memory.records
    .flatMap(({ messages }) => messages)
    .findLast(({ role }) => role === 'user')?.spoken;
  const timeOf = (text: string | undefined) => Date.parse(text ?? '');
  expect(timeOf(answered?.from) - timeOf(asked?.to)).toBeCloseTo(latencyMs - 60, -1);
  expect(Math.abs(timeOf(asked?.to) - timeOf(asked?.from) - 900)).toBeLessThan(100);
  await call.stream.hangUp();
  expect((await call.report).turns[1]).toMatchObject({ latencyMs, latencyParts });
});

test('Turn latency ignores audio received before the session started', async () => {
  const answer = (index: number) => [GREETING, { text: 'Gladly.' }][index] ?? {};
  const call = simulatedCall({ answer, stream: { receivedBefore: 8 * 1500, bufferDelayMs: 0 } });
  await greeted(call);
  await call.say('I would like a table.', 900);
  await greeted(call);
  expect(lastMessage(call)?.latencyMs).toBeGreaterThanOrEqual(300);
  expect(lastMessage(call)?.latencyMs).toBeLessThan(500);
  await call.hangUp();
});

test('An expected answer ends the turn sooner than an incomplete sentence', async () => {
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

test('A caller who continues before the answer is heard gets one answer to everything', async () => {
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

test('Endpointing waits longer after the agent interrupted a number', async () => {
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
  await call.hangUp();
  expect(call.transcript().filter((line) => line.startsWith('user'))).toEqual([
    'user: five',
    'user: six seven',
  ]);
});

test('The first sentence is spoken while the model still writes', async () => {
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
  await call.hangUp();
});

test.each(['phone', 'web'] as const)(
  'The model is told that its words are spoken, on the channel %s',
  async (channel) => {
    const session = { projectId: PROJECT, sessionId: 's', channel };
    const call = simulatedCall({ answer: () => GREETING, session: { session } });
    await greeted(call);
    await call.hangUp();
    expect(call.model.requests[0]?.messages[0]?.content).toContain('Your words are spoken aloud');
  },
);

test('An answer that is ready waits until a sound of the caller is known to be no speech', async () => {
  let isReady: () => void = () => undefined;
  const after = new Promise<void>((resolve) => {
    isReady = resolve;
  });
  const call = simulatedCall({ answer: (index) => (index === 0 ? GREETING : { text: 'Certainly.', after }) });
  await greeted(call);
  await call.say('A table.', 1000);
  await call.stream.advance(500);
  await call.say('', 100);
  isReady();
  await call.stream.advance(80);
  expect(call.isAgentSpeaking()).toBe(false);
  await call.stream.advance(80);
  expect(call.isAgentSpeaking()).toBe(true);
  await call.hangUp();
});
