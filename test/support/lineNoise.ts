import { createRandom, rootMeanSquare } from '../media/support/signals.ts';

const RATE_HZ = 8000;

/** Background noise of a phone line. */
export type LineNoise = 'white' | 'pink' | 'hum' | 'fan' | 'street' | 'babble';

/** Noise at 8000 Hz with this root mean square. @param voices - Recorded speech, mixed into `babble`. */
export function lineNoise(kind: LineNoise, { rms, samples, seed, voices = [] }: NoiseOptions): Int16Array {
  const random = createRandom(seed);
  const sound = kind === 'babble' ? babble(voices, random) : makers[kind](random);
  return atLevel(
    Float64Array.from({ length: samples }, (_, n) => sound(n)),
    rms,
  );
}

export interface NoiseOptions {
  readonly rms: number;
  readonly samples: number;
  readonly seed: number;
  readonly voices?: readonly Int16Array[];
}

/** The samples scaled to this root mean square. */
export function atLevel(samples: ArrayLike<number>, rms: number): Int16Array {
  let sum = 0;
  for (let n = 0; n < samples.length; n++) sum += (samples[n] ?? 0) ** 2;
  const gain = rms / Math.sqrt(sum / samples.length || 1);
  return Int16Array.from({ length: samples.length }, (_, n) =>
    Math.max(-32_768, Math.min(32_767, Math.round((samples[n] ?? 0) * gain))),
  );
}

type Sound = (n: number) => number;

function gaussian(random: () => number): number {
  return Math.sqrt(-2 * Math.log(random() + 1e-12)) * Math.cos(2 * Math.PI * random());
}

/** White noise through a first-order low-pass filter. */
function lowPassed(random: () => number, kept: number): Sound {
  let last = 0;
  return () => {
    last = kept * last + gaussian(random);
    return last;
  };
}

function sine(hz: number, n: number): number {
  return Math.sin((2 * Math.PI * hz * n) / RATE_HZ);
}

const makers: Readonly<Record<Exclude<LineNoise, 'babble'>, (random: () => number) => Sound>> = {
  white: (random) => () => gaussian(random),
  /** Three low-pass filters: approximately 3 dB less per octave. */
  pink(random) {
    const slow = lowPassed(random, 0.998);
    const middle = lowPassed(random, 0.96);
    const fast = lowPassed(random, 0.6);
    return (n) => 0.06 * slow(n) + 0.15 * middle(n) + 0.4 * fast(n) + 0.3 * gaussian(random);
  },
  /** 50 Hz and its odd harmonics. */
  hum: (random) => (n) =>
    sine(50, n) + 0.6 * sine(150, n + 7) + 0.3 * sine(250, n + 3) + 0.02 * gaussian(random),
  /** Air noise, modulated at the speed of the blades. */
  fan(random) {
    const rush = lowPassed(random, 0.9);
    return (n) => rush(n) * (1 + 0.25 * sine(9, n)) + 0.8 * sine(118, n);
  },
  /** A rumble, and a passing car every three seconds. */
  street(random) {
    const rumble = lowPassed(random, 0.97);
    return (n) => rumble(n) * (1 + 3 * Math.exp(-((((n / RATE_HZ) % 3) - 1.5) ** 2) / 0.8));
  },
};

/** Sixteen simultaneous voices, each with its own offset and pitch. */
function babble(voices: readonly Int16Array[], random: () => number): Sound {
  const people = Array.from({ length: 16 }, (_, index) => {
    const words = voices[index % voices.length] ?? new Int16Array(1);
    return { words, from: random() * words.length, speed: 0.85 + 0.3 * random() };
  });
  return (n) => {
    let sum = 0;
    for (const { words, from, speed } of people)
      sum += words[Math.floor(from + n * speed) % words.length] ?? 0;
    return sum;
  };
}

const ORDER = 12;
const FRAME = 160;

/** Whispered speech: the excitation is replaced by noise, filtered by the same vocal tract. @see Markel and Gray, Linear Prediction of Speech */
export function whispered(speech: Int16Array, rms: number, seed = 1): Int16Array {
  const random = createRandom(seed);
  const memory = new Float64Array(ORDER);
  const out = new Float64Array(speech.length);
  for (let from = 0; from + FRAME <= speech.length; from += FRAME) {
    const frame = speech.subarray(from, from + FRAME);
    if (rootMeanSquare(frame) < 1) continue;
    const { coefficients, gain } = mouthOf(frame);
    for (let n = 0; n < FRAME; n++) {
      let sample = gain * gaussian(random);
      for (let k = 0; k < ORDER; k++) sample -= (coefficients[k + 1] ?? 0) * (memory[k] ?? 0);
      memory.copyWithin(1, 0);
      memory[0] = sample;
      out[from + n] = sample;
    }
  }
  // Whispering has little energy below 500 Hz.
  for (let n = out.length - 1; n > 0; n--) out[n] = (out[n] ?? 0) - 0.7 * (out[n - 1] ?? 0);
  return atLevel(out, rms);
}

/** Linear prediction by the Levinson-Durbin recursion. */
function mouthOf(frame: Int16Array): { readonly coefficients: readonly number[]; readonly gain: number } {
  const lags = Array.from({ length: ORDER + 1 }, (_, lag) => {
    let sum = 0;
    for (let n = lag; n < FRAME; n++) sum += windowed(frame, n) * windowed(frame, n - lag);
    return sum;
  });
  let error = (lags[0] ?? 0) * 1.001 + 1;
  let coefficients = [1];
  for (let order = 1; order <= ORDER; order++) {
    const match = coefficients.reduce((sum, value, n) => sum + value * (lags[order - n] ?? 0), 0);
    const reflection = -match / error;
    const longer = [...coefficients, 0];
    coefficients = longer.map((value, n) => value + reflection * (longer[order - n] ?? 0));
    error *= 1 - reflection * reflection;
  }
  return { coefficients, gain: Math.sqrt(error / FRAME) };
}

function windowed(frame: Int16Array, n: number): number {
  return (frame[n] ?? 0) * (0.5 - 0.5 * Math.cos((2 * Math.PI * n) / (FRAME - 1)));
}
