import type { StreamingTextToSpeech } from '../../models/ports/streamingTextToSpeech.ts';
import type { TextToSpeechOptions } from '../../models/providerOptions.ts';
import { vendorSynthesizerDeps } from '../../models/synthesis/socketSynthesizer.ts';
import { foundBy, type VoiceLookup } from '../../models/voiceLookup.ts';
import { createElevenLabsTextToSpeech } from './textToSpeech.ts';

const BASE_URL = 'https://api.elevenlabs.io';

export function createTextToSpeech(options: TextToSpeechOptions): StreamingTextToSpeech {
  return createElevenLabsTextToSpeech(vendorSynthesizerDeps(options, BASE_URL));
}

/** @see https://elevenlabs.io/docs/api-reference/voices/get */
export const lookUpVoice: VoiceLookup = async ({ apiKey = '', baseUrl = BASE_URL }, voice, ask) => {
  const url = new URL(`/v1/voices/${encodeURIComponent(voice)}`, baseUrl);
  return foundBy(await ask(url.href, { 'xi-api-key': apiKey }));
};
