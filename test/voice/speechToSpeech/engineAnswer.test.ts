import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import type { ChatEvent, SpokenAnswer } from '../../../src/models/ports/chatModel.ts';
import type { SpeechToSpeech } from '../../../src/models/ports/speechToSpeech.ts';
import { EngineAnswer } from '../../../src/voice/speechToSpeech/engineAnswer.ts';
import { unused } from '../../support/unused.ts';

const USAGE = { promptTokens: 10, completionTokens: 5, totalTokens: 15 };
const settle = () => new Promise<void>((resolve) => setImmediate(resolve));
const samples = (value: number, length = 160) => new Int16Array(length).fill(value);

/** An answer that is read as it comes. */
function scene() {
  const truncated: unknown[] = [];
  const answer = new EngineAnswer({
    engine: unused<SpeechToSpeech>('engine', { name: 'engine', model: 'model-1', sampleRateHz: 8000 }),
    truncate: (...told) => void truncated.push(told),
  });
  const events: ChatEvent[] = [];
  let outcome: unknown;
  void (async () => {
    for await (const event of answer.events()) events.push(event);
    outcome = 'done';
  })().catch((error: unknown) => {
    outcome = error;
  });
  const call = (id: string) =>
    answer.take({ type: 'tool_call', call: { id, name: 'find', arguments: '{}' } });
  const speeches = () => events.flatMap((event) => (event.type === 'speech' ? [event.speech] : []));
  return { answer, call, events, outcome: () => outcome, speeches, truncated };
}

/** The first sample of each piece, as they are played. */
function played(speech: SpokenAnswer | undefined, signal = new AbortController().signal) {
  const pieces: (number | undefined | 'end')[] = [];
  void (async () => {
    for await (const piece of speech?.samples(signal) ?? []) pieces.push(piece[0]);
    pieces.push('end');
  })();
  return pieces;
}

test('An answer is read while it comes: speech, its words, texts of its own, tool calls, and the end', async () => {
  const { answer, call, events, outcome, speeches } = scene();
  answer.take({ type: 'speech', speechId: 'a', samples: samples(1) });
  answer.take({ type: 'text', text: 'Hello.', speechId: 'a' });
  answer.take({ type: 'text', text: 'Written.' });
  await settle();
  const [speech] = speeches();
  expect(speech).toMatchObject({ provider: 'engine', sampleRateHz: 8000 });
  expect(events).toEqual([
    { type: 'speech', speech },
    { type: 'text', text: 'Hello.', isSpoken: true },
    { type: 'text', text: 'Written.' },
  ]);
  const pieces = played(speech);
  await settle();
  answer.take({ type: 'speech', speechId: 'a', samples: samples(2) });
  await settle();
  expect(pieces).toEqual([1, 2]);
  call('c-1');
  call('c-2');
  answer.take({ type: 'done', usage: USAGE });
  answer.take({ type: 'text', text: 'Too late.' });
  await settle();
  expect(pieces).toEqual([1, 2, 'end']);
  expect(events.slice(3)).toEqual([
    { type: 'tool_call', index: 0, id: 'c-1', name: 'find', arguments: '{}' },
    { type: 'tool_call', index: 1, id: 'c-2', name: 'find', arguments: '{}' },
    { type: 'end', finishReason: 'tool_calls', model: 'model-1', usage: USAGE, isCounted: true },
  ]);
  expect([outcome(), answer.isOver]).toEqual(['done', true]);
});

test('A speech ends where the next one begins, and is truncated under its own id', async () => {
  const { answer, events, speeches, truncated } = scene();
  answer.take({ type: 'speech', speechId: 'a', samples: samples(1) });
  answer.take({ type: 'text', text: 'More.', speechId: 'b' });
  answer.take({ type: 'speech', speechId: 'b', samples: samples(2) });
  await settle();
  const [first, second] = speeches();
  const [pieces, next] = [played(first), played(second)];
  await settle();
  expect([pieces, next]).toEqual([[1, 'end'], [2]]);
  // The words of a speech follow it.
  expect(events.map(({ type }) => type)).toEqual(['speech', 'speech', 'text']);
  second?.truncate(250);
  expect(truncated).toEqual([['b', 250]]);
  answer.take({ type: 'done' });
  await settle();
  expect(next).toEqual([2, 'end']);
});

test.each([
  [0, 'stop'],
  [1, 'tool_calls'],
])('An answer of %i tool calls ends with the reason %s', async (calls, finishReason) => {
  const { answer, call, events } = scene();
  for (let n = 0; n < calls; n++) call('c');
  answer.take({ type: 'done' });
  await settle();
  expect(events.at(-1)).toMatchObject({ type: 'end', finishReason, model: 'model-1' });
});

test('What an answer said before it failed is still played, and its reader is told', async () => {
  const { answer, events, outcome, speeches } = scene();
  answer.take({ type: 'speech', speechId: 'a', samples: samples(1) });
  await settle();
  const pieces = played(speeches()[0]);
  await settle();
  const error = new Error('lost');
  answer.fail(error);
  answer.fail(new Error('again'));
  answer.take({ type: 'done' });
  await settle();
  expect([pieces, outcome(), events.length]).toEqual([[1, 'end'], error, 1]);
});

test('Samples stop with the playout, which leaves no listener', async () => {
  const { answer, speeches } = scene();
  answer.take({ type: 'speech', speechId: 'a', samples: samples(1) });
  await settle();
  const playout = new AbortController();
  const pieces = played(speeches()[0], playout.signal);
  await settle();
  expect(getEventListeners(playout.signal, 'abort')).toHaveLength(1);
  playout.abort();
  answer.take({ type: 'speech', speechId: 'a', samples: samples(2) });
  await settle();
  expect(pieces).toEqual([1, 'end']);
  expect(getEventListeners(playout.signal, 'abort')).toEqual([]);
});

test.each([
  [
    '180 s of speech',
    ({ answer }: ReturnType<typeof scene>) =>
      answer.take({ type: 'speech', speechId: 'a', samples: samples(1, 18 * 8000) }),
    10,
  ],
  [
    '20,000 characters',
    ({ answer }: ReturnType<typeof scene>) => answer.take({ type: 'text', text: 'x'.repeat(2000) }),
    10,
  ],
  ['32 tool calls', ({ call }: ReturnType<typeof scene>) => call('c'), 32],
])('An answer has at most %s', (_what, take, most) => {
  const here = scene();
  for (let n = 0; n < most; n++) take(here);
  expect(() => take(here)).toThrow('engine answers without an end');
});
