import type { StreamingSpeechToText } from '../ports/streamingSpeechToText.ts';
import type { StreamingTextToSpeech } from '../ports/streamingTextToSpeech.ts';
import type { SpeechToTextOptions, TextToSpeechOptions } from '../providerOptions.ts';
import { createDial } from '../recognition/dial.ts';
import { vendorSynthesizerDeps } from '../synthesis/socketSynthesizer.ts';
import { createDeepgramSpeechToText } from './speechToText.ts';
import { createDeepgramTextToSpeech } from './textToSpeech.ts';

const BASE_URL = 'https://api.deepgram.com';

export function createSpeechToText({
  credentials,
  guard,
  ...rest
}: SpeechToTextOptions): StreamingSpeechToText {
  return createDeepgramSpeechToText({ ...rest, ...credentials, dial: createDial(guard) });
}

export function createTextToSpeech(options: TextToSpeechOptions): StreamingTextToSpeech {
  return createDeepgramTextToSpeech(vendorSynthesizerDeps(options, BASE_URL));
}
