import type { StreamingSpeechToText } from '../../models/ports/streamingSpeechToText.ts';
import type { StreamingTextToSpeech } from '../../models/ports/streamingTextToSpeech.ts';
import type { SpeechToTextOptions, TextToSpeechOptions } from '../../models/providerOptions.ts';
import { createDial } from '../../models/sockets/dial.ts';
import { createCustomSpeechToText } from './speechToText.ts';
import { createCustomTextToSpeech } from './textToSpeech.ts';

export function createSpeechToText({
  credentials,
  model,
  options,
  clock,
  guard,
}: SpeechToTextOptions): StreamingSpeechToText {
  const { baseUrl, apiKey } = credentials;
  if (baseUrl === undefined) throw new Error('a recognizer of your own needs CUSTOM_STT_BASE_URL');
  return createCustomSpeechToText({ baseUrl, apiKey, model, options, dial: createDial(guard), clock });
}

export function createTextToSpeech({
  credentials,
  model,
  voice,
  options,
  clock,
  guard,
}: TextToSpeechOptions): StreamingTextToSpeech {
  const { baseUrl, apiKey } = credentials;
  if (baseUrl === undefined) throw new Error('a synthesizer of your own needs CUSTOM_TTS_BASE_URL');
  return createCustomTextToSpeech({ baseUrl, apiKey, model, voice, options, dial: createDial(guard), clock });
}
