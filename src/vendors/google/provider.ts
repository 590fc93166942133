import { requireCredentials } from '../../models/ports/modelError.ts';
import type { SpeechToSpeech } from '../../models/ports/speechToSpeech.ts';
import type { SpeechToSpeechOptions } from '../../models/providerOptions.ts';
import { createDial } from '../../models/sockets/dial.ts';
import { createLiveSpeech } from './liveSpeech.ts';

const BASE_URL = 'https://generativelanguage.googleapis.com';
const MODEL = 'gemini-3.8-live';

/** @throws {ModelError} When there is neither a key nor an address. */
export function createSpeechToSpeech({
  credentials: { apiKey, baseUrl },
  model = MODEL,
  voice,
  guard,
  clock,
}: SpeechToSpeechOptions): SpeechToSpeech {
  requireCredentials('gemini-live', apiKey ?? baseUrl);
  return createLiveSpeech({
    baseUrl: baseUrl ?? BASE_URL,
    apiKey,
    model,
    voice,
    clock,
    dial: createDial(guard),
  });
}
