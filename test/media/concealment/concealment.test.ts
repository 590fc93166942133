import { describe, expect, it } from 'vitest';
import { pcmu } from '../../../src/media/codecs/g711.ts';
import { createOpus } from '../../../src/media/codecs/opus.ts';
import { createCodecConcealer } from '../../../src/media/concealment/concealer.ts';
import { PitchConcealer } from '../../../src/media/concealment/pitchConcealer.ts';
import { createRandom, rootMeanSquare, segmentalSnrDb, tone, voiced } from '../support/signals.ts';

const DELAY_MS = 3.75;

/** Sends the signal through in frames; lost ones are concealed, or silent when `concealer` is undefined. */
function transmit(
  samples: Int16Array,
  frame: number,
  isLost: (index: number) => boolean,
  concealer: PitchConcealer | undefined,
): Int16Array {
  const out = samples.slice(0, samples.length - (samples.length % frame));
  for (let at = 0, index = 0; at < out.length; at += frame, index++) {
    const part = out.subarray(at, at + frame);
    if (concealer === undefined) {
      if (isLost(index)) part.fill(0);
    } else if (isLost(index)) concealer.conceal(part);
    else concealer.received(part);
  }
  return out;
}

describe.each([8000, 16_000])('PitchConcealer at %d Hz', (rate) => {
  const delay = (rate * DELAY_MS) / 1000;
  const frame = rate / 50;

  it('passes speech unchanged after 3.75 ms, in frames of any length', () => {
    const samples = voiced(rate, rate);
    const concealer = new PitchConcealer(rate);
    const out = samples.slice();
    const random = createRandom(3);
    for (let at = 0; at < out.length; ) {
      const end = Math.min(out.length, at + 1 + Math.floor(random() * 700));
      concealer.received(out.subarray(at, end));
      at = end;
    }
    expect(out.subarray(delay)).toEqual(samples.subarray(0, -delay));
  });

  it('conceals a second loss as well as the first', () => {
    const samples = tone(rate, 150, rate);
    const out = transmit(samples, frame, (index) => index === 15 || index === 25, new PitchConcealer(rate));
    for (const start of [15 * frame, 25 * frame]) {
      const end = start + frame;
      const [before, after] = [samples.subarray(start - delay, end - delay), out.subarray(start, end)];
      expect(segmentalSnrDb(before, after, frame)).toBeGreaterThan(15);
    }
  });

  it.each([0.01, 0.03, 0.05])('gains several dB of segmental SNR at a loss of %d', (lossRatio) => {
    const samples = voiced(rate, 20 * rate);
    const losses = createRandom(17);
    const lost = Array.from({ length: 1000 }, () => losses() < lossRatio);
    const isLost = (index: number) => lost[index] ?? false;
    const silent = transmit(samples, frame, isLost, undefined);
    const concealed = transmit(samples, frame, isLost, new PitchConcealer(rate));
    // Each segment is a lost frame with the next one, which has the overlap; all others are equal.
    const hit = [...lost.keys()].filter((index) => lost[index] && index < 998);
    const around = (signal: Int16Array, shift: number) =>
      Int16Array.from(
        hit.flatMap((index) => [...signal.subarray(index * frame + shift, (index + 2) * frame + shift)]),
      );
    const snr = {
      none: segmentalSnrDb(around(samples, 0), around(silent, 0), 2 * frame),
      concealed: segmentalSnrDb(around(samples, 0), around(concealed, delay), 2 * frame),
    };
    console.log(
      `${rate} Hz, ${100 * lossRatio} % loss: ${snr.none.toFixed(1)} dB without, ${snr.concealed.toFixed(1)} dB with`,
    );
    expect(snr.concealed - snr.none).toBeGreaterThan(5);
  });

  it('makes no click at the ends of a loss', () => {
    const samples = tone(rate, 130, rate);
    const step = (signal: Int16Array) =>
      Math.max(...[...signal.keys()].slice(1).map((n) => Math.abs((signal[n] ?? 0) - (signal[n - 1] ?? 0))));
    for (const length of [1, 2, 3, 5]) {
      const out = transmit(
        samples,
        frame,
        (index) => index >= 25 && index < 25 + length,
        new PitchConcealer(rate),
      );
      expect(step(out)).toBeLessThan(3 * step(samples));
    }
  });

  it('keeps its level for 10 ms, then fades to silence at 60 ms', () => {
    const concealer = new PitchConcealer(rate);
    const samples = tone(rate, 200, rate / 2);
    for (let at = 0; at < samples.length; at += frame) concealer.received(samples.slice(at, at + frame));
    const lost = new Int16Array(rate / 10);
    concealer.conceal(lost);
    const levelAt = (ms: number) => {
      const from = ((ms + DELAY_MS) * rate) / 1000;
      return rootMeanSquare(lost.subarray(from, from + rate / 200)) / rootMeanSquare(samples);
    };
    expect(levelAt(0)).toBeCloseTo(1, 1);
    expect(levelAt(5)).toBeCloseTo(1, 1);
    expect(levelAt(33)).toBeCloseTo(0.5, 1);
    expect(levelAt(60)).toBe(0);
    expect(levelAt(90)).toBe(0);
  });

  it('is independent of the frame length', () => {
    const samples = voiced(rate, rate / 2);
    const feed = (pieces: readonly number[]) => {
      const concealer = new PitchConcealer(rate);
      concealer.received(samples.slice());
      return pieces.flatMap((length) => {
        const out = new Int16Array(length);
        concealer.conceal(out);
        return [...out];
      });
    };
    expect(feed([7, 93, frame, 1, frame - 101])).toEqual(feed([2 * frame]));
  });

  it('is silent before any speech', () => {
    const out = new Int16Array(frame).fill(5);
    new PitchConcealer(rate).conceal(out);
    expect(rootMeanSquare(out)).toBe(0);
  });
});

describe('codec concealment', () => {
  it('conceals any number of samples in steps of the codec', () => {
    const codec = createOpus().open();
    const packet = new Uint8Array(1275);
    const samples = tone(16_000, 200, 3200);
    for (let at = 0; at < samples.length; at += 320) {
      const length = codec.encode(samples.subarray(at, at + 320), packet);
      codec.decode(packet.subarray(0, length), new Int16Array(320));
    }
    const concealer = createCodecConcealer(codec);
    const guess = new Int16Array(250);
    concealer?.conceal(guess.subarray(0, 37));
    concealer?.conceal(guess.subarray(37));
    expect(rootMeanSquare(guess)).toBeGreaterThan(2000);
    const steps = [...guess.keys()].slice(1).map((n) => Math.abs((guess[n] ?? 0) - (guess[n - 1] ?? 0)));
    expect(Math.max(...steps)).toBeLessThan(3000);
  });

  it('is undefined for a codec without concealment', () => {
    expect(createCodecConcealer(pcmu.open())).toBeUndefined();
  });
});
