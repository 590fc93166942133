import loadRnnoise, { type RnnoiseModule } from '@echogarden/rnnoise-wasm';
import { createResampler, isSampleRate, type SampleRateHz } from '../../media/resample/resampler.ts';
import type { NoiseSuppression, NoiseSuppressor } from '../../models/ports/noiseSuppression.ts';
import { VAD_FRAME_MS } from '../../models/ports/voiceActivity.ts';
import { NETWORK_FRAME, NETWORK_RATE_HZ, openRnnoiseNetwork } from './rnnoiseNetwork.ts';

const [LOWEST, HIGHEST] = [-32_768, 32_767];

/**
 * Noise suppression by RNNoise as WebAssembly: 0.5 to 0.8 ms of CPU per 20 ms of audio.
 *
 * @param keptNoise - The share of the original that stays. Soft consonants are lost with the noise.
 */
export function createRnnoiseSuppression(keptNoise = 0): NoiseSuppression {
  let loading: Promise<RnnoiseModule> | undefined;
  return {
    async open(sampleRateHz) {
      if (!isSampleRate(sampleRateHz)) throw new RangeError(`no resampler for ${sampleRateHz} Hz`);
      loading ??= loadRnnoise();
      return openSuppressor(await loading, sampleRateHz, keptNoise);
    },
  };
}

function openSuppressor(
  module: RnnoiseModule,
  sampleRateHz: SampleRateHz,
  keptNoise: number,
): NoiseSuppressor {
  const frameLength = (sampleRateHz * VAD_FRAME_MS) / 1000;
  const resampler = createResampler(NETWORK_RATE_HZ, sampleRateHz, NETWORK_FRAME);
  const piece = new Int16Array(NETWORK_FRAME);
  const resampled = new Int16Array(resampler.maxOutput(NETWORK_FRAME));
  const cleaned = new Int16Array(frameLength);
  // The filters and the network hold back less than a frame.
  const waiting = new Int16Array(3 * frameLength);
  let count = frameLength;
  const network = openRnnoiseNetwork(module, sampleRateHz, frameLength, (samples, original) => {
    for (let n = 0; n < NETWORK_FRAME; n++) {
      const mixed = (1 - keptNoise) * (samples[n] ?? 0) + keptNoise * (original[n] ?? 0);
      piece[n] = Math.max(LOWEST, Math.min(HIGHEST, Math.round(mixed)));
    }
    const length = resampler.process(piece, resampled);
    waiting.set(resampled.subarray(0, length), count);
    count += length;
  });
  return {
    process(frame) {
      network.process(frame);
      cleaned.set(waiting.subarray(0, frameLength));
      waiting.copyWithin(0, frameLength, count);
      count = Math.max(0, count - frameLength);
      return cleaned;
    },
    close: network.close,
  };
}
