import { afterAll, describe, expect, it } from 'vitest';
import type { Codec } from '../../../src/media/codecs/codec.ts';
import { createOpus } from '../../../src/media/codecs/opus.ts';
import { createCodecConcealer } from '../../../src/media/concealment/concealer.ts';
import { PitchConcealer } from '../../../src/media/concealment/pitchConcealer.ts';
import { JitterBuffer } from '../../../src/media/jitter/jitterBuffer.ts';
import { createRandom, segmentalSnrDb, voiced } from '../support/signals.ts';

const RATE_HZ = 16_000;
const FRAME = RATE_HZ / 50;
const PACKETS = 1000;
const format = createOpus();
const opened: Codec[] = [];
afterAll(() => {
  for (const codec of opened) codec.close();
});

function open(): Codec {
  const codec = format.open();
  opened.push(codec);
  return codec;
}

const packets = (() => {
  const encoder = open();
  const speech = voiced(RATE_HZ, PACKETS * FRAME);
  const room = new Uint8Array(format.maxBytesPer20Ms);
  return Array.from({ length: PACKETS }, (_, n) =>
    room.slice(0, encoder.encode(speech.subarray(n * FRAME, (n + 1) * FRAME), room)),
  );
})();

/** The buffer's statistics when these packets are lost. */
function hear(isLost: (index: number) => boolean, canRecover: boolean) {
  const { recover, ...plain } = open();
  const codec: Codec = canRecover && recover !== undefined ? { ...plain, recover } : plain;
  const concealer = createCodecConcealer(codec) ?? new PitchConcealer(RATE_HZ);
  const buffer = new JitterBuffer({ codec, concealer });
  const out = new Int16Array(FRAME);
  packets.forEach((packet, index) => {
    const nowMs = index * 20;
    if (!isLost(index)) buffer.insert(index, index * 960, packet, nowMs);
    buffer.pull(nowMs + 5, out);
  });
  return buffer.statistics;
}

function losses(ratio: number): (index: number) => boolean {
  const random = createRandom(7);
  // Without the start and the end, while the buffer fills and drains.
  const lost = packets.map((_, index) => index > 20 && index < PACKETS - 20 && random() < ratio);
  return (index) => lost[index] === true;
}

/** Lost frames, one in ten: as they would have been decoded, and as they were played. */
function madeUp(make: (codec: Codec, next: Uint8Array, out: Int16Array) => void) {
  const [whole, holey] = [open(), open()];
  const frame = new Int16Array(FRAME);
  const [expected, actual] = [new Int16Array(PACKETS * FRAME), new Int16Array(PACKETS * FRAME)];
  packets.forEach((packet, index) => {
    const at = index * FRAME;
    whole.decode(packet, expected.subarray(at, at + FRAME));
    if (index % 10 === 5) make(holey, packets[index + 1] ?? packet, actual.subarray(at, at + FRAME));
    else holey.decode(packet, frame);
  });
  const isLost = (_: number, n: number) => Math.floor(n / FRAME) % 10 === 5;
  return segmentalSnrDb(expected.filter(isLost), actual.filter(isLost), FRAME);
}

describe('Forward error correction of Opus', () => {
  it('is nearer to the original than concealment', () => {
    const guessed = madeUp((codec, _next, out) => codec.conceal?.(out));
    const recovered = madeUp((codec, next, out) => codec.recover?.(next, out));
    expect(recovered).toBeGreaterThan(guessed + 3);
  });

  it.each([0.03, 0.1])('is used at a loss of %d', (ratio) => {
    const isLost = losses(ratio);
    const lost = packets.filter((_, index) => isLost(index)).length;
    expect(hear(isLost, false)).toMatchObject({ recoveredMs: 0, concealedMs: lost * 20 });
    const { recoveredMs, concealedMs } = hear(isLost, true);
    expect(recoveredMs + concealedMs).toBe(lost * 20);
    expect(recoveredMs).toBeGreaterThan(0.8 * lost * 20);
  });

  it('recovers the last packet of a burst, with the others concealed', () => {
    const isLost = (index: number) => index >= 100 && index < 103;
    expect(hear(isLost, true)).toMatchObject({ recoveredMs: 20, concealedMs: 40, late: 0 });
  });
});
