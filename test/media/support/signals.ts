/** Deterministic signals and measures of the media tests. */

/** Reproducible random numbers from 0 to 1: a 32-bit xorshift. */
export function createRandom(seed: number): () => number {
  let state = seed | 0 || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}

/** A sine of `amplitude`, starting at phase 0. */
export function tone(
  sampleRateHz: number,
  frequencyHz: number,
  count: number,
  amplitude = 10_000,
): Int16Array {
  return Int16Array.from({ length: count }, (_, n) =>
    Math.round(amplitude * Math.sin((2 * Math.PI * frequencyHz * n) / sampleRateHz)),
  );
}

/** A synthetic voice: gliding pitch with falling harmonics, in syllables with short pauses. */
export function voiced(sampleRateHz: number, count: number, pitchHz = 120): Int16Array {
  const out = new Int16Array(count);
  let phase = 0;
  for (let n = 0; n < count; n++) {
    const seconds = n / sampleRateHz;
    phase += (2 * Math.PI * pitchHz * (1 + 0.1 * Math.sin(2 * Math.PI * 0.7 * seconds))) / sampleRateHz;
    let sum = 0;
    for (let harmonic = 1; harmonic <= 12; harmonic++) sum += Math.sin(harmonic * phase) / harmonic ** 1.2;
    const syllable = Math.max(0, Math.sin(2 * Math.PI * 1.9 * seconds)) ** 0.5;
    out[n] = Math.round(6000 * sum * syllable);
  }
  return out;
}

/** Power of a sine of `frequencyHz` within the samples, in units of squared amplitude (a Goertzel filter). */
export function tonePower(samples: Int16Array, sampleRateHz: number, frequencyHz: number): number {
  const omega = (2 * Math.PI * frequencyHz) / sampleRateHz;
  const window = (n: number) => 0.5 - 0.5 * Math.cos((2 * Math.PI * n) / samples.length);
  let re = 0;
  let im = 0;
  for (let n = 0; n < samples.length; n++) {
    const value = (samples[n] ?? 0) * window(n);
    re += value * Math.cos(omega * n);
    im += value * Math.sin(omega * n);
  }
  return (re * re + im * im) * (4 / samples.length) ** 2;
}

export function rootMeanSquare(samples: Int16Array): number {
  let sum = 0;
  for (const sample of samples) sum += sample * sample;
  return Math.sqrt(sum / samples.length);
}

/** Mean over frames of the signal to noise ratio in dB, each clamped to -10..35 as usual, without silent frames. */
export function segmentalSnrDb(reference: Int16Array, actual: Int16Array, frame: number): number {
  let sum = 0;
  let frames = 0;
  for (let start = 0; start + frame <= reference.length; start += frame) {
    let signal = 0;
    let noise = 0;
    for (let n = start; n < start + frame; n++) {
      const error = (reference[n] ?? 0) - (actual[n] ?? 0);
      signal += (reference[n] ?? 0) ** 2;
      noise += error * error;
    }
    if (signal < frame * 100 ** 2) continue;
    sum += Math.max(-10, Math.min(35, 10 * Math.log10(signal / (noise + 1))));
    frames++;
  }
  return sum / frames;
}

/** The tone's share of the signal's power, 0..1. */
export function toneShare(samples: Int16Array, rateHz: number, frequencyHz: number): number {
  return tonePower(samples, rateHz, frequencyHz) / (2 * rootMeanSquare(samples) ** 2);
}
