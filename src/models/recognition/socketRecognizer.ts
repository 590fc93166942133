import type { WebSocket } from 'ws';
import type { Clock, Timer } from '../../base/values/clock.ts';
import { ModelError } from '../ports/modelError.ts';
import type {
  RecognitionConnection,
  RecognitionConnectionOptions,
  RecognitionEvent,
  StreamingSpeechToText,
} from '../ports/streamingSpeechToText.ts';
import type { SpeechToTextOptions } from '../providerOptions.ts';
import { AudioChunks } from '../sockets/audioChunks.ts';
import { createDial, type Dial } from '../sockets/dial.ts';
import { malformed, toModelError, withoutSecret } from '../sockets/failures.ts';
import { listenTo } from '../sockets/listen.ts';
import type { ProtocolConnection, RecognitionProtocol } from './protocol.ts';

/** The longest transcript of one turn, which no turn reaches. A recognizer that exceeds it has failed. */
const MAX_TRANSCRIPT_CHARACTERS = 10_000;
/** A vendor that reads slower than this is lost. */
const MAX_UNSENT_BYTES = 1024 * 1024;

export interface SocketRecognizerDeps {
  readonly dial: Dial;
  readonly clock: Clock;
}

/** The dependencies of vendors' recognizers. A vendor has defaults for undefined fields. */
export interface VendorRecognizerDeps extends SocketRecognizerDeps {
  /** The vendor's address, `https:` or `http:`. */
  readonly baseUrl?: string | undefined;
  readonly apiKey?: string | undefined;
  readonly model?: string | undefined;
  /** The vendor's own options. */
  readonly options?: unknown;
}

export function vendorRecognizerDeps({
  credentials,
  model,
  options,
  clock,
  guard,
}: SpeechToTextOptions): VendorRecognizerDeps {
  return { ...credentials, model, options, clock, dial: createDial(guard) };
}

/**
 * Streaming recognition over a vendor's WebSocket. One connection is one attempt: it fails once, and is not repeated.
 */
export function createSocketRecognizer(
  protocol: RecognitionProtocol,
  deps: SocketRecognizerDeps,
): StreamingSpeechToText {
  const connections = new Set<SocketConnection>();
  return {
    name: protocol.name,
    detectsTurns: protocol.detectsTurns,
    maxAgeMs: protocol.maxAgeMs,
    connect(options, onEvent) {
      const connection = new SocketConnection(protocol, deps, options, onEvent, () =>
        connections.delete(connection),
      );
      connections.add(connection);
      return connection;
    },
    async close() {
      for (const connection of connections) connection.close();
    },
  };
}

class SocketConnection implements RecognitionConnection {
  readonly #protocol: RecognitionProtocol;
  readonly #clock: Clock;
  readonly #connection: ProtocolConnection;
  readonly #onEvent: (event: RecognitionEvent) => void;
  readonly #onClosed: () => void;
  readonly #abort = new AbortController();
  readonly #chunks: AudioChunks;
  #socket: WebSocket | undefined;
  /** Messages from before the socket was open. */
  #waiting: (string | Uint8Array)[] = [];
  #keepAlive: Timer | undefined;
  #isClosed = false;

  constructor(
    protocol: RecognitionProtocol,
    { dial, clock }: SocketRecognizerDeps,
    options: RecognitionConnectionOptions,
    onEvent: (event: RecognitionEvent) => void,
    onClosed: () => void,
  ) {
    this.#protocol = protocol;
    this.#clock = clock;
    this.#onEvent = onEvent;
    this.#onClosed = onClosed;
    const sampleRateHz = protocol.sampleRateHz(options.sampleRateHz);
    this.#connection = protocol.open({ ...options, sampleRateHz });
    this.#chunks = new AudioChunks(options.sampleRateHz, sampleRateHz, protocol);
    dial(this.#connection.target, this.#abort.signal).then(
      (socket) => this.#onOpen(socket),
      (error: unknown) => this.#fail(error),
    );
  }

  push(samples: Int16Array): void {
    if (this.#isClosed) return;
    for (const chunk of this.#chunks.push(samples)) this.#send(this.#connection.encode(chunk));
  }

  finalize(): boolean {
    if (this.#isClosed) return false;
    const rest = this.#chunks.flush();
    if (rest) this.#send(this.#connection.encode(rest));
    const message = this.#connection.finalize();
    if (message !== undefined) this.#send(message);
    return message !== undefined;
  }

  close(): void {
    if (this.#isClosed) return;
    const { goodbye } = this.#connection;
    if (goodbye !== undefined && this.#socket) this.#send(goodbye);
    this.#end();
  }

  #onOpen(socket: WebSocket): void {
    if (this.#isClosed) {
      socket.terminate();
      return;
    }
    this.#socket = socket;
    listenTo(socket, {
      name: this.#protocol.name,
      isRefusal: this.#protocol.isRefusal,
      clock: this.#clock,
      onMessage: (data, isBinary) => {
        if (!isBinary) this.#onMessage(String(data));
      },
      onFailed: (error) => this.#fail(error),
    });
    const { greeting } = this.#connection;
    if (greeting !== undefined) socket.send(greeting);
    for (const message of this.#waiting.splice(0)) socket.send(message);
    this.#onEvent({ type: 'connected' });
    this.#scheduleKeepAlive();
  }

  #scheduleKeepAlive(): void {
    const { keepAlive } = this.#protocol;
    if (!keepAlive || this.#isClosed) return;
    this.#keepAlive = this.#clock.setTimer(() => {
      this.#send(keepAlive.message);
      this.#scheduleKeepAlive();
    }, keepAlive.intervalMs);
  }

  #onMessage(text: string): void {
    if (this.#isClosed) return;
    let events: readonly RecognitionEvent[];
    try {
      events = this.#connection.decode(text);
      if (events.some(isEndless)) throw endless(this.#protocol.name);
    } catch (error) {
      this.#fail(error instanceof ModelError ? error : malformed(this.#protocol.name, error));
      return;
    }
    for (const event of events) this.#onEvent(event);
  }

  #send(message: string | Uint8Array): void {
    if (!this.#socket) {
      this.#waiting.push(message);
      return;
    }
    if (this.#socket.bufferedAmount > MAX_UNSENT_BYTES)
      this.#fail(new ModelError('model_unavailable', `${this.#protocol.name} does not read its audio`));
    else this.#socket.send(message);
  }

  #fail(error: unknown): void {
    if (this.#isClosed) return;
    this.#end();
    const { name, secret } = this.#protocol;
    this.#onEvent({ type: 'failed', error: withoutSecret(toModelError(name, error), secret) });
  }

  #end(): void {
    this.#isClosed = true;
    this.#keepAlive?.cancel();
    this.#abort.abort(new Error('the recognition is closed'));
    this.#waiting = [];
    this.#socket?.close(1000);
    this.#onClosed();
  }
}

function isEndless(event: RecognitionEvent): boolean {
  return 'transcript' in event && event.transcript.text.length > MAX_TRANSCRIPT_CHARACTERS;
}

function endless(name: string): ModelError {
  return new ModelError('model_malformed', `${name} tells a turn that does not end`, { retryable: false });
}
