import type { StreamingSpeechToText } from '../ports/streamingSpeechToText.ts';
import type { SpeechToTextOptions } from '../providerOptions.ts';
import { createDial } from '../recognition/dial.ts';
import { createAssemblyAiSpeechToText } from './speechToText.ts';

export function createSpeechToText({
  credentials,
  guard,
  ...rest
}: SpeechToTextOptions): StreamingSpeechToText {
  return createAssemblyAiSpeechToText({ ...rest, ...credentials, dial: createDial(guard) });
}
