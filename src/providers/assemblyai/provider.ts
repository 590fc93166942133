import type { StreamingSpeechToText } from '../ports/streamingSpeechToText.ts';
import type { SpeechToTextOptions } from '../providerOptions.ts';
import { vendorRecognizerDeps } from '../recognition/socketRecognizer.ts';
import { createAssemblyAiSpeechToText } from './speechToText.ts';

export function createSpeechToText(options: SpeechToTextOptions): StreamingSpeechToText {
  return createAssemblyAiSpeechToText(vendorRecognizerDeps(options));
}
