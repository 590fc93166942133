import { describe, expect, it } from 'vitest';
import type { Codec } from '../../../src/media/codecs/codec.ts';
import { pcmu } from '../../../src/media/codecs/g711.ts';
import { g722 } from '../../../src/media/codecs/g722/g722.ts';
import { PitchConcealer } from '../../../src/media/concealment/pitchConcealer.ts';
import { JitterBuffer, type PulledFrame } from '../../../src/media/jitter/jitterBuffer.ts';
import { createRandom, rootMeanSquare, tone, voiced } from '../support/signals.ts';

/** A sender, a network and a receiver, all in simulated time. */
interface Network {
  readonly minutes: number;
  readonly seed?: number;
  readonly packetMs?: number;
  /** Millionths by which the sender's clock is faster than ours. */
  readonly skewPpm?: number;
  /** Network delay of a packet in ms; undefined loses it. */
  readonly delayMs: (index: number, random: () => number) => number | undefined;
}

interface Outcome {
  readonly buffer: JitterBuffer;
  /** From sending to the pull, for each decoded packet. */
  readonly delaysMs: readonly number[];
  readonly decoded: readonly number[];
  readonly frames: Readonly<Record<PulledFrame, number>>;
}

const START_MS = 1000;
const speech = voiced(8000, 80_000);

/** Simulates a call; every payload starts with its packet's number for the decoder. */
function simulate({ minutes, seed = 1, packetMs = 20, skewPpm = 0, delayMs }: Network): Outcome {
  const random = createRandom(seed * 2_654_435_761);
  const codec = pcmu.open();
  const samples = packetMs * 8;
  const count = (minutes * 60_000) / packetMs;
  const sentAt = (index: number) => START_MS + index * packetMs * (1 - skewPpm / 1e6);
  const arrivals = Array.from({ length: count }, (_, index) => ({ index, delay: delayMs(index, random) }))
    .flatMap(({ index, delay }) => (delay === undefined ? [] : [{ index, atMs: sentAt(index) + 30 + delay }]))
    .sort((a, b) => a.atMs - b.atMs);

  let nowMs = 0;
  const delaysMs: number[] = [];
  const decoded: number[] = [];
  const watched: Codec = {
    ...codec,
    decode(payload, out) {
      const index = ((payload[0] ?? 0) << 16) | ((payload[1] ?? 0) << 8) | (payload[2] ?? 0);
      delaysMs.push(nowMs - sentAt(index));
      decoded.push(index);
      return codec.decode(payload, out);
    },
  };
  const buffer = new JitterBuffer({ codec: watched, concealer: new PitchConcealer(8000) });
  const frames = { speech: 0, concealed: 0, silence: 0 };
  const frame = new Int16Array(160);
  let arrived = 0;
  for (nowMs = START_MS + 7; nowMs < sentAt(count); nowMs += 20) {
    for (; (arrivals[arrived]?.atMs ?? Infinity) <= nowMs; arrived++) {
      const { index, atMs } = arrivals[arrived] ?? { index: 0, atMs: 0 };
      const payload = new Uint8Array(samples);
      const at = (index * samples) % (speech.length - samples);
      codec.encode(speech.subarray(at, at + samples), payload);
      payload.set([index >> 16, index >> 8, index]);
      buffer.insert((65_000 + index) & 0xffff, (4_294_000_000 + index * samples) % 2 ** 32, payload, atMs);
    }
    frames[buffer.pull(nowMs, frame)]++;
  }
  return { buffer, delaysMs, decoded, frames };
}

const mean = (numbers: readonly number[]) => numbers.reduce((sum, n) => sum + n, 0) / numbers.length;
const exponential = (random: () => number, meanMs: number) => -Math.log(1 - random()) * meanMs;

describe('JitterBuffer over minutes', () => {
  it('adds little delay to a quiet network, and loses nothing', () => {
    const { buffer, delaysMs, decoded, frames } = simulate({
      minutes: 10,
      delayMs: (_, random) => 2 * random(),
    });
    expect(frames.concealed).toBe(0);
    expect(decoded.length).toBeGreaterThan(29_990);
    expect(Math.max(...delaysMs.slice(500)) - 30).toBeLessThan(50);
    expect(mean(delaysMs.slice(500)) - 30).toBeLessThan(40);
    // The jitter, the wait for the next tick, and what is shorter than a pitch period.
    expect(buffer.delayMs).toBeLessThan(5 + 20 + 2.5);
    expect(buffer.statistics).toMatchObject({
      late: 0,
      shed: 0,
      underruns: 0,
      undecodable: 0,
      duplicates: 0,
    });
  });

  it.each([200, -200])('follows a sender whose clock is off by %d ppm', (skewPpm) => {
    // 200 ppm are 120 ms in ten minutes.
    const { buffer, delaysMs, frames } = simulate({
      minutes: 10,
      skewPpm,
      delayMs: (_, random) => 5 * random(),
    });
    const [early, late] = [mean(delaysMs.slice(500, 1500)), mean(delaysMs.slice(-1000))];
    expect(Math.abs(late - early)).toBeLessThan(25);
    expect(Math.max(...delaysMs.slice(500)) - 30).toBeLessThan(70);
    expect(frames.concealed).toBeLessThan(15);
    expect(buffer.statistics.shed).toBe(0);
    const { shortenedMs, lengthenedMs } = buffer.statistics;
    const corrected = skewPpm > 0 ? shortenedMs : lengthenedMs;
    expect(corrected).toBeGreaterThan(60);
    expect(corrected).toBeLessThan(400);
  });

  it.each([0.01, 0.05, 0.1])('conceals a random loss of %d only', (ratio) => {
    const { buffer, delaysMs, decoded } = simulate({
      minutes: 4,
      delayMs: (_, random) => (random() < ratio ? undefined : 5 * random()),
    });
    expect(decoded.length / 12_000).toBeCloseTo(1 - ratio, 2);
    expect(buffer.statistics.concealedMs / 240_000).toBeGreaterThan(0.9 * ratio);
    expect(buffer.statistics.concealedMs / 240_000).toBeLessThan(1.15 * ratio);
    expect(Math.max(...delaysMs.slice(500)) - 30).toBeLessThan(90);
    expect(buffer.statistics.late).toBe(0);
  });

  it('returns to its delay after bursts of half a second', () => {
    const { buffer, delaysMs, decoded } = simulate({
      minutes: 5,
      delayMs: (index, random) => (index % 1500 >= 1475 ? undefined : 5 * random()),
    });
    expect(decoded.length).toBeGreaterThan(15_000 - 10 * 25 - 20);
    expect(mean(delaysMs.slice(-1400)) - mean(delaysMs.slice(500, 1400))).toBeLessThan(15);
    expect(buffer.statistics.underruns).toBeLessThan(30);
  });

  it.each([1, 3])('follows a jitter of often 40 ms (seed %d)', (seed) => {
    const { buffer, delaysMs, decoded, frames } = simulate({
      minutes: 5,
      seed,
      delayMs: (_, random) => exponential(random, 12),
    });
    expect(decoded.length / 15_000).toBeGreaterThan(0.99);
    expect(frames.concealed / 15_000).toBeLessThan(0.03);
    expect(mean(delaysMs.slice(500)) - 30).toBeLessThan(110);
    expect(buffer.statistics.late / 15_000).toBeLessThan(0.01);
    const [first, second] = [delaysMs.slice(500, 7500), delaysMs.slice(7500)];
    expect(Math.abs(mean(second) - mean(first))).toBeLessThan(10);
  });

  it('sheds the delay after stalls of 300 ms', () => {
    const stallMs = (index: number) => Math.max(0, 300 - 20 * (index % 1000));
    const { buffer, delaysMs } = simulate({
      minutes: 5,
      delayMs: (index, random) => stallMs(index) + 3 * random(),
    });
    const beforeStalls = delaysMs.filter((_, n) => n % 1000 > 800 && n > 1000);
    expect(mean(beforeStalls) - 30).toBeLessThan(150);
    expect(Math.max(...delaysMs.slice(1000)) - 30).toBeLessThan(420);
    expect(buffer.statistics.delayMs).toBeLessThan(250);
  });

  it.each([
    { hiccup: 'of a second', hiccupMs: 1000, at: 400, lostPackets: 37 },
    { hiccup: 'of a second at the start', hiccupMs: 1000, at: 60, lostPackets: 37 },
    { hiccup: 'of 250 ms', hiccupMs: 250, at: 400, lostPackets: 0 },
    { hiccup: 'that ends at double pace', hiccupMs: 1000, at: 400, pace: 0.5, lostPackets: 37 },
  ])('forgets a single hiccup $hiccup within 4 s', ({ hiccupMs, at, pace = 1, lostPackets }) => {
    const waitMs = (index: number) => (index < at ? 0 : Math.max(0, hiccupMs - 20 * pace * (index - at)));
    const { buffer } = simulate({
      minutes: (at * 20 + hiccupMs / pace + 4000) / 60_000,
      delayMs: (index, random) => waitMs(index) + 3 * random(),
    });
    expect(buffer.delayMs).toBeLessThan(80);
    expect(buffer.statistics.shed + buffer.statistics.late).toBeLessThanOrEqual(lostPackets);
  });

  it.each([80, 300, 1000])(
    'forgets a sender’s pause of %d ms that is not made up for within a second',
    (pauseMs) => {
      const { buffer } = simulate({
        minutes: (400 * 20 + pauseMs + 1000) / 60_000,
        delayMs: (index, random) => (index < 400 ? 0 : pauseMs) + 3 * random(),
      });
      expect(buffer.delayMs).toBeLessThan(60);
      expect(buffer.statistics).toMatchObject({ late: 0, shed: 0 });
      expect(buffer.statistics.underruns).toBeLessThan(15);
    },
  );

  it('waits for hiccups that are repeated', () => {
    // 150 ms every second.
    const { buffer, delaysMs } = simulate({
      minutes: 1,
      delayMs: (index, random) => Math.max(0, 150 - 20 * (index % 50)) + 3 * random(),
    });
    expect(Math.min(...delaysMs.slice(500)) - 30).toBeGreaterThan(130);
    expect(buffer.statistics).toMatchObject({ late: 0, shed: 0 });
  });

  it('follows a route that becomes 120 ms longer and shorter again', () => {
    const { delaysMs, decoded } = simulate({
      minutes: 3,
      delayMs: (index, random) => (index >= 2000 && index < 5000 ? 120 : 0) + 3 * random(),
    });
    const at = (index: number) => delaysMs[decoded.findIndex((each) => each >= index)] ?? 0;
    expect(decoded.length).toBeGreaterThan(8900);
    expect(at(1900) - 30).toBeLessThan(50);
    expect(at(4900) - 150).toBeLessThan(70);
    expect(at(8900) - 30).toBeLessThan(70);
  });

  it.each([10, 30, 40, 60])('plays packets of %d ms', (packetMs) => {
    const { decoded, frames, delaysMs } = simulate({
      minutes: 2,
      packetMs,
      delayMs: (_, random) => 3 * random(),
    });
    expect(frames.concealed).toBe(0);
    expect(decoded.length).toBeGreaterThan(120_000 / packetMs - 12);
    expect(Math.max(...delaysMs.slice(100)) - 30).toBeLessThan(70);
  });
});

/** A buffer with packets of a tone, 20 ms each. */
function create(
  options: { minDelayMs?: number; initialDelayMs?: number } = { initialDelayMs: 0, minDelayMs: 0 },
) {
  const codec = pcmu.open();
  const buffer = new JitterBuffer({ codec: pcmu.open(), concealer: new PitchConcealer(8000), ...options });
  const samples = tone(8000, 200, 8000);
  const payload = (index: number) => {
    const bytes = new Uint8Array(160);
    codec.encode(samples.subarray((index * 160) % 8000, ((index * 160) % 8000) + 160), bytes);
    return bytes;
  };
  const insert = (index: number, atMs: number, sequence = index) =>
    buffer.insert(sequence & 0xffff, index * 160, payload(index), atMs);
  /** The buffer's steps are 5 ms: a packet is ready 5 ms after its arrival at the earliest. */
  const pull = (atMs: number) => {
    const frame = new Int16Array(160).fill(77);
    return { kind: buffer.pull(atMs + 5, frame), level: rootMeanSquare(frame) };
  };
  return { buffer, insert, pull };
}

describe('JitterBuffer', () => {
  it('is silent before the first packet', () => {
    expect(create().pull(0)).toEqual({ kind: 'silence', level: 0 });
  });

  it('waits for its initial delay, then plays', () => {
    const { insert, pull } = create({ initialDelayMs: 40 });
    insert(0, 1000);
    expect(pull(1000).kind).toBe('silence');
    insert(1, 1020);
    expect(pull(1020).kind).toBe('silence');
    insert(2, 1040);
    expect(pull(1040).kind).toBe('speech');
  });

  it('reorders packets, and drops duplicates', () => {
    const { buffer, insert, pull } = create({ initialDelayMs: 58 });
    for (const index of [0, 2, 1, 1, 2]) insert(index, 1000 + index * 20);
    expect([1060, 1080, 1100].map((atMs) => pull(atMs).kind)).toEqual(['speech', 'speech', 'speech']);
    expect(buffer.statistics).toMatchObject({ duplicates: 2, late: 0, concealedMs: 0 });
  });

  it('reorders packets before the first', () => {
    const { buffer, insert, pull } = create({ initialDelayMs: 58 });
    for (const index of [1, 0, 2]) insert(index, 1000 + index * 20);
    expect(buffer.statistics.late).toBe(0);
    expect([1060, 1080, 1100].map((atMs) => pull(atMs).kind)).toEqual(['speech', 'speech', 'speech']);
  });

  it('conceals a loss with later packets, then continues in time', () => {
    const { buffer, insert, pull } = create({ initialDelayMs: 58 });
    for (const index of [0, 1, 3, 4]) insert(index, 1000 + index * 20);
    expect([1060, 1080, 1100, 1120, 1140].map((atMs) => pull(atMs).kind)).toEqual([
      'speech',
      'speech',
      'concealed',
      'speech',
      'speech',
    ]);
    expect(buffer.statistics.concealedMs).toBe(20);
  });

  it('stretches speech without later packets, and plays late ones', () => {
    const { buffer, insert, pull } = create();
    for (const index of [0, 1, 2]) {
      insert(index, 1000 + index * 20);
      expect(pull(1000 + index * 20).kind).toBe('speech');
    }
    expect(pull(1060).kind).toBe('concealed');
    insert(3, 1070);
    insert(4, 1080);
    expect([pull(1080).kind, pull(1100).kind]).toEqual(['speech', 'speech']);
    expect(buffer.statistics).toMatchObject({ underruns: 1, late: 0 });
  });

  it('ends the talkspurt after 60 ms, and restarts with the next packet', () => {
    const { insert, pull } = create();
    insert(0, 1000);
    expect(pull(1000).kind).toBe('speech');
    const kinds = Array.from({ length: 6 }, (_, n) => pull(1020 + 20 * n).kind);
    expect(kinds).toEqual(['concealed', 'concealed', 'concealed', 'silence', 'silence', 'silence']);
    insert(7, 1140);
    expect(pull(1160).kind).toBe('speech');
  });

  it('does not conceal a pause of the sender', () => {
    const { buffer, insert, pull } = create();
    insert(0, 1000);
    insert(10, 1200, 1); // ten frames later by its time, the next by its number
    expect(pull(1000).kind).toBe('speech');
    expect(pull(1020).kind).toBe('silence');
    expect(pull(1200).kind).toBe('speech');
    expect(buffer.statistics.concealedMs).toBe(0);
  });

  it('does not count packets without audio as lost', () => {
    const { buffer, insert, pull } = create();
    insert(0, 1000);
    buffer.insert(1, 160, new Uint8Array(4), 1020, 'other');
    buffer.insert(2, 160, new Uint8Array(4), 1040, 'other');
    insert(3, 1060);
    expect([1000, 1020, 1040, 1060].map((atMs) => pull(atMs).kind)).toEqual([
      'speech',
      'silence',
      'silence',
      'speech',
    ]);
    expect(buffer.statistics).toMatchObject({ concealedMs: 0, undecodable: 0 });
  });

  it('fills a pause with comfort noise of the sent level', () => {
    const { buffer, insert, pull } = create();
    insert(0, 1000);
    pull(1000);
    buffer.insert(1, 160, Uint8Array.of(40), 1020, 'comfort_noise');
    const { kind, level } = pull(1020);
    expect(kind).toBe('silence');
    expect(20 * Math.log10(level / 32_767)).toBeCloseTo(-40, -0.5);
    insert(9, 1180, 2);
    expect(pull(1180).kind).toBe('speech');
    for (let n = 1; n <= 4; n++) pull(1180 + 20 * n);
    expect(pull(1300).level).toBe(0);
  });

  it('counts undecodable packets, and plays the rest', () => {
    const { buffer, insert, pull } = create();
    insert(0, 1000);
    buffer.insert(1, 160, new Uint8Array(0), 1020);
    insert(2, 1040);
    expect([1000, 1020, 1040].map((atMs) => pull(atMs).kind)[2]).toBe('speech');
    expect(buffer.statistics.undecodable).toBe(1);
  });

  it('is bounded without pulls, and keeps the newest packets', () => {
    const { buffer, insert, pull } = create();
    for (let index = 0; index < 1000; index++) insert(index, 1000 + 20 * index);
    expect(buffer.statistics.shed).toBe(1000 - 128);
    pull(21_000);
    expect(buffer.statistics.shed).toBeGreaterThan(1000 - 16);
    expect(buffer.statistics.delayMs).toBeLessThan(350);
  });

  it('drops packets that waited too long, but plays the newest', () => {
    const { buffer, insert, pull } = create();
    insert(0, 1000);
    pull(1000);
    for (const index of [1, 2, 3, 4]) insert(index, 1000 + index * 20);
    pull(1400);
    // The joint of 2.5 ms is played before it.
    expect(buffer.statistics).toMatchObject({ shed: 3, delayMs: 1405 + 2.5 - 1080 });
    insert(5, 1410);
    pull(1420);
    expect(buffer.statistics).toMatchObject({ shed: 3, delayMs: 1425 - 1100 });
  });

  it('survives a jump of the timestamps, forwards and back', () => {
    const { buffer, insert, pull } = create();
    let sequence = 0;
    for (const base of [0, 1_000_000, 500]) {
      const kinds: string[] = [];
      for (let n = 0; n < 50; n++) {
        const atMs = 1000 + sequence * 20;
        insert(base + n, atMs, sequence++);
        kinds.push(pull(atMs).kind);
      }
      expect(kinds.slice(10).every((kind) => kind === 'speech')).toBe(true);
    }
    expect(buffer.statistics.delayMs).toBeLessThan(100);
  });

  it('forgets the stream at a reset', () => {
    const { buffer, insert, pull } = create();
    insert(0, 1000);
    pull(1000);
    buffer.reset();
    buffer.insert(40_000, 5, new Uint8Array(160), 1020);
    expect(pull(1020).kind).toBe('speech');
    expect(buffer.statistics.late).toBe(0);
  });

  it('pulls frames of other lengths, and plays a codec whose RTP clock is not its rate', () => {
    const codec = g722.open();
    const buffer = new JitterBuffer({
      codec: g722.open(),
      concealer: new PitchConcealer(16_000),
      initialDelayMs: 0,
      minDelayMs: 0,
    });
    const samples = tone(16_000, 300, 3200);
    const kinds: string[] = [];
    for (let n = 0; n < 10; n++) {
      const payload = new Uint8Array(160);
      codec.encode(samples.subarray(n * 320, n * 320 + 320), payload);
      buffer.insert(n, n * 160, payload, 995 + n * 20);
      kinds.push(
        buffer.pull(1000 + n * 20, new Int16Array(160)),
        buffer.pull(1010 + n * 20, new Int16Array(160)),
      );
    }
    expect(kinds).toEqual(new Array(20).fill('speech'));
    expect(() => buffer.pull(2000, new Int16Array(1921))).toThrow(RangeError);
  });
});
