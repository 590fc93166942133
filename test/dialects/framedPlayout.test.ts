import { expect, test } from 'vitest';

import { FramedPlayout, type PlayoutFraming } from '../../src/dialects/wire/framedPlayout.ts';

const FRAMING: PlayoutFraming = { frameSamples: 4, maxMessageSamples: 8, maxLeadSamples: 100 };
const samples = (from: number, count: number) =>
  Int16Array.from({ length: count }, (_, index) => from + index);

function open(framing: Partial<PlayoutFraming> = {}) {
  const sent: (number[] | string)[] = [];
  const playout = new FramedPlayout(
    { ...FRAMING, ...framing },
    { audio: (audio) => sent.push([...audio]), mark: (name) => sent.push(name) },
  );
  const take = () => sent.splice(0);
  return { playout, take };
}

test('Framed playout sends whole frames, across the chunks it was given', () => {
  const { playout, take } = open();
  playout.play(samples(1, 6));
  playout.play(samples(7, 12));
  expect(take()).toEqual([
    [1, 2, 3, 4],
    [5, 6, 7, 8, 9, 10, 11, 12],
    [13, 14, 15, 16],
  ]);
});

test('Framed playout fills an incomplete frame before a mark, or when nothing else is left to play', () => {
  const { playout, take } = open();
  playout.play(samples(1, 5));
  expect(take()).toEqual([[1, 2, 3, 4]]);
  playout.received(3);
  expect(take()).toEqual([]);
  playout.received(1);
  expect(take()).toEqual([[5, 0, 0, 0]]);
  playout.play(samples(6, 2));
  playout.mark('m');
  playout.play(samples(8, 4));
  expect(take()).toEqual([[6, 7, 0, 0], 'm', [8, 9, 10, 11]]);
});

test('Framed playout stays within the lead, and holds what follows', () => {
  const { playout, take } = open({ maxLeadSamples: 8 });
  playout.play(samples(1, 16));
  playout.mark('m');
  expect(take()).toEqual([[1, 2, 3, 4, 5, 6, 7, 8]]);
  playout.received(5);
  expect(take()).toEqual([[9, 10, 11, 12]]);
  playout.clear();
  playout.play(samples(21, 4));
  expect(take()).toEqual([[21, 22, 23, 24]]);
});

test('Framed playout waits for the room of a batch, and not for more to send', () => {
  const { playout, take } = open({ maxLeadSamples: 16, maxMessageSamples: 4, batchSamples: 8 });
  playout.play(samples(1, 32));
  expect(take().map(({ length }) => length)).toEqual([4, 4, 4, 4]);
  playout.received(4);
  expect(take()).toEqual([]);
  playout.received(4);
  expect(take()).toEqual([
    [17, 18, 19, 20],
    [21, 22, 23, 24],
  ]);
  playout.clear();
  playout.received(8);
  playout.play(samples(41, 4));
  expect(take()).toEqual([[41, 42, 43, 44]]);
});

test('Framed playout answers the marks of a gateway with neither marks nor a clear when their audio should be played', () => {
  const { playout, take } = open({ maxLeadSamples: 8, hasNoMarks: true, hasNoClear: true });
  playout.mark('empty');
  playout.play(samples(1, 4));
  playout.mark('first');
  playout.play(samples(5, 8));
  expect(take()).toEqual([
    [1, 2, 3, 4],
    [5, 6, 7, 8],
  ]);
  playout.received(3);
  expect(take()).toEqual(['empty']);
  playout.received(1);
  expect(take()).toEqual(['first', [9, 10, 11, 12]]);
  playout.mark('last');
  playout.clear();
  playout.play(samples(21, 4));
  // What was sent is still played.
  playout.received(7);
  expect(take()).toEqual([[21, 22, 23, 24]]);
});

test('Framed playout has room at once after a clear, which a gateway without marks may have', () => {
  const { playout, take } = open({ maxLeadSamples: 8, hasNoMarks: true });
  playout.play(samples(1, 8));
  playout.mark('dropped');
  expect(take()).toHaveLength(1);
  playout.clear();
  playout.play(samples(21, 4));
  playout.mark('second');
  expect(take()).toEqual([[21, 22, 23, 24]]);
  playout.received(4);
  expect(take()).toEqual(['second']);
});
