import type { Clock } from '../../src/base/values/clock.ts';
import type {
  RecognitionEvent,
  StreamingSpeechToText,
  TimedWord,
} from '../../src/models/ports/streamingSpeechToText.ts';

interface WordDelays {
  /** From a word's end to the interim transcript with it. */
  readonly interimMs: number;
  /** From the request of the final transcript to it. */
  readonly finalMs: number;
}

const DELAYS: WordDelays = { interimMs: 220, finalMs: 120 };

/** Hears the words that it is told, as they are spoken. It has no opinion on turns. */
export interface WordRecognizer extends StreamingSpeechToText {
  /** @param words - With times from the stream's first sample, in ms. @param join - Between two words. */
  hear(words: readonly TimedWord[], join: string): void;
}

export function wordRecognizer(clock: Clock, { interimMs, finalMs } = DELAYS): WordRecognizer {
  let onEvent: (event: RecognitionEvent) => void = () => undefined;
  let words: readonly TimedWord[] = [];
  let join = ' ';
  let heardMs = 0;
  /** Words of earlier final transcripts. */
  let finalWords = 0;
  const tell = (type: 'interim' | 'final', untilMs: number) => {
    const told = words.slice(finalWords).filter(({ endMs }) => endMs <= untilMs);
    if (told.length === 0) return;
    const text = told.map(({ word }) => word).join(join);
    onEvent({ type, transcript: { text, words: told } });
    if (type === 'final') finalWords += told.length;
  };
  return {
    name: 'words',
    detectsTurns: false,
    connect(_options, listener) {
      onEvent = listener;
      return {
        push(samples) {
          const beforeMs = heardMs;
          heardMs += samples.length / 8;
          const isNew = ({ endMs }: TimedWord) =>
            endMs + interimMs > beforeMs && endMs + interimMs <= heardMs;
          if (words.slice(finalWords).some(isNew)) tell('interim', heardMs - interimMs);
        },
        finalize() {
          const untilMs = heardMs;
          clock.setTimer(() => tell('final', untilMs), finalMs);
          return true;
        },
        close: () => undefined,
      };
    },
    hear(spoken, joint) {
      words = spoken;
      join = joint;
      finalWords = 0;
    },
    close: async () => undefined,
  };
}
