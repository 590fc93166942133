import type { WebSocket } from 'ws';
import type { Clock, Timer } from '../../base/clock.ts';
import { ModelError } from '../ports/modelError.ts';
import type {
  SpokenVoice,
  StreamingTextToSpeech,
  SynthesisConnection,
  SynthesisEvent,
  SynthesisStream,
} from '../ports/streamingTextToSpeech.ts';
import type { Dial } from '../recognition/dial.ts';
import type { IdentifiedEvent, SynthesisProtocol, SynthesisProtocolConnection } from './protocol.ts';

/** Audio of a cancelled text is on its way this long. */
const IN_FLIGHT_MS = 250;

export interface SocketSynthesizerDeps {
  readonly dial: Dial;
  readonly clock: Clock;
}

/** Streaming synthesis over a vendor's WebSocket. A lost connection is made again with the next text. */
export function createSocketSynthesizer(
  protocol: SynthesisProtocol,
  deps: SocketSynthesizerDeps,
): StreamingTextToSpeech {
  const connections = new Set<Connection>();
  return {
    name: protocol.name,
    sampleRateHz: protocol.sampleRateHz,
    connect() {
      const connection = new Connection(protocol, deps, () => connections.delete(connection));
      connections.add(connection);
      return connection;
    },
    async close() {
      for (const connection of connections) connection.close();
    },
  };
}

/** One socket, and the texts that are open on it in order. */
interface Line {
  readonly protocol: SynthesisProtocolConnection;
  readonly texts: Map<string, (event: SynthesisEvent) => void>;
  readonly abort: AbortController;
  socket: WebSocket | undefined;
  /** Messages from before the socket was open. */
  waiting: string[];
  keepAlive: Timer | undefined;
  cancelledAtMs: number;
}

class Connection implements SynthesisConnection {
  readonly #protocol: SynthesisProtocol;
  readonly #deps: SocketSynthesizerDeps;
  readonly #onClosed: () => void;
  #line: Line | undefined;
  #texts = 0;
  #isClosed = false;

  constructor(protocol: SynthesisProtocol, deps: SocketSynthesizerDeps, onClosed: () => void) {
    this.#protocol = protocol;
    this.#deps = deps;
    this.#onClosed = onClosed;
    this.#line = this.#connect();
  }

  speak(voice: SpokenVoice, onEvent: (event: SynthesisEvent) => void): SynthesisStream {
    this.#texts += 1;
    const id = `text-${this.#texts}`;
    const line = this.#cleanLine();
    const { protocol } = line;
    const { clock } = this.#deps;
    const send = (messages: readonly string[]) => {
      if (!line.texts.has(id)) return;
      for (const message of messages) this.#send(line, message);
    };
    line.texts.set(id, onEvent);
    send(protocol.begin(id, voice));
    return {
      write: (text) => send(protocol.write(id, text)),
      end: () => send(protocol.end(id)),
      cancel() {
        send(protocol.cancel(id));
        if (line.texts.delete(id)) line.cancelledAtMs = clock.monotonicMs();
      },
    };
  }

  /** Audio without a name that is still on its way would be taken for that of the next text. */
  #cleanLine(): Line {
    const { clock } = this.#deps;
    const line = this.#line;
    const isDirty = line && clock.monotonicMs() - line.cancelledAtMs < IN_FLIGHT_MS;
    if (isDirty && !this.#protocol.namesAudio && line.texts.size === 0) this.#leave(line);
    this.#line ??= this.#connect();
    return this.#line;
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    if (this.#line) this.#leave(this.#line);
    this.#onClosed();
  }

  #connect(): Line {
    const line: Line = {
      protocol: this.#protocol.open(),
      texts: new Map(),
      abort: new AbortController(),
      socket: undefined,
      waiting: [],
      keepAlive: undefined,
      cancelledAtMs: Number.NEGATIVE_INFINITY,
    };
    this.#deps.dial(this.#protocol.target, line.abort.signal).then(
      (socket) => this.#onOpen(line, socket),
      (error: unknown) => this.#fail(line, error),
    );
    return line;
  }

  #onOpen(line: Line, socket: WebSocket): void {
    if (this.#line !== line) {
      socket.terminate();
      return;
    }
    const { name } = this.#protocol;
    line.socket = socket;
    socket.on('message', (data, isBinary) => this.#onMessage(line, data as Buffer, isBinary));
    socket.on('error', (error) => this.#fail(line, error));
    socket.on('close', (code) =>
      this.#fail(
        line,
        new ModelError('model_unavailable', `${name} closed the connection with the code ${code}`),
      ),
    );
    for (const message of line.waiting.splice(0)) socket.send(message);
    this.#scheduleKeepAlive(line);
  }

  #onMessage(line: Line, data: Buffer, isBinary: boolean): void {
    if (this.#line !== line) return;
    let events: readonly IdentifiedEvent[];
    try {
      events = line.protocol.decode(data, isBinary);
    } catch (error) {
      const malformed = `${this.#protocol.name} sent a message that cannot be read`;
      this.#fail(
        line,
        error instanceof ModelError ? error : new ModelError('model_malformed', malformed, { cause: error }),
      );
      return;
    }
    for (const { id: named, ...event } of events) {
      const id = named ?? line.texts.keys().next().value;
      if (id === undefined) continue;
      const onEvent = line.texts.get(id);
      if (event.type === 'done' || event.type === 'failed') line.texts.delete(id);
      onEvent?.(event);
    }
  }

  #send(line: Line, message: string): void {
    if (line.socket) line.socket.send(message);
    else line.waiting.push(message);
  }

  #scheduleKeepAlive(line: Line): void {
    const { keepAlive } = this.#protocol;
    if (!keepAlive || this.#line !== line) return;
    line.keepAlive = this.#deps.clock.setTimer(() => {
      this.#send(line, keepAlive.message);
      this.#scheduleKeepAlive(line);
    }, keepAlive.intervalMs);
  }

  #fail(line: Line, error: unknown): void {
    if (this.#line !== line) return;
    const texts = [...line.texts.values()];
    this.#leave(line);
    const reason =
      error instanceof ModelError
        ? error
        : new ModelError('model_unavailable', `${this.#protocol.name} cannot be reached`, { cause: error });
    for (const onEvent of texts) onEvent({ type: 'failed', error: reason });
  }

  #leave(line: Line): void {
    this.#line = undefined;
    line.texts.clear();
    line.waiting = [];
    line.keepAlive?.cancel();
    line.abort.abort(new Error('the synthesis is closed'));
    line.socket?.close(1000);
  }
}
