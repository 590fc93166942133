import { tokenBucket } from '../base/async/messageLimit.ts';
import { createEmitter, type Emitter } from '../base/emitter.ts';
import type { Clock } from '../base/values/clock.ts';
import type { TextStream, TextStreamEvents, TextStreamInfo } from '../conversation/streams/textStream.ts';
import type { StreamMessage } from '../dialects/dialect.ts';
import type { TextGatewayHandler, TextPart, TextServer } from '../dialects/textDialect.ts';
import { ENDING_CODES } from './serverStream.ts';
import { CLOSE_NORMAL, CLOSE_POLICY_VIOLATION, type StreamSocket } from './transport/streamSocket.ts';

/** Each final prompt costs a turn of a model. */
const MAX_INPUTS_PER_SECOND = 2;
const MAX_INPUT_BURST = 40;
const TOO_FAST = 'messages arrive faster than a call has them';

export interface ServerTextStreamOptions {
  readonly socket: StreamSocket;
  readonly dialect: TextServer;
  readonly info: TextStreamInfo;
  readonly clock: Clock;
  readonly onListenerError: (error: unknown, event: string) => void;
}

/** A carrier's text turns as a text stream of our agent, from its start message on. */
export class ServerTextStream implements TextStream {
  readonly info: TextStreamInfo;
  readonly events: Emitter<TextStreamEvents>;
  /** Messages that could not be read. */
  malformed = 0;
  /** Whether the carrier ended its call, rather than only the connection. */
  wasStopped = false;
  readonly #socket: StreamSocket;
  readonly #dialect: TextServer;
  readonly #inputs: () => boolean;
  #isClosed = false;

  constructor({ socket, dialect, info, clock, onListenerError }: ServerTextStreamOptions) {
    this.info = info;
    this.events = createEmitter<TextStreamEvents>(onListenerError);
    this.#socket = socket;
    this.#dialect = dialect;
    this.#inputs = tokenBucket(clock, MAX_INPUTS_PER_SECOND, MAX_INPUT_BURST);
    socket.on('close', (code, reason) => {
      if (ENDING_CODES.has(code) && !this.#isClosed) this.wasStopped = true;
      this.#end(code, reason.toString('utf8'));
    });
  }

  receive(message: StreamMessage): void {
    if (!this.#isClosed) this.#dialect.read(message, this.#handler);
  }

  say(part: TextPart): void {
    if (!this.#isClosed) this.#dialect.say(part);
  }

  useLanguage(tag: string): void {
    if (!this.#isClosed) this.#dialect.useLanguage(tag);
  }

  sendDigits(digits: string): void {
    if (!this.#isClosed) this.#dialect.sendDigits(digits);
  }

  end(handoff: Readonly<Record<string, unknown>>): void {
    if (!this.#isClosed) this.#dialect.end(handoff);
  }

  close(code: number = CLOSE_NORMAL, reason = ''): void {
    this.#socket.close(code, reason);
  }

  readonly #handler: TextGatewayHandler = {
    words: (text, language, isFinal) => {
      if (!isFinal || this.#admitInput()) this.events.emit('words', { text, language, isFinal });
    },
    dtmf: (digit) => {
      if (this.#admitInput()) this.events.emit('dtmf', { digit });
    },
    interrupted: (heard, heardMs) => this.events.emit('interrupted', { heard, heardMs }),
    played: (text) => this.events.emit('played', { text }),
    silent: () => this.events.emit('silent', {}),
    fault: (message) => this.events.emit('fault', { message }),
    malformed: () => {
      this.malformed++;
    },
  };

  #admitInput(): boolean {
    if (this.#isClosed) return false;
    const isAdmitted = this.#inputs();
    if (!isAdmitted) {
      this.close(CLOSE_POLICY_VIOLATION, TOO_FAST);
      this.#end(CLOSE_POLICY_VIOLATION, TOO_FAST);
    }
    return isAdmitted;
  }

  #end(code: number, reason: string): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.events.emit('closed', { code, reason });
  }
}
