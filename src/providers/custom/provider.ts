import type { StreamingSpeechToText } from '../ports/streamingSpeechToText.ts';
import type { SpeechToTextOptions } from '../providerOptions.ts';
import { createDial } from '../recognition/dial.ts';
import { createCustomSpeechToText } from './speechToText.ts';

export function createSpeechToText({ credentials, clock }: SpeechToTextOptions): StreamingSpeechToText {
  const { baseUrl, apiKey } = credentials;
  if (baseUrl === undefined) throw new Error('a recognizer of your own needs CUSTOM_STT_BASE_URL');
  return createCustomSpeechToText({ baseUrl, apiKey, dial: createDial(undefined), clock });
}
