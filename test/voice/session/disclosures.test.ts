import { describe, expect, test } from 'vitest';
import { dueDisclosures } from '../../../src/agents/disclosures.ts';
import type { PathwayInput } from '../../../src/agents/pathway/schema/pathwaySchema.ts';
import { GREETING, greeted, type SimulatedCallOptions, simulatedCall } from '../support/simulatedCall.ts';

const WHO = 'This is Ann, a computer on the {{ channel }}.';
const SPOKEN_WHO = 'This is Ann, a computer on the phone.';
const RECORDED = 'This call is recorded for training.';
const ANSWER = { text: 'We are open until nine.' };

const disclosures = [
  { id: 'who', text: WHO, withinSeconds: 10, direction: 'both' as const },
  { id: 'recorded', text: RECORDED, withinSeconds: 20, direction: 'both' as const },
];

const MENU: PathwayInput = {
  nodes: [
    { id: 'start', type: 'start', data: { title: 'Talk', prompt: 'Talk.' } },
    { id: 'sales', type: 'say', data: { title: 'Sales', prompt: 'You want sales.' } },
  ],
  edges: [
    { id: 'one', source: 'start', target: 'sales', data: { condition: { event: 'dtmf', digits: '1' } } },
  ],
};

/** A call that owes these disclosures. */
function disclosing(options: Partial<SimulatedCallOptions> = {}, all: typeof disclosures = disclosures) {
  return simulatedCall({
    answer: (index) => (index === 0 ? GREETING : ANSWER),
    ...options,
    agent: { disclosures: all, ...options.agent },
    stream: { info: { disclosures: dueDisclosures(all, 'inbound') }, ...options.stream },
  });
}
const heard = (call: ReturnType<typeof disclosing>) =>
  call.stream.commands.flatMap((command) => (command.kind === 'disclosed' ? [command.id] : []));
const saysOf = (call: ReturnType<typeof disclosing>, text: string) =>
  call.stream.until(() => call.voice.texts.includes(text) && call.isAgentSpeaking());

test('Disclosures are said in order before the first node, and each is reported once it was heard', async () => {
  const call = disclosing();
  await saysOf(call, SPOKEN_WHO);
  expect([heard(call), call.model.requests.length]).toEqual([[], 0]);
  await saysOf(call, RECORDED);
  expect(heard(call)).toEqual(['who']);
  await call.stream.until(() => call.model.requests.length === 1);
  expect(heard(call)).toEqual(['who', 'recorded']);
  await greeted(call);
  await call.hangUp();
  expect(call.transcript()).toEqual([
    `assistant: ${SPOKEN_WHO}`,
    `assistant: ${RECORDED}`,
    `assistant: ${GREETING.text}`,
  ]);
});

test('A disclosure by language is said in the first of the agent’s languages, until another is spoken', async () => {
  const text = '{% if language == "de" %}Guten Tag.{% else %}Good day.{% endif %}';
  const all = [{ id: 'who', text, withinSeconds: 10, direction: 'both' as const }];
  const call = disclosing({ agent: { speech: { languages: ['de', 'en'] } } }, all);
  await saysOf(call, 'Guten Tag.');
  await call.hangUp();
});

test('A disclosure that the caller hangs up on is not heard', async () => {
  const call = disclosing();
  await saysOf(call, RECORDED);
  await call.stream.advance(100);
  await call.hangUp();
  expect(heard(call)).toEqual(['who']);
  expect(call.transcript().at(-1)).not.toContain('training');
});

describe('What the caller does during a disclosure does not interrupt it', () => {
  test('words are answered after the last one, in place of the greeting', async () => {
    const call = disclosing();
    await call.agentSpeaks();
    await call.say('Until when are you open?', 900);
    await saysOf(call, RECORDED);
    await call.stream.until(() => call.model.requests.length === 1);
    expect(heard(call)).toEqual(['who', 'recorded']);
    await greeted(call);
    await call.stream.advance(3000);
    await call.hangUp();
    expect(call.model.requests).toHaveLength(1);
    expect(call.transcript().slice(2)).toEqual([
      'user: Until when are you open?',
      `assistant: ${GREETING.text}`,
    ]);
  });

  test('words that go on over the end of the last one are answered whole', async () => {
    const call = disclosing();
    await saysOf(call, RECORDED);
    await call.say('Are you there?', 500);
    await call.stream.advance(500);
    await call.say('Until when are you open?', 4000);
    await call.stream.until(() => call.model.requests.length === 1);
    await greeted(call);
    await call.hangUp();
    expect(call.transcript()).toContain('user: Are you there? Until when are you open?');
  });

  test.each([
    ['a backchannel', 'Okay.', 400],
    ['a noise', '', 300],
  ])('%s is followed by the greeting', async (_what, words, durationMs) => {
    const call = disclosing();
    await saysOf(call, RECORDED);
    await call.stream.advance(500);
    await call.say(words, durationMs);
    await call.stream.until(() => call.model.requests.length === 1);
    await greeted(call);
    await call.hangUp();
    expect(call.transcript().slice(2)).toEqual([`assistant: ${GREETING.text}`]);
  });

  test('a sound that outlasts the last one and has no words is followed by the greeting', async () => {
    const call = disclosing();
    await saysOf(call, RECORDED);
    while (call.isAgentSpeaking()) await call.say('', 200);
    await call.stream.until(() => call.model.requests.length === 1);
    await greeted(call);
    await call.hangUp();
    expect(call.transcript().at(-1)).toBe(`assistant: ${GREETING.text}`);
  });

  test('digits take their edge after the last one; the history has all of them', async () => {
    const call = disclosing({ pathway: MENU });
    await call.agentSpeaks();
    for (const digit of ['7', '#', '1']) call.stream.pressDigit(digit);
    await call.stream.until(() => call.voice.texts.includes('You want sales.'));
    expect(heard(call)).toEqual(['who', 'recorded']);
    await call.hangUp();
    expect(call.transcript().slice(2, 4)).toEqual(['user: 7', 'user: 1']);
  });

  test('words are stored when the caller hangs up on it', async () => {
    const call = disclosing();
    await call.agentSpeaks();
    await call.say('Stop calling me.', 700);
    await call.stream.advance(600);
    await call.hangUp();
    expect(call.transcript().at(-1)).toBe('user: Stop calling me.');
    expect(heard(call)).toEqual([]);
  });
});

test('An agent that replaces another says what was not heard whole, and greets', async () => {
  const call = disclosing({
    stream: { info: { disclosures: dueDisclosures(disclosures.slice(1), 'inbound') } },
  });
  await call.stream.until(() => call.model.requests.length === 1);
  await greeted(call);
  expect(call.voice.texts.join(' ')).toBe(`${RECORDED} ${GREETING.text}`);
  await call.hangUp();
});

test('An agent that is paused during a disclosure says it again when it is resumed', async () => {
  const call = disclosing();
  await saysOf(call, RECORDED);
  call.stream.control({ kind: 'pause', isPaused: true });
  await call.stream.advance(5000);
  expect([heard(call), call.isAgentSpeaking()]).toEqual([['who'], false]);
  call.stream.control({ kind: 'pause', isPaused: false });
  await call.stream.until(() => call.model.requests.length === 1);
  expect(heard(call)).toEqual(['who', 'recorded']);
  await call.hangUp();
});

test('A disclosure that cannot be spoken is not heard, and the agent goes on', async () => {
  const call = disclosing({
    textToSpeech: {
      name: 'broken',
      async *synthesize() {
        yield* [];
        throw new Error('no voice');
      },
    } as never,
  });
  await call.stream.until(() => call.model.requests.length === 1);
  expect(heard(call)).toEqual([]);
  await call.hangUp();
});

describe('An answering machine', () => {
  const MESSAGE = 'Please call us back.';
  const pathway: PathwayInput = {
    nodes: [
      { id: 'start', type: 'start', data: { title: 'Talk', prompt: 'Talk.' } },
      { id: 'message', type: 'say', data: { title: 'Message', prompt: MESSAGE } },
    ],
    edges: [{ id: 'vm', source: 'start', target: 'message', data: { condition: { event: 'voicemail' } } }],
  };
  const beep = Int16Array.from({ length: 3200 }, (_, n) =>
    Math.round(8000 * Math.sin((2 * Math.PI * 1000 * n) / 8000)),
  );
  const toMachine = (all: typeof disclosures) =>
    disclosing({ pathway, session: { detectAnsweringMachine: true } }, all);

  test('gets them whole before the message', async () => {
    const call = toMachine(disclosures);
    await call.agentSpeaks();
    await call.say('You have reached Ann. Please leave a message after the tone.', 3500);
    await call.stream.advance(700);
    expect(heard(call)).not.toContain('recorded');
    call.stream.speak(beep);
    await call.stream.until(() => call.stream.commands.some(({ kind }) => kind === 'hangup'));
    expect(heard(call).slice(-2)).toEqual(['who', 'recorded']);
    const told = call.stream.commands.map(({ kind }) => kind);
    expect(told.slice(-4)).toEqual(['message_began', 'disclosed', 'disclosed', 'hangup']);
    const times = call.stream.commands.flatMap((command) =>
      command.kind === 'disclosed' ? (command.messageMs ?? []) : [],
    );
    // From the end of the beep: the time of each one's words.
    expect(times).toEqual([expect.any(Number), expect.any(Number)]);
    expect([(times[0] ?? 0) < 4000, (times[1] ?? 0) < 8000, (times[0] ?? 0) < (times[1] ?? 0)]).toEqual([
      true,
      true,
      true,
    ]);
    const left = [SPOKEN_WHO, RECORDED, MESSAGE].map((words) => `assistant: ${words}`);
    expect(call.transcript().slice(-3)).toEqual(left);
    await call.hangUp();
  });

  test('gets none with machines: false, which is cut once the machine is detected', async () => {
    const [who, recorded] = disclosures;
    const call = toMachine([who, { ...recorded, machines: false }] as never);
    await call.agentSpeaks();
    await call.say('You have reached Ann. Please leave a message after the tone.', 3500);
    await call.stream.advance(700);
    call.stream.speak(beep);
    await call.stream.until(() => call.stream.commands.some(({ kind }) => kind === 'hangup'));
    expect(heard(call)).not.toContain('recorded');
    expect(call.transcript().slice(-2)).toEqual([`assistant: ${SPOKEN_WHO}`, `assistant: ${MESSAGE}`]);
    await call.hangUp();
  });
});
