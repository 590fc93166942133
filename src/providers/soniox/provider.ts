import type { StreamingSpeechToText } from '../ports/streamingSpeechToText.ts';
import type { SpeechToTextOptions } from '../providerOptions.ts';
import { vendorRecognizerDeps } from '../recognition/socketRecognizer.ts';
import { createSonioxSpeechToText } from './speechToText.ts';

export function createSpeechToText(options: SpeechToTextOptions): StreamingSpeechToText {
  return createSonioxSpeechToText(vendorRecognizerDeps(options));
}
