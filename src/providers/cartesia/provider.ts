import type { StreamingTextToSpeech } from '../ports/streamingTextToSpeech.ts';
import type { TextToSpeechOptions } from '../providerOptions.ts';
import { foundBy, type VoiceLookup } from '../selection/voiceLookup.ts';
import { vendorSynthesizerDeps } from '../synthesis/socketSynthesizer.ts';
import { API_VERSION, createCartesiaTextToSpeech } from './textToSpeech.ts';

const BASE_URL = 'https://api.cartesia.ai';

export function createTextToSpeech(options: TextToSpeechOptions): StreamingTextToSpeech {
  return createCartesiaTextToSpeech(vendorSynthesizerDeps(options, BASE_URL));
}

/** @see https://docs.cartesia.ai/api-reference/voices/get */
export const lookUpVoice: VoiceLookup = async ({ apiKey = '', baseUrl = BASE_URL }, voice, ask) => {
  const url = new URL(`/voices/${encodeURIComponent(voice)}`, baseUrl);
  return foundBy(await ask(url.href, { 'x-api-key': apiKey, 'cartesia-version': API_VERSION }));
};
