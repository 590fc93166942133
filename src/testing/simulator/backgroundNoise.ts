import { createRandom } from './random.ts';

export type NoiseKind = 'street' | 'office' | 'babble';

/** The loop's length: longer than one notices a repetition in a noise. */
const LOOP_SECONDS = 6;
const TALKERS = 8;
/** The rate of keystrokes in an office. */
const KEYSTROKES_PER_SECOND = 6;
const KEYSTROKE_SECONDS = 0.006;

type Sound = (sample: number) => number;

/**
 * Background noise as a loop, with a root mean square of 1; the same seed gives the same samples.
 *
 * @param speech - Recorded voices at this rate, which are mixed into a babble.
 */
export function backgroundNoise(
  kind: NoiseKind,
  seed: number,
  sampleRateHz: number,
  speech: readonly Int16Array[],
): Float32Array {
  const random = createRandom(seed);
  const sound = SOUNDS[kind](random, sampleRateHz, speech);
  const loop = Float32Array.from({ length: LOOP_SECONDS * sampleRateHz }, (_, sample) => sound(sample));
  let energy = 0;
  for (const value of loop) energy += value * value;
  const gain = 1 / Math.sqrt(energy / loop.length || 1);
  return loop.map((value) => value * gain);
}

const SOUNDS: Readonly<
  Record<NoiseKind, (random: () => number, rateHz: number, speech: readonly Int16Array[]) => Sound>
> = {
  /** A rumble, and a car that passes every three seconds. */
  street(random, rateHz) {
    const rumble = lowPassed(random, 1 - 240 / rateHz);
    const firstCarSeconds = 3 * random();
    return (sample) => {
      const fromCar = ((sample / rateHz + firstCarSeconds) % 3) - 1.5;
      return rumble() * (1 + 3 * Math.exp(-(fromCar ** 2) / 0.8));
    };
  },
  /** Air, the mains' hum, and keystrokes. */
  office(random, rateHz) {
    const air = lowPassed(random, 1 - 2400 / rateHz);
    let keystroke = 0;
    const decay = Math.exp(-1 / (KEYSTROKE_SECONDS * rateHz));
    return (sample) => {
      keystroke = random() < KEYSTROKES_PER_SECOND / rateHz ? 8 : keystroke * decay;
      const hum = 0.3 * Math.sin((2 * Math.PI * 100 * sample) / rateHz);
      return air() + hum + keystroke * gaussian(random);
    };
  },
  /** Several people who talk at once. */
  babble(random, _rateHz, speech) {
    const talkers = Array.from({ length: TALKERS }, (_, talker) => {
      const words = speech[talker % Math.max(1, speech.length)] ?? new Int16Array(1);
      return { words, from: random() * words.length, pace: 0.85 + 0.3 * random() };
    });
    return (sample) => {
      let sum = 0;
      for (const { words, from, pace } of talkers)
        sum += words[Math.floor(from + sample * pace) % words.length] ?? 0;
      return sum;
    };
  },
};

/** White noise through a first-order filter. */
function lowPassed(random: () => number, kept: number): () => number {
  let last = 0;
  return () => {
    last = kept * last + gaussian(random);
    return last;
  };
}

function gaussian(random: () => number): number {
  return Math.sqrt(-2 * Math.log(random() + 1e-12)) * Math.cos(2 * Math.PI * random());
}
