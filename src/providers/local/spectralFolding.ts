import { createResampler } from '../../media/resample/resampler.ts';

/** What the recogniser's acoustic model was trained on. */
export const RECOGNISER_RATE_HZ = 16_000;
/** How loud the mirrored band stands beside the real one. */
const IMAGE_GAIN = 0.5;

/** Brings a stream to the recogniser's rate; give it the chunks in order. */
export interface RecogniserFeed {
  /** @returns An array of its own. */
  convert(samples: Int16Array): Int16Array;
}

/**
 * Telephone audio has nothing above 4 kHz, and a model that was trained on wideband takes that for other sounds. So
 * the empty band is filled with the mirror image of the lower one: every other sample is made louder and the rest
 * softer, which is modulation by half the sampling rate.
 *
 * @param sampleRateHz - 8000, 16000 or 24000; only 8000 is folded.
 */
export function createRecogniserFeed(sampleRateHz: number, maxInput: number): RecogniserFeed {
  if (sampleRateHz === RECOGNISER_RATE_HZ) return { convert: (samples) => Int16Array.from(samples) };
  const inputRateHz = sampleRateHz === 24_000 ? 24_000 : 8000;
  const resampler = createResampler(inputRateHz, RECOGNISER_RATE_HZ, maxInput);
  const output = new Int16Array(resampler.maxOutput(maxInput));
  let isOdd = false;
  const convertPiece = (samples: Int16Array) => {
    const count = resampler.process(samples, output);
    if (inputRateHz === 24_000) return;
    for (let n = 0; n < count; n++, isOdd = !isOdd) {
      const gain = isOdd ? 1 + IMAGE_GAIN : 1 - IMAGE_GAIN;
      output[n] = Math.max(-32_768, Math.min(32_767, Math.round((output[n] ?? 0) * gain)));
    }
  };
  return {
    convert(samples) {
      const pieces: number[] = [];
      for (let at = 0; at < samples.length; at += maxInput) {
        const piece = samples.subarray(at, at + maxInput);
        convertPiece(piece);
        const length = (piece.length * RECOGNISER_RATE_HZ) / inputRateHz;
        for (let n = 0; n < length; n++) pieces.push(output[n] ?? 0);
      }
      return Int16Array.from(pieces);
    },
  };
}
