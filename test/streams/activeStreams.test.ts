import { expect, test } from 'vitest';

import { createActiveStreams } from '../../src/streams/activeStreams.ts';
import type { AudioStream } from '../../src/voice/audioStream.ts';
import { createSimulatedClock } from '../support/simulatedClock.ts';

const settle = () => new Promise((resolve) => setImmediate(resolve));

function setUp() {
  const clock = createSimulatedClock();
  const counts: number[] = [];
  const ends = new Map<AudioStream, () => void>();
  const live = createActiveStreams({
    clock,
    talk: (stream) => new Promise<void>((resolve) => ends.set(stream, resolve)),
    onChange: () => counts.push(live.active),
  });
  const closes: unknown[][] = [];
  const stream = () => {
    const one = {
      close(...given: unknown[]) {
        closes.push(given);
        ends.get(one)?.();
      },
    } as unknown as AudioStream;
    return one;
  };
  return { clock, counts, ends, live, closes, stream };
}

test('streams are counted from their begin to their end, and each change is told', async () => {
  const { counts, ends, live, stream } = setUp();
  const [one, other] = [stream(), stream()];
  const talks = [live.serve(one), live.serve(other)];
  expect(live.active).toBe(2);
  for (const end of ends.values()) end();
  await Promise.all(talks);
  expect([live.active, counts]).toEqual([0, [1, 2, 1, 0]]);
});

test('a talk that fails is over, and says so to whoever began it', async () => {
  const live = createActiveStreams({
    clock: createSimulatedClock(),
    talk: () => Promise.reject(new Error('the talk failed')),
    onChange: () => undefined,
  });
  await expect(live.serve({} as AudioStream)).rejects.toThrow('the talk failed');
  expect(live.active).toBe(0);
});

test('a node that stops waits for its talks, and sends away only those that outlast its patience', async () => {
  const { clock, ends, live, closes, stream } = setUp();
  const [short, long] = [stream(), stream()];
  void live.serve(short);
  void live.serve(long);
  let isDrained = false;
  const drained = Promise.all([live.drain(1000), live.drain(1000)]).then(() => {
    isDrained = true;
  });
  ends.get(short)?.();
  clock.advance(999);
  await settle();
  expect([isDrained, closes]).toEqual([false, []]);
  clock.advance(1);
  await drained;
  // Service restart: whoever carries the call connects to another node.
  expect(closes).toEqual([[1012, 'this node stops']]);
  expect(clock.pendingTimers()).toBe(0);
});
