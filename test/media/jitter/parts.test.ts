import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { pcmu } from '../../../src/media/codecs/g711.ts';
import { PacketStore, type StoredPacket } from '../../../src/media/jitter/packetStore.ts';
import { lengthen, shorten } from '../../../src/media/jitter/timeScale.ts';
import { TransitEstimator } from '../../../src/media/jitter/transitEstimator.ts';
import { createRandom, tone } from '../support/signals.ts';

const packet = (sequence: number): StoredPacket => ({
  sequence,
  timestamp: sequence * 160,
  kind: 'speech',
  payload: new Uint8Array(0),
  decoder: pcmu.open(),
});

describe('PacketStore', () => {
  it('returns packets in order, and refuses late ones', () => {
    const store = new PacketStore();
    expect([5, 3, 4, 4].map((sequence) => store.put(packet(sequence)))).toEqual([
      'stored',
      'stored',
      'stored',
      'duplicate',
    ]);
    expect([store.take(), store.take()].map((each) => each?.sequence)).toEqual([3, 4]);
    expect(store.put(packet(4))).toBe('late');
    expect(store.peek()?.sequence).toBe(5);
    expect(store.count).toBe(1);
  });

  it('refuses packets that were skipped as lost', () => {
    const store = new PacketStore();
    store.put(packet(1));
    store.put(packet(4));
    store.take();
    store.take();
    expect(store.put(packet(2))).toBe('late');
    expect(store.take()).toBeUndefined();
  });

  it('holds 128 packets at most, and counts dropped ones', () => {
    const store = new PacketStore();
    for (let sequence = 0; sequence < 130; sequence++) store.put(packet(sequence));
    expect([store.count, store.overflows, store.peek()?.sequence]).toEqual([128, 2, 2]);
    store.put(packet(10_000));
    expect([store.count, store.overflows, store.peek()?.sequence]).toEqual([1, 130, 10_000]);
  });

  it('refuses a packet as old as its capacity, which would take the slot of the newest', () => {
    const store = new PacketStore();
    store.put(packet(200));
    expect([store.put(packet(200 - 128)), store.put(packet(200 - 127))]).toEqual(['late', 'stored']);
    expect([store.take(), store.take(), store.take()].map((each) => each?.sequence)).toEqual([
      73,
      200,
      undefined,
    ]);
  });

  it('keeps the order after a loss above its capacity', () => {
    const store = new PacketStore();
    for (const sequence of [-33, 96, 0]) store.put(packet(sequence));
    expect([store.take(), store.take(), store.take()].map((each) => each?.sequence)).toEqual([
      0,
      96,
      undefined,
    ]);
  });

  it('never returns a packet twice or out of order', () => {
    const step = fc.oneof(fc.integer({ min: -200, max: 400 }), fc.constant('take' as const));
    fc.assert(
      fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
        const store = new PacketStore();
        let stored = 0;
        let last = Number.NEGATIVE_INFINITY;
        let taken = 0;
        for (const each of steps) {
          if (each === 'take') {
            const next = store.take();
            if (next === undefined) continue;
            expect(next.sequence).toBeGreaterThan(last);
            last = next.sequence;
            taken++;
          } else if (store.put(packet(each)) === 'stored') stored++;
          expect(store.count).toBe(stored - taken - store.overflows);
          expect(store.count).toBeLessThanOrEqual(128);
        }
      }),
    );
  });
});

describe('TransitEstimator', () => {
  const observe = (
    estimator: TransitEstimator,
    count: number,
    transitMs: (n: number) => number,
    from = 0,
  ) => {
    for (let n = 0; n < count; n++) estimator.observe(transitMs(n), from + n * 20);
  };

  it('starts with the prior', () => {
    expect(new TransitEstimator(40).delayMs).toBe(40);
  });

  it('learns a quiet network in a few seconds', () => {
    const estimator = new TransitEstimator(40);
    observe(estimator, 200, (n) => 1000 + (n % 3));
    expect(estimator.delayMs).toBe(5);
    expect(estimator.fastestMs).toBe(1000);
  });

  it('covers all but one in fifty packets', () => {
    const random = createRandom(99);
    const estimator = new TransitEstimator(40);
    observe(estimator, 5000, () => 100 * random());
    expect(estimator.delayMs).toBeGreaterThan(92);
    expect(estimator.delayMs).toBeLessThanOrEqual(105);
  });

  it('forgets 15 s of jitter on a quiet network, and learns the next', () => {
    const estimator = new TransitEstimator(40);
    const bad = (n: number) => 1000 + 50 * (n % 9);
    observe(estimator, 750, bad);
    expect(estimator.delayMs).toBe(405);
    observe(estimator, 15_000, () => 1000, 15_000);
    expect(estimator.delayMs).toBe(5);
    observe(estimator, 750, bad, 315_000);
    expect(estimator.delayMs).toBe(405);
  });

  it('follows the sender’s clock', () => {
    const estimator = new TransitEstimator(40);
    observe(estimator, 30_000, (n) => n * 0.004);
    expect(120 - estimator.fastestMs).toBeLessThan(0.5);
    expect(estimator.delayMs).toBe(5);
  });

  it('resets when the transit jumps', () => {
    const estimator = new TransitEstimator(40);
    observe(estimator, 1000, (n) => 10 * (n % 9));
    expect(estimator.observe(50_000, 20_000)).toBe(true);
    expect(estimator.fastestMs).toBe(50_000);
    expect(estimator.delayMs).toBe(45); // what it was told at first, in steps of 5 ms
  });
});

describe('Time scaling', () => {
  const options = { sampleRateHz: 8000, isUrgent: false };
  const steps = (samples: Int16Array) =>
    [...samples.keys()].slice(1).map((n) => Math.abs((samples[n] ?? 0) - (samples[n - 1] ?? 0)));

  it('removes and repeats whole periods of a tone inaudibly', () => {
    const wave = tone(8000, 200, 160); // a period is 40 samples
    const shorter = wave.slice();
    const length = shorten(shorter, options);
    expect((160 - length) % 40).toBe(0);
    expect(length).toBeLessThan(160);
    expect(Math.max(...steps(shorter.subarray(0, length)))).toBeLessThan(1.2 * Math.max(...steps(wave)));

    const room = new Int16Array(320);
    room.set(wave);
    const longer = lengthen(room, 160, options);
    expect((longer - 160) % 40).toBe(0);
    expect(longer).toBeGreaterThan(160);
    expect(Math.max(...steps(room.subarray(0, longer)))).toBeLessThan(1.2 * Math.max(...steps(wave)));
    expect([...room.subarray(longer - 20, longer)]).toEqual([...wave.subarray(140)]);
  });

  it('removes the most from silence', () => {
    expect(shorten(new Int16Array(160), options)).toBe(160 - 100);
    expect(lengthen(new Int16Array(320), 160, options)).toBe(160 + 100);
  });

  it('leaves uncorrelated audio unchanged unless it is urgent', () => {
    const random = createRandom(4);
    const noise = Int16Array.from({ length: 160 }, () => 8000 * (random() - 0.5));
    expect(shorten(noise.slice(), options)).toBe(160);
    expect(shorten(noise.slice(), { ...options, isUrgent: true })).toBeLessThan(160);
  });

  it('leaves frames unchanged that are too short or without room', () => {
    expect(shorten(new Int16Array(59), options)).toBe(59);
    expect(lengthen(new Int16Array(200), 160, options)).toBe(160);
  });
});
