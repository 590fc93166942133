import type { StreamingSpeechToText } from '../../models/ports/streamingSpeechToText.ts';
import type { SpeechToTextOptions } from '../../models/providerOptions.ts';
import { vendorRecognizerDeps } from '../../models/recognition/socketRecognizer.ts';
import { createAssemblyAiSpeechToText } from './speechToText.ts';

export function createSpeechToText(options: SpeechToTextOptions): StreamingSpeechToText {
  return createAssemblyAiSpeechToText(vendorRecognizerDeps(options));
}
