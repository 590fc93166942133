import type { StreamingTextToSpeech } from '../ports/streamingTextToSpeech.ts';
import type { TextToSpeechOptions } from '../providerOptions.ts';
import { vendorSynthesizerDeps } from '../synthesis/socketSynthesizer.ts';
import { createElevenLabsTextToSpeech } from './textToSpeech.ts';

const BASE_URL = 'https://api.elevenlabs.io';

export function createTextToSpeech(options: TextToSpeechOptions): StreamingTextToSpeech {
  return createElevenLabsTextToSpeech(vendorSynthesizerDeps(options, BASE_URL));
}
