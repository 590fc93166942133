import type { RnnoiseModule } from '@echogarden/rnnoise-wasm';
import { createResampler, type SampleRateHz } from '../../media/resample/resampler.ts';

/** The network's sample rate and frame, 10 ms. */
export const NETWORK_RATE_HZ = 48_000;
export const NETWORK_FRAME = NETWORK_RATE_HZ / 100;

/** RNNoise's state for one stream. */
export interface RnnoiseNetwork {
  /** @returns Probability of speech, 0 to 1. */
  process(frame: Int16Array): number;
  close(): void;
}

/**
 * @param onCleaned - Gets each 10 ms without noise, and as it was, at the network's rate and in the range of 16 bits; both
 *   valid during the call only.
 * @see Valin, A Hybrid DSP/Deep Learning Approach to Real-Time Full-Band Speech Enhancement (2018)
 */
export function openRnnoiseNetwork(
  module: RnnoiseModule,
  sampleRateHz: SampleRateHz,
  frameLength: number,
  onCleaned: (samples: Float32Array, original: Float32Array) => void = () => undefined,
): RnnoiseNetwork {
  const state = module._rnnoise_create(0);
  const pieceAt = module._malloc(NETWORK_FRAME * Float32Array.BYTES_PER_ELEMENT);
  const pieceIndex = pieceAt / Float32Array.BYTES_PER_ELEMENT;
  const resampler = createResampler(sampleRateHz, NETWORK_RATE_HZ, frameLength);
  const resampled = new Int16Array(resampler.maxOutput(frameLength));
  const piece = new Float32Array(NETWORK_FRAME);
  /** The network's result is that of the piece before. */
  const before = new Float32Array(NETWORK_FRAME);
  let filled = 0;
  let isOpen = true;
  return {
    process(frame) {
      if (!isOpen) return 0;
      let highest = 0;
      const count = resampler.process(frame, resampled);
      for (let n = 0; n < count; n++) {
        piece[filled++] = resampled[n] ?? 0;
        if (filled < NETWORK_FRAME) continue;
        filled = 0;
        module.HEAPF32.set(piece, pieceIndex);
        highest = Math.max(highest, module._rnnoise_process_frame(state, pieceAt, pieceAt));
        onCleaned(module.HEAPF32.subarray(pieceIndex, pieceIndex + NETWORK_FRAME), before);
        before.set(piece);
      }
      return highest;
    },
    close() {
      if (!isOpen) return;
      isOpen = false;
      module._free(pieceAt);
      module._rnnoise_destroy(state);
    },
  };
}
