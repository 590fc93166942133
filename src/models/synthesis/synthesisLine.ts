import type { WebSocket } from 'ws';
import type { Clock, Timer } from '../../base/values/clock.ts';
import { ModelError } from '../ports/modelError.ts';
import type { SynthesisEvent } from '../ports/streamingTextToSpeech.ts';
import type { SpokenVoice } from '../ports/textToSpeech.ts';
import type { Dial } from '../sockets/dial.ts';
import { malformed } from '../sockets/failures.ts';
import { listenTo } from '../sockets/listen.ts';
import type { WebSocketTarget } from '../sockets/target.ts';
import type { IdentifiedEvent, SynthesisProtocol, SynthesisProtocolConnection } from './protocol.ts';

/** The most words of one text: an hour of speech. */
const MAX_WORDS = 10_000;

export interface SynthesisLineDeps {
  readonly dial: Dial;
  readonly clock: Clock;
}

interface OpenText {
  readonly onEvent: (event: SynthesisEvent) => void;
  isPaused: boolean;
  /** The number of words whose times the vendor has sent. */
  words: number;
}

/** A WebSocket to a vendor, with the texts that are open on it in order. After a failure it is not connected again. */
export class SynthesisLine {
  readonly target: WebSocketTarget;
  readonly #protocol: SynthesisProtocol;
  readonly #deps: SynthesisLineDeps;
  readonly #onLost: () => void;
  readonly #connection: SynthesisProtocolConnection;
  readonly #texts = new Map<string, OpenText>();
  readonly #abort = new AbortController();
  #socket: WebSocket | undefined;
  #openedAtMs = Number.POSITIVE_INFINITY;
  /** Messages from before the socket was open. */
  #waiting: string[] = [];
  #keepAlive: Timer | undefined;
  #isClosed = false;
  /** The time of the last cancellation. */
  cancelledAtMs = Number.NEGATIVE_INFINITY;

  constructor(
    protocol: SynthesisProtocol,
    target: WebSocketTarget,
    deps: SynthesisLineDeps,
    onLost: () => void,
  ) {
    this.#protocol = protocol;
    this.target = target;
    this.#deps = deps;
    this.#onLost = onLost;
    this.#connection = protocol.open();
    deps.dial(target, this.#abort.signal).then(
      (socket) => this.#onOpen(socket),
      (error: unknown) => this.#fail(error),
    );
  }

  get texts(): number {
    return this.#texts.size;
  }

  /** Open texts, and cancelled ones that the vendor still counts. */
  get load(): number {
    return this.#texts.size + (this.#connection.closing ?? 0);
  }

  /** True when every open text is paused, so that the vendor's socket is too. */
  get isPaused(): boolean {
    return this.#texts.size > 0 && [...this.#texts.values()].every(({ isPaused }) => isPaused);
  }

  /** The time since the socket was opened. */
  get ageMs(): number {
    return this.#deps.clock.monotonicMs() - this.#openedAtMs;
  }

  begin(id: string, voice: SpokenVoice, onEvent: (event: SynthesisEvent) => void): void {
    this.#texts.set(id, { onEvent, isPaused: false, words: 0 });
    this.#updateFlow();
    this.#sendAll(this.#connection.begin(id, voice));
  }

  write(id: string, text: string): void {
    if (this.#texts.has(id)) this.#sendAll(this.#connection.write(id, text));
  }

  end(id: string): void {
    const text = this.#texts.get(id);
    if (!text) return;
    const messages = this.#connection.end(id);
    if (messages) this.#sendAll(messages);
    else {
      this.#texts.delete(id);
      this.#updateFlow();
      text.onEvent({ type: 'done' });
    }
  }

  setPaused(id: string, isPaused: boolean): void {
    const text = this.#texts.get(id);
    if (text) text.isPaused = isPaused;
    this.#updateFlow();
  }

  /** @returns True when the text was open. */
  cancel(id: string): boolean {
    if (!this.#texts.delete(id)) return false;
    this.cancelledAtMs = this.#deps.clock.monotonicMs();
    this.#sendAll(this.#connection.cancel(id));
    this.#updateFlow();
    return true;
  }

  /** Closes the connection. No event follows. Idempotent. */
  close(): void {
    this.#isClosed = true;
    this.#texts.clear();
    this.#waiting = [];
    this.#keepAlive?.cancel();
    this.#abort.abort(new Error('the synthesis is closed'));
    // A socket that is held back never sees the answer to its close.
    this.#socket?.resume();
    this.#socket?.close(1000);
  }

  #onOpen(socket: WebSocket): void {
    if (this.#isClosed) {
      socket.terminate();
      return;
    }
    this.#socket = socket;
    this.#openedAtMs = this.#deps.clock.monotonicMs();
    listenTo(socket, {
      name: this.#protocol.name,
      clock: this.#deps.clock,
      onMessage: (data, isBinary) => this.#onMessage(data, isBinary),
      onFailed: (error) => this.#fail(error),
    });
    for (const message of this.#waiting.splice(0)) socket.send(message);
    this.#scheduleKeepAlive();
  }

  #onMessage(data: Buffer, isBinary: boolean): void {
    if (this.#isClosed) return;
    let events: readonly IdentifiedEvent[];
    try {
      events = this.#connection.decode(data, isBinary);
    } catch (error) {
      this.#fail(error instanceof ModelError ? error : malformed(this.#protocol.name, error));
      return;
    }
    for (const { id: named, ...event } of events) {
      const id = named ?? this.#texts.keys().next().value;
      if (id === undefined) continue;
      const text = this.#texts.get(id);
      if (text && event.type === 'words') text.words += event.words.length;
      if (text && text.words > MAX_WORDS) {
        this.#fail(new ModelError('model_malformed', `${this.#protocol.name} tells words without end`));
        return;
      }
      if (event.type === 'done' || event.type === 'failed') this.#texts.delete(id);
      text?.onEvent(event);
    }
    this.#updateFlow();
  }

  #sendAll(messages: readonly string[]): void {
    if (!this.#socket) this.#waiting.push(...messages);
    else for (const message of messages) this.#socket.send(message);
  }

  #updateFlow(): void {
    if (this.isPaused) this.#socket?.pause();
    else this.#socket?.resume();
  }

  #scheduleKeepAlive(): void {
    const { keepAlive } = this.#protocol;
    if (!keepAlive || this.#isClosed) return;
    this.#keepAlive = this.#deps.clock.setTimer(() => {
      this.#sendAll([keepAlive.message]);
      this.#scheduleKeepAlive();
    }, keepAlive.intervalMs);
  }

  #fail(error: unknown): void {
    if (this.#isClosed) return;
    const texts = [...this.#texts.values()];
    this.#onLost();
    this.close();
    const reason =
      error instanceof ModelError
        ? error
        : new ModelError('model_unavailable', `${this.#protocol.name} cannot be reached`, { cause: error });
    for (const { onEvent } of texts) onEvent({ type: 'failed', error: reason });
  }
}
