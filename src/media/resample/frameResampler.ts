import { FRAME_MS } from '../codecs/codec.ts';
import { createResampler, type SampleRateHz } from './resampler.ts';

/** Changes the rate of a stream of 20 ms frames. */
export interface FrameResampler {
  readonly inputRateHz: SampleRateHz;
  readonly outputRateHz: SampleRateHz;
  /**
   * @param frame - A frame of 20 ms.
   * @returns 20 ms at the other rate, valid until the next call; the frame itself when the rates are equal.
   */
  process(frame: Int16Array): Int16Array;
}

export function createFrameResampler(inputRateHz: SampleRateHz, outputRateHz: SampleRateHz): FrameResampler {
  if (inputRateHz === outputRateHz) return { inputRateHz, outputRateHz, process: (frame) => frame };
  const resampler = createResampler(inputRateHz, outputRateHz, frameLength(inputRateHz));
  const output = new Int16Array(frameLength(outputRateHz));
  return {
    inputRateHz,
    outputRateHz,
    process(frame) {
      // All rates are multiples of 8 kHz, so that 20 ms give exactly 20 ms.
      resampler.process(frame, output);
      return output;
    },
  };
}

/**
 * Returns a resampler for a stream whose rates may change. @param current - The current one, which is kept while it
 * fits.
 */
export function resamplerBetween(
  inputRateHz: SampleRateHz,
  outputRateHz: SampleRateHz,
  current: FrameResampler | undefined,
): FrameResampler {
  if (current?.inputRateHz === inputRateHz && current.outputRateHz === outputRateHz) return current;
  return createFrameResampler(inputRateHz, outputRateHz);
}

/** Returns the number of samples in 20 ms. */
export function frameLength(rateHz: number): number {
  return (rateHz * FRAME_MS) / 1000;
}
