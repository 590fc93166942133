import type { StreamingSpeechToText } from '../ports/streamingSpeechToText.ts';
import type { StreamingTextToSpeech } from '../ports/streamingTextToSpeech.ts';
import type { SpeechToTextOptions, TextToSpeechOptions } from '../providerOptions.ts';
import { vendorRecognizerDeps } from '../recognition/socketRecognizer.ts';
import { vendorSynthesizerDeps } from '../synthesis/socketSynthesizer.ts';
import { DEEPGRAM_BASE_URL } from './settings.ts';
import { createDeepgramSpeechToText } from './speechToText.ts';
import { createDeepgramTextToSpeech } from './textToSpeech.ts';

export function createSpeechToText(options: SpeechToTextOptions): StreamingSpeechToText {
  return createDeepgramSpeechToText(vendorRecognizerDeps(options));
}

export function createTextToSpeech(options: TextToSpeechOptions): StreamingTextToSpeech {
  return createDeepgramTextToSpeech(vendorSynthesizerDeps(options, DEEPGRAM_BASE_URL));
}
