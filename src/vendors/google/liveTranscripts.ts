import type { Clock, Timer } from '../../base/values/clock.ts';
import type { SpeechToSpeechEvent } from '../../models/ports/speechToSpeech.ts';

/** The API does not say when a transcript is complete: it is after this long without new words. */
const QUIET_MS = 300;
/** The longest transcript of one utterance, far above what a person can say. */
const MAX_CHARACTERS = 10_000;

/** Collects the person's transcripts by commit. */
export class LiveTranscripts {
  readonly #onEvent: (event: SpeechToSpeechEvent) => void;
  readonly #clock: Clock;
  #commits = 0;
  /** The commit whose words still come. */
  #open: number | undefined;
  #words = '';
  #timer: Timer | undefined;

  constructor(onEvent: (event: SpeechToSpeechEvent) => void, clock: Clock) {
    this.#onEvent = onEvent;
    this.#clock = clock;
  }

  /** @returns The number of the commit. */
  commit(): number {
    this.#complete();
    this.#commits += 1;
    this.#open = this.#commits;
    if (this.#words !== '') this.#expectMore();
    return this.#commits;
  }

  onWords(text: string): void {
    this.#words = (this.#words + text).slice(0, MAX_CHARACTERS);
    if (this.#open === undefined) return;
    this.#onEvent({ type: 'transcript', commit: this.#open, text: this.#words.trim(), isFinal: false });
    this.#expectMore();
  }

  /** Reports that the model answers, so that it has all audio. */
  onAnswer(): void {
    if (this.#words !== '') this.#complete();
  }

  /** Reports that the model has answered, after which no words follow. */
  onAnswered(): void {
    const commit = this.#open;
    if (commit === undefined || this.#words !== '') this.#complete();
    else {
      this.#open = undefined;
      this.#onEvent({ type: 'transcript_lost', commit });
    }
  }

  close(): void {
    this.#timer?.cancel();
  }

  #expectMore(): void {
    this.#timer?.cancel();
    this.#timer = this.#clock.setTimer(() => this.#complete(), QUIET_MS);
  }

  #complete(): void {
    this.#timer?.cancel();
    const commit = this.#open;
    if (commit === undefined) return;
    const text = this.#words.trim();
    this.#open = undefined;
    this.#words = '';
    this.#onEvent({ type: 'transcript', commit, text, isFinal: true });
  }
}
