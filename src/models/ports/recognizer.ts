import type { SpeechToText } from './speechToText.ts';
import type { StreamingSpeechToText } from './streamingSpeechToText.ts';

/** Speech recognition of whole streams, or of one utterance after the other. */
export type Recognizer = SpeechToText | StreamingSpeechToText;

export function isStreaming(recognizer: Recognizer): recognizer is StreamingSpeechToText {
  return 'connect' in recognizer;
}
