import type { SpeechToSpeechEvent } from '../../../models/ports/speechToSpeech.ts';

/** The most pieces and samples that are kept of a response that was not requested. */
const MAX_PIECES = 1000;
const MAX_SAMPLES = 60 * 24_000;

type Fate = 'wanted' | 'dropped';

/**
 * Decides which of the server's responses are wanted. Some servers detect turns despite their settings and answer on
 * their own. Such a response waits until an answer is requested.
 *
 * ```text
 *   ask ──▶ asked ──created──▶ wanted ──done──▶ (gone)
 *              │ cancel           │ cancel
 *              └──────▶ dropped ◀─┘
 *   created unasked ──▶ waiting ──ask──▶ wanted
 * ```
 */
export class Responses {
  readonly #onEvent: (event: SpeechToSpeechEvent) => void;
  /** The responses that were requested and are not created yet. */
  #asked: Fate[] = [];
  #current: { readonly id: string; fate: Fate | 'waiting' } | undefined;
  /** The events of a response that was not requested; undefined while there is none. */
  #waiting: SpeechToSpeechEvent[] | undefined;
  #waitingSamples = 0;

  constructor(onEvent: (event: SpeechToSpeechEvent) => void) {
    this.#onEvent = onEvent;
  }

  /** @returns True when the request must be sent to the server. */
  ask(): boolean {
    if (this.#takeWaiting()) return false;
    this.#asked.push('wanted');
    return true;
  }

  /** @returns True when the cancellation must be sent to the server. */
  cancel(): boolean {
    if (this.#current?.fate === 'wanted') this.#current.fate = 'dropped';
    else if (this.#asked.at(-1) === 'wanted') this.#asked[this.#asked.length - 1] = 'dropped';
    else return false;
    return true;
  }

  onCreated(id: string): void {
    const fate = this.#asked.shift() ?? 'waiting';
    this.#current = { id, fate };
    this.#waiting = fate === 'waiting' ? [] : undefined;
    this.#waitingSamples = 0;
  }

  /** Reports that the server is already answering. */
  onRefused(): void {
    if (this.#asked.shift() === 'wanted') this.#takeWaiting();
  }

  /** Drops the response that was not requested, since the person continues to speak. */
  forgetWaiting(): void {
    this.#waiting = undefined;
    if (this.#current?.fate === 'waiting') this.#current.fate = 'dropped';
  }

  /** @param responseId - The response's id; undefined when the server does not send it. */
  emit(responseId: string | undefined, event: SpeechToSpeechEvent): void {
    if (!this.#current || (responseId ?? this.#current.id) !== this.#current.id) return;
    const { fate } = this.#current;
    if (event.type === 'done') this.#current = undefined;
    if (fate === 'wanted') this.#onEvent(event);
    else if (fate === 'dropped' && event.type === 'done' && event.usage)
      this.#onEvent({ type: 'usage', usage: event.usage });
    else if (fate === 'waiting') this.#keep(event);
  }

  #keep(event: SpeechToSpeechEvent): void {
    const pieces = this.#waiting?.push(event) ?? 0;
    if (event.type === 'speech') this.#waitingSamples += event.samples.length;
    if (pieces > MAX_PIECES || this.#waitingSamples > MAX_SAMPLES) this.forgetWaiting();
  }

  #takeWaiting(): boolean {
    const said = this.#waiting;
    if (!said) return false;
    this.#waiting = undefined;
    if (this.#current?.fate === 'waiting') this.#current.fate = 'wanted';
    for (const event of said) this.#onEvent(event);
    return true;
  }
}
