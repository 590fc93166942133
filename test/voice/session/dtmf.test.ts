import { expect, test } from 'vitest';
import type { PathwayInput } from '../../../src/agents/pathway/schema/pathwaySchema.ts';
import { eventsOf, GREETING, greeted, lastMessage, simulatedCall } from '../support/simulatedCall.ts';

const LONG = { text: 'One two three four. Five six seven eight. Nine ten eleven twelve.' };

const pathway: PathwayInput = {
  nodes: [
    { id: 'start', type: 'start', data: { title: 'Menu', prompt: 'Menu.' } },
    { id: 'sales', type: 'say', data: { title: 'Sales', prompt: 'This is sales.' } },
  ],
  edges: [
    { id: 'one', source: 'start', target: 'sales', data: { condition: { event: 'dtmf', digits: '1' } } },
  ],
};

test('A digit with an edge interrupts the agent and follows the edge', async () => {
  const call = simulatedCall({ answer: () => LONG, pathway });
  await call.agentSpeaks();
  await call.stream.advance(500);
  call.stream.pressDigit('1');
  await call.stream.advance(200);
  expect(call.voice.texts.at(-1)).toBe('This is sales.');
  await call.hangUp();
  expect(eventsOf(call, 'dtmf')).toEqual([{ digits: '1' }]);
});

test('Digits that were pressed before the session listened follow the edge of the first node', async () => {
  const call = simulatedCall({ answer: () => GREETING, pathway, stream: { early: { digits: ['1'] } } });
  await call.stream.advance(4000);
  expect(call.voice.texts).toContain('This is sales.');
  await call.hangUp();
  expect(eventsOf(call, 'dtmf')).toEqual([{ digits: '1' }]);
});

test('Digits wait for an agent that may not be interrupted', async () => {
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
  await call.hangUp();
});

test('Digits cancel an answer of which nothing was heard', async () => {
  const call = simulatedCall({ answer: (index) => [GREETING, { hang: true }][index] ?? {}, pathway });
  await greeted(call);
  await call.say('Well let me see.', 600);
  await call.stream.until(() => call.model.requests.length === 2);
  call.stream.pressDigit('1');
  await call.stream.advance(200);
  expect(call.voice.texts.at(-1)).toBe('This is sales.');
  await call.hangUp();
});

test('Speech before the digits is stored without an answer', async () => {
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
  await call.hangUp();
  expect(call.transcript().slice(1)).toEqual([
    'user: Well, let me see.',
    'user: 7',
    'assistant: Thank you.',
    'user: The other one is',
    'user: 8',
    'assistant: Thank you.',
  ]);
  // Counted from the last digit.
  expect(lastMessage(call)?.latencyMs).toBeLessThan(150);
});

test('Digits without an edge are collected until # or the inter-digit timeout', async () => {
  const call = simulatedCall({
    answer: (index) => [GREETING, { text: 'Thank you.' }, { text: 'Seven.' }][index] ?? {},
  });
  await greeted(call);
  for (const digit of '4711') {
    call.stream.pressDigit(digit);
    await call.stream.advance(500);
  }
  await call.stream.advance(1500);
  expect(eventsOf(call, 'dtmf')).toEqual([]);
  await call.stream.advance(1500);
  await greeted(call);
  expect(eventsOf(call, 'dtmf')).toEqual([{ digits: '4711' }]);
  call.stream.pressDigit('7');
  call.stream.pressDigit('#');
  await greeted(call);
  expect(eventsOf(call, 'dtmf').at(-1)).toEqual({ digits: '7' });
  await call.hangUp();
  const answers = call.memory.records.flatMap(({ messages }) =>
    messages.filter(({ role }) => role === 'assistant'),
  );
  // Counted from the last digit, inter-digit timeout included.
  const [, slow] = answers;
  expect(slow?.latencyMs).toBeGreaterThanOrEqual(2500);
  expect(slow?.latencyMs).toBeLessThan(3000);
  expect(answers.at(-1)?.latencyMs).toBeLessThan(500);
});

test('Digits that the node waits for are complete at once after a detour that returns to it', async () => {
  const pathway: PathwayInput = {
    nodes: [
      { id: 'start', type: 'start', data: { title: 'Menu', prompt: 'Offer the menu.' } },
      { id: 'hours', type: 'say', data: { title: 'Hours', prompt: 'From nine to five.', returns: true } },
      { id: 'sales', type: 'say', data: { title: 'Sales', prompt: 'Sales, hello.' } },
    ],
    edges: [
      { id: 'one', source: 'start', target: 'sales', data: { condition: { event: 'dtmf', digits: '1' } } },
      { id: 'ask', source: '*', target: 'hours', data: { condition: { event: 'dtmf', digits: '9' } } },
    ],
  };
  const call = simulatedCall({ answer: () => GREETING, pathway });
  await greeted(call);
  for (const [digit, said] of [
    ['9', 'From nine to five.'],
    ['1', 'Sales, hello.'],
  ] as const) {
    call.stream.pressDigit(digit);
    await call.stream.until(() => call.voice.texts.includes(said), 1000);
    await greeted(call);
  }
  await call.hangUp();
});
