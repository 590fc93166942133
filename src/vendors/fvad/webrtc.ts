import loadFvad, { type FvadModule } from '@echogarden/fvad-wasm';
import { createResampler } from '../../media/resample/resampler.ts';
import {
  VAD_FRAME_MS,
  type VoiceActivityDetection,
  type VoiceActivityDetector,
} from '../../models/ports/voiceActivity.ts';
import { createNoiseFloor } from './noiseFloor.ts';

/** The mode from 0 to 3 whose results on telephone audio are closest to a neural detector's. */
const AGGRESSIVENESS = 2;
/** Root mean square of the quietest speech, -56 dBFS; quieter sound is line noise or comfort noise. */
const MIN_SPEECH_LEVEL = 50;
const SUPPORTED_RATES_HZ: readonly number[] = [8000, 16_000];
/** Other rates are resampled to this one; the detector uses only the telephone band. */
const REDUCED_RATE_HZ = 8000;

/**
 * WebRTC's voice activity detector as WebAssembly, about 8 µs per frame. It mistakes loud hiss and hum for speech (white
 * noise at -30 dBFS in 60 of 100 frames), so that speech must also exceed the noise floor.
 *
 * @throws {Error} When the module cannot be loaded.
 */
export async function createWebrtcVad(): Promise<VoiceActivityDetection> {
  const module = await loadFvad();
  return {
    open(sampleRateHz) {
      if (SUPPORTED_RATES_HZ.includes(sampleRateHz)) return openDetector(module, sampleRateHz);
      if (sampleRateHz === 24_000) return reduced(openDetector(module, REDUCED_RATE_HZ));
      throw new RangeError(`voice activity detection supports 8000, 16000 and 24000 Hz, not ${sampleRateHz}`);
    },
  };
}

function openDetector(module: FvadModule, sampleRateHz: number): VoiceActivityDetector {
  const frameLength = (sampleRateHz * VAD_FRAME_MS) / 1000;
  const handle = module._fvad_new();
  const frameAt = module._malloc(frameLength * Int16Array.BYTES_PER_ELEMENT);
  const noise = createNoiseFloor(sampleRateHz);
  module._fvad_set_sample_rate(handle, sampleRateHz);
  module._fvad_set_mode(handle, AGGRESSIVENESS);
  let isOpen = true;
  return {
    isSpeech(frame) {
      if (!isOpen || frame.length !== frameLength) return false;
      noise.push(frame);
      module.HEAP16.set(frame, frameAt / Int16Array.BYTES_PER_ELEMENT);
      // Both adapt to every frame.
      const isLikeSpeech = module._fvad_process(handle, frameAt, frameLength) === 1;
      return isLikeSpeech && power(frame) >= MIN_SPEECH_LEVEL ** 2 && noise.isExceeded();
    },
    reclassifiedNoiseMs: () => noise.certainMs(),
    close() {
      if (!isOpen) return;
      isOpen = false;
      module._free(frameAt);
      module._fvad_free(handle);
    },
  };
}

function reduced(detector: VoiceActivityDetector): VoiceActivityDetector {
  const frameLength = (24_000 * VAD_FRAME_MS) / 1000;
  const resampler = createResampler(24_000, REDUCED_RATE_HZ, frameLength);
  const frame = new Int16Array(resampler.maxOutput(frameLength));
  return {
    isSpeech(samples) {
      if (samples.length !== frameLength) return false;
      const count = resampler.process(samples, frame);
      return detector.isSpeech(frame.subarray(0, count));
    },
    reclassifiedNoiseMs: () => detector.reclassifiedNoiseMs?.() ?? 0,
    close: () => detector.close(),
  };
}

function power(frame: Int16Array): number {
  let sum = 0;
  for (let n = 0; n < frame.length; n++) {
    const sample = frame[n] ?? 0;
    sum += sample * sample;
  }
  return sum / frame.length;
}
