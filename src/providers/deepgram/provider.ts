import type { StreamingSpeechToText } from '../ports/streamingSpeechToText.ts';
import type { SpeechToTextOptions } from '../providerOptions.ts';
import { createDial } from '../recognition/dial.ts';
import { createDeepgramSpeechToText } from './speechToText.ts';

export function createSpeechToText({
  credentials,
  guard,
  ...rest
}: SpeechToTextOptions): StreamingSpeechToText {
  return createDeepgramSpeechToText({ ...rest, ...credentials, dial: createDial(guard) });
}
