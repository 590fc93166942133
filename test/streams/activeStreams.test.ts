import { expect, test } from 'vitest';
import type { AudioStream } from '../../src/conversation/streams/audioStream.ts';
import { ActiveStreams } from '../../src/streams/activeStreams.ts';
import { createSimulatedClock } from '../support/simulatedClock.ts';

const settle = () => new Promise((resolve) => setImmediate(resolve));

function setUp() {
  const clock = createSimulatedClock();
  const counts: number[] = [];
  const ends = new Map<AudioStream, () => void>();
  const streams = new ActiveStreams<AudioStream>({
    clock,
    serveVoiceSession: (stream) => new Promise<void>((resolve) => ends.set(stream, resolve)),
    onCountChange: () => counts.push(streams.count),
  });
  return { clock, counts, ends, streams, ...createStreams(ends) };
}

function createStreams(ends: ReadonlyMap<AudioStream, () => void>) {
  const closes: unknown[][] = [];
  const createStream = () => {
    const stream = {
      close(...given: unknown[]) {
        closes.push(given);
        ends.get(stream)?.();
      },
    } as unknown as AudioStream;
    return stream;
  };
  return { closes, createStream };
}

test('ActiveStreams counts streams from start to end and announces each change', async () => {
  const { counts, ends, streams, createStream } = setUp();
  const sessions = [streams.serve(createStream()), streams.serve(createStream())];
  expect(streams.count).toBe(2);
  for (const end of ends.values()) end();
  await Promise.all(sessions);
  expect([streams.count, counts]).toEqual([0, [1, 2, 1, 0]]);
});

test('ActiveStreams rejects and forgets a stream whose voice session fails', async () => {
  const streams = new ActiveStreams({
    clock: createSimulatedClock(),
    serveVoiceSession: () => Promise.reject(new Error('the session failed')),
    onCountChange: () => undefined,
  });
  await expect(streams.serve({} as AudioStream)).rejects.toThrow('the session failed');
  expect(streams.count).toBe(0);
});

test('ActiveStreams drains by waiting, and closes the streams that outlast the grace period', async () => {
  const { clock, ends, streams, closes, createStream } = setUp();
  const [short, long] = [createStream(), createStream()];
  void streams.serve(short);
  void streams.serve(long);
  let isDrained = false;
  const drained = Promise.all([streams.drain(1000), streams.drain(1000)]).then(() => {
    isDrained = true;
  });
  ends.get(short)?.();
  clock.advance(999);
  await settle();
  expect([isDrained, closes]).toEqual([false, []]);
  clock.advance(1);
  await drained;
  expect(closes).toEqual([[1012, 'this node stops']]);
  expect(clock.pendingTimers()).toBe(0);
});
