import loadRnnoise, { type RnnoiseModule } from '@echogarden/rnnoise-wasm';

import { isSampleRate, type SampleRateHz } from '../../media/resample/resampler.ts';
import {
  VAD_FRAME_MS,
  type VoiceActivityDetection,
  type VoiceActivityDetector,
} from '../../models/ports/voiceActivity.ts';
import { openRnnoiseNetwork } from './rnnoiseNetwork.ts';

const SPEECH_PROBABILITY = 0.5;
/** The network also gets the pauses between words, for context. */
const HANGOVER_FRAMES = 300 / VAD_FRAME_MS;

/**
 * Confirms another detector's speech by a recurrent neural network, RNNoise as WebAssembly, which rejects traffic, music
 * on hold and most background speech. It detects the start of speech up to 60 ms later, and costs 0.5 to 0.8 ms per frame
 * of the first detector's speech and of the 300 ms after it.
 *
 * @throws {Error} When the module cannot be loaded.
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
  const network = openRnnoiseNetwork(module, sampleRateHz, frameLength);
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
