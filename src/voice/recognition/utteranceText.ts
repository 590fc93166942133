import type { Transcript } from '../../models/ports/speechToText.ts';
import type { RecognitionEvent } from '../../models/ports/streamingSpeechToText.ts';

/** The longest utterance; the rest of what a recognizer reports is dropped. */
const MAX_CHARACTERS = 10_000;

/**
 * The words of an open utterance, from a recognizer's transcripts of turns. The recognizer's turns and the utterances of
 * a voice session need not begin and end together.
 */
export class UtteranceText {
  /** The words of ended turns of the open utterance. */
  #ended = '';
  /** The recognizer's current turn, as it has told it last. */
  #turn = '';
  /** Words at the beginning of the turn that belong to an earlier utterance. */
  #takenWords = 0;
  /** The language that was spoken last. */
  #language: string | undefined;
  /** What ended the turn's words: the next transcript continues the turn, or begins another. */
  #state: 'open' | 'final' | 'eager_end' | 'ended' = 'open';

  /** The words of the open utterance so far. */
  get text(): string {
    const rest = withoutWords(this.#turn, this.#takenWords);
    return this.#ended === '' || rest === '' ? this.#ended + rest : `${this.#ended} ${rest}`;
  }

  /** The same, with their language. */
  get transcript(): Transcript {
    return { text: this.text, language: this.#language };
  }

  /** Whether no later transcript revises the words. */
  get isFinal(): boolean {
    return this.#state !== 'open';
  }

  /** Whether the recognizer is within a turn that has words. */
  get isTurnOpen(): boolean {
    return this.#state !== 'ended' && this.#turn !== '';
  }

  on(event: Exclude<RecognitionEvent, { type: 'failed' | 'connected' | 'reconnecting' }>): void {
    switch (event.type) {
      case 'interim':
      case 'final':
        if (this.#state === 'ended' || (this.#state === 'final' && this.#turn !== '')) this.#beginTurn();
        this.#turn = event.transcript.text;
        this.#language = event.transcript.language ?? this.#language;
        this.#state = event.type === 'final' ? 'final' : 'open';
        return;
      case 'eager_end':
        this.#state = 'eager_end';
        return;
      case 'turn_resumed':
        this.#state = 'open';
        return;
      case 'end_of_turn':
        this.#state = 'ended';
    }
  }

  /** The utterance is closed: what comes later belongs to the next one. */
  take(): void {
    this.#ended = '';
    this.#language = undefined;
    if (this.#state === 'ended') this.#turn = '';
    this.#takenWords = wordCount(this.#turn);
  }

  #beginTurn(): void {
    if (this.#ended.length < MAX_CHARACTERS) this.#ended = this.text;
    this.#takenWords = 0;
    this.#turn = '';
  }
}

/** A word, or a character of a script that is written without spaces. */
const WORD =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]|[^\s\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]+/gu;

function withoutWords(text: string, count: number): string {
  if (count === 0) return text;
  const next = [...text.matchAll(WORD)][count];
  return next ? text.slice(next.index) : '';
}

function wordCount(text: string): number {
  return text.match(WORD)?.length ?? 0;
}
