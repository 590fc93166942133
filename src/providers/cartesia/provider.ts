import type { StreamingTextToSpeech } from '../ports/streamingTextToSpeech.ts';
import type { TextToSpeechOptions } from '../providerOptions.ts';
import { vendorSynthesizerDeps } from '../synthesis/socketSynthesizer.ts';
import { createCartesiaTextToSpeech } from './textToSpeech.ts';

const BASE_URL = 'https://api.cartesia.ai';

export function createTextToSpeech(options: TextToSpeechOptions): StreamingTextToSpeech {
  return createCartesiaTextToSpeech(vendorSynthesizerDeps(options, BASE_URL));
}
