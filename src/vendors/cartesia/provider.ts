import type { StreamingTextToSpeech } from '../../models/ports/streamingTextToSpeech.ts';
import type { TextToSpeechOptions } from '../../models/providerOptions.ts';
import { vendorSynthesizerDeps } from '../../models/synthesis/socketSynthesizer.ts';
import { foundBy, type VoiceLookup } from '../../models/voiceLookup.ts';
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
