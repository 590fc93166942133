import type { SpeechToSpeechEvent } from '../../ports/speechToSpeech.ts';

/** Of an unasked response: pieces and samples that are kept. */
const MAX_PIECES = 1000;
const MAX_SAMPLES = 60 * 24_000;

type Fate = 'wanted' | 'dropped';

/**
 * Which of the server's responses are wanted. A server that detects turns whatever it is told answers unasked: that
 * response waits until an answer is asked for.
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
  /** That were asked for and not created yet. */
  #asked: Fate[] = [];
  #current: { readonly id: string; fate: Fate | 'waiting' } | undefined;
  /** What an unasked response has said. */
  #waiting: SpeechToSpeechEvent[] | undefined;
  #waitingSamples = 0;

  constructor(onEvent: (event: SpeechToSpeechEvent) => void) {
    this.#onEvent = onEvent;
  }

  /** @returns Whether the server has to be asked. */
  ask(): boolean {
    if (this.#takeWaiting()) return false;
    this.#asked.push('wanted');
    return true;
  }

  /** @returns Whether the server has to be told. */
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

  /** The server answers already. */
  onRefused(): void {
    if (this.#asked.shift() === 'wanted') this.#takeWaiting();
  }

  /** The person goes on: what was said unasked is no answer to them. */
  forgetWaiting(): void {
    this.#waiting = undefined;
    if (this.#current?.fate === 'waiting') this.#current.fate = 'dropped';
  }

  /** @param responseId - Absent where the server does not tell. */
  emit(responseId: string | undefined, event: SpeechToSpeechEvent): void {
    if (!this.#current || (responseId ?? this.#current.id) !== this.#current.id) return;
    const { fate } = this.#current;
    if (event.type === 'done') this.#current = undefined;
    if (fate === 'wanted') this.#onEvent(event);
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
