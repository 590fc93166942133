import { limitDigits } from '../base/async/messageLimit.ts';
import { withTimeout } from '../base/async/withTimeout.ts';
import type { Clock, Timer } from '../base/values/clock.ts';
import type { AgentReader, ClientDialect, DialectClient } from '../dialects/dialect.ts';
import { findClientDialect } from '../dialects/index.ts';
import type {
  AgentMessages,
  ConnectStream,
  StreamClient,
  StreamHandler,
  StreamRequest,
} from '../media/agentStream/streamClient.ts';
import type { SampleRateHz } from '../media/resample/resampler.ts';
import { dialTcp } from './transport/dialTcp.ts';
import { type DialDeps, dialWebSocket } from './transport/dialWebSocket.ts';
import { readMessages } from './transport/readMessages.ts';
import {
  CLOSE_NORMAL,
  CLOSE_WITHOUT_CODE,
  CLOSING,
  type StreamSocket,
  sendMessage,
} from './transport/streamSocket.ts';
import { UnreadAudio } from './transport/unreadAudio.ts';

export interface ConnectStreamDeps extends DialDeps {
  readonly clock: Clock;
  /** A message of the agent could not be read and is ignored. */
  readonly onMalformed?: (callId: string) => void;
}

/** A second. A bot far away answers a ping half a second later. */
const MAX_UNREAD_FRAMES = 50;
/** Half a second at 16 kHz, for a peer that answers no pings. */
const MAX_BUFFERED_BYTES = 16_384;
/** For the agent to end its session after `stop`. */
const STOP_TIMEOUT_MS = 2000;
/** For the peer's part of the closing handshake. */
const CLOSE_TIMEOUT_MS = 500;

/** Connects calls' audio to agents: our own voice nodes and users' bots. */
export function createConnectStream(deps: ConnectStreamDeps): ConnectStream {
  return async (request, handler) => {
    const dialect = findClientDialect(request.target.dialect);
    const socket = await dial(dialect, request, deps);
    return new SocketStreamClient(socket, dialect, request, handler, deps);
  };
}

async function dial(
  dialect: ClientDialect,
  { target, signal }: StreamRequest,
  deps: DialDeps,
): Promise<StreamSocket> {
  if (dialect.isTcp) return await dialTcp(target, deps, signal);
  return await dialWebSocket(target, dialect.subprotocols?.[0], deps, signal);
}

/** A call's end of an open connection. */
export class SocketStreamClient implements StreamClient {
  readonly sampleRateHz: SampleRateHz;
  readonly toAgent: AgentMessages;
  readonly #socket: StreamSocket;
  readonly #dialect: DialectClient;
  readonly #handler: StreamHandler;
  readonly #clock: Clock;
  readonly #unread: UnreadAudio;
  readonly #closed: Promise<void>;
  #isClosing = false;
  #hasHungUp = false;
  #closeTimer: Timer | undefined;

  constructor(
    socket: StreamSocket,
    dialect: ClientDialect,
    request: StreamRequest,
    handler: StreamHandler,
    { clock, onMalformed }: Pick<ConnectStreamDeps, 'clock' | 'onMalformed'>,
  ) {
    const { target } = request;
    this.#socket = socket;
    this.#handler = handler;
    this.#clock = clock;
    const send = (message: string | Uint8Array) => this.#send(message);
    const close = (reason: string) => socket.close(CLOSE_NORMAL, reason);
    const client = dialect.openClient({ send, close }, request);
    const unread = new UnreadAudio(socket);
    this.#dialect = client;
    this.#unread = unread;
    this.toAgent = {
      ...client,
      audio(samples, position) {
        client.audio(samples, position);
        unread.sent();
      },
    };
    this.sampleRateHz = this.#dialect.sampleRateHz;
    const admitDigits = limitDigits(clock);
    const reader: AgentReader = {
      ...handler,
      command: (command) => {
        const { isInternal } = target;
        if (command.kind === 'send_dtmf' && !isInternal && !admitDigits(command.digits.length)) return;
        this.#hasHungUp ||= command.kind === 'hangup';
        handler.command(command);
      },
      malformed: () => onMalformed?.(target.callId),
    };
    readMessages(socket, clock, target.isInternal ? 'ourOwn' : 'bot', {
      read: (message) => {
        if (!this.#isClosing) this.#dialect.read(message, reader);
      },
      onError: reader.malformed,
    });
    this.#closed = new Promise((resolve) => {
      socket.on('close', (code, reason) => {
        resolve();
        this.#onClosed(code, reason.toString('utf8'));
      });
    });
  }

  get isBehind(): boolean {
    const { frames } = this.#unread;
    return frames === undefined
      ? this.#socket.bufferedAmount >= MAX_BUFFERED_BYTES
      : frames >= MAX_UNREAD_FRAMES;
  }

  async close(code: number, reason: string): Promise<void> {
    if (!this.#isClosing) {
      this.#dialect.stop();
      this.#isClosing = true;
      if (this.#dialect.agentClosesAfterStop) await withTimeout(this.#clock, this.#closed, STOP_TIMEOUT_MS);
      this.#socket.close(code, reason);
    }
    await withTimeout(this.#clock, this.#closed, CLOSE_TIMEOUT_MS);
    this.#socket.terminate();
    await this.#closed;
  }

  #send(message: string | Uint8Array): void {
    if (this.#isClosing) return;
    sendMessage(this.#socket, message);
    // An agent that has sent its close and reads no more would leave the caller in silence.
    if (this.#socket.readyState === CLOSING) {
      this.#closeTimer ??= this.#clock.setTimer(() => this.#socket.terminate(), CLOSE_TIMEOUT_MS);
    }
  }

  #onClosed(code: number, reason: string): void {
    this.#closeTimer?.cancel();
    if (this.#isClosing) return;
    this.#isClosing = true;
    const isStopped = code === CLOSE_NORMAL || code === CLOSE_WITHOUT_CODE || this.#hasHungUp;
    this.#handler.closed({ how: isStopped ? 'stopped' : 'broken', code, reason });
  }
}
