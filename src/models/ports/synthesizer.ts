import type { StreamingTextToSpeech } from './streamingTextToSpeech.ts';
import type { TextToSpeech } from './textToSpeech.ts';

/** Speech synthesis of texts while they are written, or of one sentence after the other. */
export type Synthesizer = TextToSpeech | StreamingTextToSpeech;

export function takesWords(synthesizer: Synthesizer): synthesizer is StreamingTextToSpeech {
  return 'connect' in synthesizer;
}
