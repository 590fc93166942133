import loadRnnoise, { type RnnoiseModule } from '@echogarden/rnnoise-wasm';

import { createResampler, isSampleRate, type SampleRateHz } from '../../media/resample/resampler.ts';
import {
  VAD_FRAME_MS,
  type VoiceActivityDetection,
  type VoiceActivityDetector,
} from '../ports/voiceActivity.ts';

/** The network's sample rate and frame, 10 ms. */
const NETWORK_RATE_HZ = 48_000;
const NETWORK_FRAME = NETWORK_RATE_HZ / 100;
const SPEECH_PROBABILITY = 0.5;
/** The network also gets the pauses between words, for context. */
const HANGOVER_FRAMES = 300 / VAD_FRAME_MS;

/**
 * Confirms another detector's speech by a recurrent neural network, RNNoise as WebAssembly, which rejects traffic, music
 * on hold and most background speech. It detects the start of speech up to 60 ms later, and costs 0.5 to 0.8 ms per frame
 * of the first detector's speech and of the 300 ms after it.
 *
 * @throws {Error} When the module cannot be loaded.
 * @see Valin, A Hybrid DSP/Deep Learning Approach to Real-Time Full-Band Speech Enhancement (2018)
 */
export async function createRnnoiseVad(first: VoiceActivityDetection): Promise<VoiceActivityDetection> {
  const module = await loadRnnoise();
  return {
    open(sampleRateHz) {
      const detector = first.open(sampleRateHz);
      if (!isSampleRate(sampleRateHz)) throw new RangeError(`no resampler for ${sampleRateHz} Hz`);
      return openDetector(module, detector, sampleRateHz);
    },
  };
}

function openDetector(
  module: RnnoiseModule,
  first: VoiceActivityDetector,
  sampleRateHz: SampleRateHz,
): VoiceActivityDetector {
  const frameLength = (sampleRateHz * VAD_FRAME_MS) / 1000;
  const network = openNetwork(module, sampleRateHz, frameLength);
  let hangoverFrames = 0;
  return {
    isSpeech(frame) {
      const isLikeSpeech = first.isSpeech(frame);
      hangoverFrames = isLikeSpeech ? HANGOVER_FRAMES : hangoverFrames - 1;
      if (hangoverFrames <= 0 || frame.length !== frameLength) return false;
      const likelihood = network.process(frame);
      return isLikeSpeech && likelihood > SPEECH_PROBABILITY;
    },
    reclassifiedNoiseMs: () => first.reclassifiedNoiseMs?.() ?? 0,
    close() {
      first.close();
      network.close();
    },
  };
}

/** The network's state for one stream. */
function openNetwork(module: RnnoiseModule, sampleRateHz: SampleRateHz, frameLength: number) {
  const state = module._rnnoise_create(0);
  const pieceAt = module._malloc(NETWORK_FRAME * Float32Array.BYTES_PER_ELEMENT);
  const resampler = createResampler(sampleRateHz, NETWORK_RATE_HZ, frameLength);
  const resampled = new Int16Array(resampler.maxOutput(frameLength));
  const piece = new Float32Array(NETWORK_FRAME);
  let filled = 0;
  let isOpen = true;
  return {
    /** @returns Probability of speech, 0 to 1. */
    process(frame: Int16Array): number {
      if (!isOpen) return 0;
      let highest = 0;
      const count = resampler.process(frame, resampled);
      for (let n = 0; n < count; n++) {
        piece[filled++] = resampled[n] ?? 0;
        if (filled < NETWORK_FRAME) continue;
        filled = 0;
        module.HEAPF32.set(piece, pieceAt / Float32Array.BYTES_PER_ELEMENT);
        highest = Math.max(highest, module._rnnoise_process_frame(state, pieceAt, pieceAt));
      }
      return highest;
    },
    close(): void {
      if (!isOpen) return;
      isOpen = false;
      module._free(pieceAt);
      module._rnnoise_destroy(state);
    },
  };
}
