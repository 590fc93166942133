import type { Clock, Timer } from '../../base/values/clock.ts';
import type { RecognitionConnection, RecognitionEvent } from '../ports/streamingSpeechToText.ts';

/** The time without words after which the caller pauses. It is longer than an answer may take. */
const PAUSE_MS = 2000;
/** The wait after a replacement that could not connect. */
const RETRY_MS = 10_000;

export interface ConnectionRotationDeps {
  readonly clock: Clock;
  readonly maxAgeMs: number;
  /** Connects again, with the most recent audio. */
  readonly connect: (onEvent: (event: RecognitionEvent) => void) => RecognitionConnection;
  /** Called when the replacement is connected and has the same audio as the present connection. */
  readonly onReplaced: (replacement: RecognitionConnection) => void;
}

/**
 * Replaces one connection before its vendor ends it. The replacement is opened at a pause of the caller and hears the same
 * audio; it takes over once it is connected. What is told in between puts it off to the next pause.
 */
export class ConnectionRotation {
  readonly #deps: ConnectionRotationDeps;
  #replacement: RecognitionConnection | undefined;
  #timer: Timer | undefined;
  #lastActivityMs: number;
  #isTurnOpen = false;

  constructor(deps: ConnectionRotationDeps) {
    this.#deps = deps;
    this.#lastActivityMs = deps.clock.monotonicMs();
    this.#schedule(deps.maxAgeMs);
  }

  /** Sends samples to the connection, and to its replacement. */
  push(samples: Int16Array): void {
    this.#replacement?.push(samples);
  }

  /** Receives an event of the present connection. */
  onEvent(event: RecognitionEvent): void {
    if ('transcript' in event && event.transcript.text === '') return;
    this.#isTurnOpen = event.type !== 'final' && event.type !== 'end_of_turn';
    this.onActivity();
  }

  /** Reports that the connection is in use, which puts off its replacement. */
  onActivity(): void {
    this.#lastActivityMs = this.#deps.clock.monotonicMs();
    if (this.#replacement) this.#putOff(PAUSE_MS);
  }

  close(): void {
    this.#timer?.cancel();
    this.#replacement?.close();
    this.#replacement = undefined;
  }

  #schedule(delayMs: number): void {
    this.#timer?.cancel();
    this.#timer = this.#deps.clock.setTimer(() => this.#replaceAtPause(), delayMs);
  }

  #putOff(delayMs: number): void {
    this.#replacement?.close();
    this.#replacement = undefined;
    this.#schedule(delayMs);
  }

  #replaceAtPause(): void {
    const { clock, connect } = this.#deps;
    const quietMs = clock.monotonicMs() - this.#lastActivityMs;
    if (this.#isTurnOpen || quietMs < PAUSE_MS) {
      this.#schedule(PAUSE_MS);
      return;
    }
    const replacement = connect((event) => {
      if (this.#replacement === replacement) this.#onReplacementEvent(replacement, event);
    });
    this.#replacement = replacement;
  }

  #onReplacementEvent(replacement: RecognitionConnection, event: RecognitionEvent): void {
    if (event.type === 'failed') {
      this.#putOff(RETRY_MS);
      return;
    }
    if (event.type !== 'connected') return;
    this.#replacement = undefined;
    this.#deps.onReplaced(replacement);
  }
}
