import loadRnnoise, { type RnnoiseModule } from '@echogarden/rnnoise-wasm';

import { createResampler, isSampleRate, type SampleRateHz } from '../../media/resample/resampler.ts';
import {
  VAD_FRAME_MS,
  type VoiceActivityDetection,
  type VoiceActivityDetector,
} from '../ports/voiceActivity.ts';

/** What the network was taught with: its rate, and its 10 ms. */
const NETWORK_RATE_HZ = 48_000;
const NETWORK_FRAME = NETWORK_RATE_HZ / 100;
const LIKELY = 0.5;
/** A pause between words is listened to, so that the network knows what stands around the next one. */
const LISTENS_ON_FRAMES = 300 / VAD_FRAME_MS;

/**
 * A second opinion of a recurrent neural network, RNNoise as WebAssembly, on what another detector takes for speech:
 * traffic, music on hold and most of the talk behind a caller are none to it. The beginning of speech is known as soon,
 * or 20 to 60 ms later. It costs 0.5 to 0.8 ms for each frame that it looks at, which are those that the first takes
 * for speech and the 300 ms after them.
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
  let listensOn = 0;
  return {
    isSpeech(frame) {
      const isLikeSpeech = first.isSpeech(frame);
      listensOn = isLikeSpeech ? LISTENS_ON_FRAMES : listensOn - 1;
      if (listensOn <= 0 || frame.length !== frameLength) return false;
      const likelihood = network.hear(frame);
      return isLikeSpeech && likelihood > LIKELY;
    },
    reclassifiedNoiseMs: () => first.reclassifiedNoiseMs?.() ?? 0,
    close() {
      first.close();
      network.close();
    },
  };
}

/** The network's state for one stream, which it takes piece by piece. */
function openNetwork(module: RnnoiseModule, sampleRateHz: SampleRateHz, frameLength: number) {
  const state = module._rnnoise_create(0);
  const pieceAt = module._malloc(NETWORK_FRAME * Float32Array.BYTES_PER_ELEMENT);
  const resampler = createResampler(sampleRateHz, NETWORK_RATE_HZ, frameLength);
  const resampled = new Int16Array(resampler.maxOutput(frameLength));
  const piece = new Float32Array(NETWORK_FRAME);
  let filled = 0;
  let isOpen = true;
  return {
    /** @returns How likely there is speech in the frame, 0 to 1. */
    hear(frame: Int16Array): number {
      if (!isOpen) return 0;
      let likeliest = 0;
      const count = resampler.process(frame, resampled);
      for (let n = 0; n < count; n++) {
        piece[filled++] = resampled[n] ?? 0;
        if (filled < NETWORK_FRAME) continue;
        filled = 0;
        module.HEAPF32.set(piece, pieceAt / Float32Array.BYTES_PER_ELEMENT);
        likeliest = Math.max(likeliest, module._rnnoise_process_frame(state, pieceAt, pieceAt));
      }
      return likeliest;
    },
    close(): void {
      if (!isOpen) return;
      isOpen = false;
      module._free(pieceAt);
      module._rnnoise_destroy(state);
    },
  };
}
