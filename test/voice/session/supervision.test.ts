import { expect, test } from 'vitest';
import { GREETING, greeted, simulatedCall } from '../support/simulatedCall.ts';

const ANSWER = { text: 'We are open until nine.' };
const agent = () => simulatedCall({ answer: (index) => (index === 0 ? GREETING : ANSWER) });

/** What the model was told in its last request. */
const toldTo = ({ model }: ReturnType<typeof agent>) => JSON.stringify(model.requests.at(-1)?.messages);

test('A supervisor’s text is said as it is once the agent is silent, and is the agent’s in the history', async () => {
  const call = agent();
  await call.agentSpeaks();
  call.stream.control({ kind: 'say', text: 'A colleague {{ name }} is on the way.' });
  await greeted(call);
  await greeted(call);
  expect(call.voice.texts.at(-1)).toBe('A colleague {{ name }} is on the way.');
  expect(call.model.requests).toHaveLength(1);
  await call.hangUp();
  expect(call.transcript()).toEqual([
    `assistant: ${GREETING.text}`,
    'assistant: A colleague {{ name }} is on the way.',
  ]);
});

test('A supervisor’s instruction reaches the model from the next turn on, and is not said', async () => {
  const call = agent();
  await greeted(call);
  call.stream.control({ kind: 'instruct', text: 'Offer {{ ten }} percent.' });
  await call.stream.advance(500);
  expect(call.isAgentSpeaking()).toBe(false);
  for (const words of ['What does it cost?', 'And for two?']) {
    await call.say(words, 600);
    await greeted(call);
    expect(toldTo(call)).toContain('Offer {{ ten }} percent.');
  }
  await call.hangUp();
  expect(call.transcript().join()).not.toContain('percent');
});

test('An instruction that a lost agent has not stored reaches the one that takes over; each is applied once, in order', async () => {
  const lost = agent();
  await greeted(lost);
  const told = (number: number) => ({ kind: 'instruct', text: `Offer ${number} percent.`, number }) as const;
  lost.stream.control(told(1));
  await lost.say('What does it cost?', 600);
  await greeted(lost);
  // The agent is lost before the second one is stored.
  const sessions = new Map(lost.memory.sessions);
  lost.stream.control(told(2));

  const next = simulatedCall({
    answer: () => ANSWER,
    sessions,
    session: { isResumed: true },
    stream: { early: { controls: [told(1), told(2)] } },
  });
  await greeted(next);
  next.stream.control(told(3));
  await next.say('And for two?', 600);
  await greeted(next);
  expect(toldTo(next).match(/Offer \d percent/g)).toEqual([1, 2, 3].map((n) => `Offer ${n} percent`));
  for (const call of [lost, next]) {
    await call.hangUp();
  }
});

test('Words of supervisors are reported when they are begun, each once', async () => {
  const call = agent();
  await call.agentSpeaks();
  for (const number of [1, 2]) call.stream.control({ kind: 'say', text: `Words ${number}.`, number });
  const reported = () => call.stream.commands.flatMap((one) => (one.kind === 'said' ? one.number : []));
  expect(reported()).toEqual([]);
  await call.stream.until(() => reported().length === 1);
  expect([call.isAgentSpeaking(), call.voice.texts.at(-1)]).toEqual([true, 'Words 1.']);
  await call.stream.until(() => reported().length === 2);
  expect([call.isAgentSpeaking(), call.voice.texts.at(-1)]).toEqual([true, 'Words 2.']);
  await call.hangUp();
  expect(reported()).toEqual([1, 2]);
});

test('A paused agent stops at once and keeps what the caller says; resumed, it answers', async () => {
  const call = agent();
  await call.agentSpeaks();
  call.stream.control({ kind: 'pause', isPaused: true });
  await call.stream.advance(60);
  expect(call.isAgentSpeaking()).toBe(false);
  await call.say('Until when are you open?', 900);
  await call.stream.advance(20_000);
  expect([call.isAgentSpeaking(), call.model.requests.length]).toEqual([false, 1]);
  expect(call.transcript().at(-1)).toBe('user: Until when are you open?');

  call.stream.control({ kind: 'say', text: 'One moment.' });
  await greeted(call);
  expect(call.voice.texts.at(-1)).toBe('One moment.');

  call.stream.control({ kind: 'pause', isPaused: false });
  await greeted(call);
  expect(call.voice.texts.at(-1)).toBe(ANSWER.text);
  await call.hangUp();
  expect(call.transcript().filter((message) => message.startsWith('user'))).toHaveLength(1);
});

test.each([
  ['a caller who has spoken', true],
  ['a silent caller', false],
])('An agent that was paused before its first word greets %s when it is resumed', async (_caller, speaks) => {
  const call = simulatedCall({
    answer: () => GREETING,
    stream: { early: { controls: [{ kind: 'pause', isPaused: true }] } },
  });
  if (speaks) await call.say('Hello?', 600);
  await call.stream.advance(3000);
  expect(call.model.requests).toHaveLength(0);
  expect(call.transcript()).toEqual(speaks ? ['user: Hello?'] : []);
  call.stream.control({ kind: 'pause', isPaused: false });
  await greeted(call);
  expect(call.voice.texts.join(' ')).toBe(GREETING.text);
  await call.hangUp();
});

test('A takeover stops the agent at once; given the call back, it knows and goes on', async () => {
  const call = agent();
  await call.agentSpeaks();
  call.stream.control({ kind: 'say', text: 'Of no use once a colleague speaks.' });
  call.stream.control({ kind: 'takeover', isTakenOver: true });
  await call.stream.advance(60);
  expect(call.isAgentSpeaking()).toBe(false);
  await call.stream.advance(35_000);
  expect([call.isAgentSpeaking(), call.model.requests.length]).toEqual([false, 1]);
  call.stream.control({ kind: 'takeover', isTakenOver: false });
  await greeted(call);
  expect(call.voice.texts.at(-1)).toBe(ANSWER.text);
  expect(toldTo(call)).toContain('spoke with the person for 35 s');
  await call.stream.advance(3000);
  expect(call.voice.texts.join()).not.toContain('Of no use');
  await call.hangUp();
  expect(call.transcript().join()).not.toContain('colleague');
});

test('A transfer that fails during a takeover is told when the agent has the call back', async () => {
  const call = agent();
  await greeted(call);
  call.stream.reportTransfer({ status: 'begun', to: '+886212345678' });
  call.stream.control({ kind: 'takeover', isTakenOver: true });
  call.stream.reportTransfer({ status: 'failed', to: '+886212345678', reason: 'busy' });
  await call.stream.advance(3000);
  expect([call.isAgentSpeaking(), call.model.requests.length]).toEqual([false, 1]);
  call.stream.control({ kind: 'takeover', isTakenOver: false });
  await greeted(call);
  expect(call.voice.texts.join(' ')).toContain('could not reach anyone');
  await call.hangUp();
});

test('A message that the person typed is answered once neither party speaks', async () => {
  const call = agent();
  await call.agentSpeaks();
  call.stream.request({ kind: 'message', text: 'When do you close?' });
  await call.stream.advance(500);
  expect(call.model.requests).toHaveLength(1);
  await greeted(call);
  await greeted(call);
  await call.hangUp();
  expect(call.transcript()).toEqual([
    `assistant: ${GREETING.text}`,
    'user: When do you close?',
    `assistant: ${ANSWER.text}`,
  ]);
});

test('The agent goes on when it is asked to, and stops when it is asked to', async () => {
  const call = agent();
  await greeted(call);
  call.stream.request({ kind: 'answer' });
  await call.agentSpeaks();
  await call.stream.advance(900);
  call.stream.request({ kind: 'stop' });
  await call.stream.advance(200);
  expect(call.isAgentSpeaking()).toBe(false);
  await call.hangUp();
  const [, answer] = call.transcript();
  expect(answer).toMatch(/^assistant: We/);
  expect(answer).not.toContain('nine');
});

test('During a takeover nothing of the agent is said, whatever it is asked', async () => {
  const call = agent();
  await greeted(call);
  call.stream.control({ kind: 'takeover', isTakenOver: true });
  call.stream.request({ kind: 'message', text: 'When do you close?' });
  call.stream.control({ kind: 'say', text: 'Hello.' });
  await call.stream.advance(3_000);
  expect([call.isAgentSpeaking(), call.model.requests.length]).toEqual([false, 1]);
  call.stream.control({ kind: 'takeover', isTakenOver: false });
  await greeted(call);
  expect(toldTo(call)).toContain('spoke with the person for 3 s');
  await call.hangUp();
});
