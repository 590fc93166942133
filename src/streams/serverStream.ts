import { limitDigits } from '../base/async/messageLimit.ts';
import { createEmitter, type Emitter } from '../base/emitter.ts';
import type { Clock, Timer } from '../base/values/clock.ts';
import type {
  AudioStream,
  AudioStreamEvents,
  EarlyInput,
  StreamInfo,
} from '../conversation/streams/audioStream.ts';
import type {
  DialectConnection,
  DialectServer,
  GatewayMessageHandler,
  StreamMessage,
} from '../dialects/dialect.ts';
import { PlayoutEstimate } from '../dialects/playoutEstimate.ts';
import type {
  AgentControl,
  CallCommand,
  Caption,
  FailoverPrompts,
  PlayoutPosition,
  TransferStatus,
} from '../media/agentStream/streamClient.ts';
import { FRAME_MS } from '../media/codecs/codec.ts';
import {
  CLOSE_GOING_AWAY,
  CLOSE_NORMAL,
  CLOSE_POLICY_VIOLATION,
  CLOSE_TRY_AGAIN_LATER,
  CLOSE_WITHOUT_CODE,
  type StreamSocket,
  sendMessage,
} from './transport/streamSocket.ts';

/** Audio that the peer does not read: more than an agent's lookahead at 24 kHz. */
const MAX_UNSENT_BYTES = 2 * 1024 * 1024;
/** A peer may send buffered audio at once, as after a pause of its network, but not faster than real time for long. */
const MAX_LEAD_MS = 60_000;
/** A dialect need not return the marks that were cleared; those beyond are forgotten. */
const MAX_PENDING_MARKS = 1000;
/** The close codes of peers that end a stream in order. */
export const ENDING_CODES: ReadonlySet<number> = new Set([
  CLOSE_NORMAL,
  CLOSE_GOING_AWAY,
  CLOSE_WITHOUT_CODE,
]);
/** How soon it is noticed that a peer sends no more audio. */
const AUDIO_CHECK_MS = 100;
/** A thread that was busy for longer sends less. */
const MAX_FRAMES_AT_ONCE = 50;
/** The most messages of each kind that are kept before the session listens. */
const MAX_EARLY = 100;
const TOO_FAST = 'audio arrives faster than real time';

export interface ServerStreamOptions {
  readonly socket: StreamSocket;
  readonly dialect: DialectServer;
  readonly info: StreamInfo;
  readonly clock: Clock;
  readonly onListenerError: (error: unknown, event: string) => void;
}

/** A carrier's stream as an audio stream of our voice session, from its start message on. */
export class ServerStream implements AudioStream {
  readonly info: StreamInfo;
  readonly events: Emitter<AudioStreamEvents>;
  receivedSamples = 0;
  /** Messages that could not be read. */
  malformed = 0;
  /** Whether the carrier ended its call, rather than only the connection. */
  wasStopped = false;
  readonly #socket: StreamSocket;
  readonly #dialect: DialectServer;
  readonly #estimate = new PlayoutEstimate();
  /** Marks that the gateway has not returned yet. */
  #pendingMarks: { readonly name: string; isCleared: boolean }[] = [];
  /** What came before the session listened; undefined from then on. */
  #early: { readonly controls: AgentControl[]; readonly digits: string[] } | undefined = {
    controls: [],
    digits: [],
  };
  readonly #clock: Clock;
  readonly #admitDigit: () => boolean;
  #receivedAtMs: number;
  /** How far the received audio is ahead of real time. */
  #leadMs = 0;
  #isClosed = false;
  #silenceTimer: Timer | undefined;

  constructor({ socket, dialect, info, clock, onListenerError }: ServerStreamOptions) {
    this.info = info;
    this.events = createEmitter<AudioStreamEvents>(onListenerError);
    this.#socket = socket;
    this.#dialect = dialect;
    this.#clock = clock;
    this.#receivedAtMs = clock.monotonicMs();
    this.#admitDigit = limitDigits(clock);
    if (dialect.fillSilence) this.#fillSilence(clock.monotonicMs(), FRAME_MS);
    socket.on('close', (code, reason) => {
      if (dialect.endsByClose && ENDING_CODES.has(code) && !this.#isClosed) this.wasStopped = true;
      this.#end(code, reason.toString('utf8'));
    });
  }

  receive(message: StreamMessage): void {
    if (!this.#isClosed) this.#dialect.read(message, this.#handler);
  }

  play(samples: Int16Array): void {
    if (samples.length === 0 || this.#isClosed) return;
    this.#estimate.queued(samples.length);
    this.#dialect.play(samples);
  }

  mark(name: string): void {
    if (this.#isClosed) return;
    this.#pendingMarks.push({ name, isCleared: false });
    if (this.#pendingMarks.length > MAX_PENDING_MARKS) this.#pendingMarks.shift();
    this.#dialect.mark(name);
  }

  clear(): void {
    if (this.#isClosed) return;
    for (const mark of this.#pendingMarks) mark.isCleared = true;
    this.#dialect.clear();
    this.#estimate.cleared();
    if (!this.#dialect.confirmsClear) queueMicrotask(() => this.#emitCleared(this.#estimate.position));
  }

  command(command: CallCommand): void {
    if (!this.#isClosed) this.#dialect.command(command);
  }

  caption(caption: Caption): void {
    if (!this.#isClosed && this.info.captions) this.#dialect.caption?.(caption);
  }

  callerSpeech(isSpeaking: boolean, atMs: number): void {
    if (!this.#isClosed && this.info.captions) this.#dialect.callerSpeech?.(isSpeaking, atMs);
  }

  setFailoverPrompts(prompts: FailoverPrompts): void {
    if (!this.#isClosed) this.#dialect.setFailoverPrompts?.(prompts);
  }

  takeEarly(): EarlyInput {
    const early = this.#early ?? { controls: [], digits: [] };
    this.#early = undefined;
    return early;
  }

  close(code: number = CLOSE_NORMAL, reason = ''): void {
    this.#socket.close(code, reason);
  }

  readonly #handler: GatewayMessageHandler = {
    audio: (samples) => {
      if (samples.length === 0) return;
      if (this.#advanceLead(samples.length) > MAX_LEAD_MS) {
        this.close(CLOSE_POLICY_VIOLATION, TOO_FAST);
        return this.#end(CLOSE_POLICY_VIOLATION, TOO_FAST);
      }
      this.receivedSamples += samples.length;
      this.#estimate.received(samples.length);
      this.events.emit('audio', samples);
    },
    dtmf: (digit) => {
      if (!this.#admitDigit()) return;
      if (this.#early && this.#early.digits.length < MAX_EARLY) this.#early.digits.push(digit);
      this.events.emit('dtmf', { digit });
    },
    mark: (name, report = {}) => {
      const index = this.#pendingMarks.findIndex((mark) => mark.name === name);
      const [mark] = index < 0 ? [] : this.#pendingMarks.splice(index, 1);
      // Unknown, or returned twice.
      if (mark === undefined) return;
      const { outcome = mark.isCleared ? 'cleared' : 'played', position = this.#estimate.position } = report;
      this.events.emit('mark', { name, outcome, ...position });
    },
    cleared: (position) => this.#emitCleared(position),
    hold: (isHeld) => this.events.emit('hold', { isHeld }),
    transferStatus: (status: TransferStatus) => this.events.emit('transfer', status),
    control: (control) => {
      if (this.#early && this.#early.controls.length < MAX_EARLY) this.#early.controls.push(control);
      this.events.emit('control', control);
    },
    request: (request) => this.events.emit('request', request),
    stopped: () => {
      // The socket stays open until the session has ended, so that the gateway knows when it has.
      this.wasStopped = true;
      this.#end(CLOSE_NORMAL, '');
    },
    malformed: () => {
      this.malformed++;
    },
  };

  /** @param filledToMs - The time up to which the dialect was called. */
  #fillSilence(filledToMs: number, delayMs: number): void {
    this.#silenceTimer = this.#clock.setTimer(() => {
      const frames = Math.floor((this.#clock.monotonicMs() - filledToMs) / FRAME_MS);
      const { receivedSamples } = this;
      for (let n = 0; n < Math.min(frames, MAX_FRAMES_AT_ONCE) && !this.#isClosed; n++)
        this.#dialect.fillSilence?.(this.#handler);
      const nextMs = this.receivedSamples > receivedSamples ? FRAME_MS : AUDIO_CHECK_MS;
      if (!this.#isClosed) this.#fillSilence(filledToMs + frames * FRAME_MS, nextMs);
    }, delayMs);
  }

  #advanceLead(samples: number): number {
    const nowMs = this.#clock.monotonicMs();
    const leadMs = Math.max(0, this.#leadMs - (nowMs - this.#receivedAtMs));
    this.#leadMs = leadMs + (samples / this.info.sampleRateHz) * 1000;
    this.#receivedAtMs = nowMs;
    return this.#leadMs;
  }

  #emitCleared(position: PlayoutPosition): void {
    if (!this.#isClosed) this.events.emit('cleared', position);
  }

  #end(code: number, reason: string): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#pendingMarks = [];
    this.#silenceTimer?.cancel();
    this.events.emit('closed', { code, reason });
  }
}

/** What a dialect sends through: a gateway that does not read is disconnected. */
export function toConnection(socket: StreamSocket): DialectConnection {
  return {
    send(message) {
      if (socket.bufferedAmount <= MAX_UNSENT_BYTES) sendMessage(socket, message);
      else socket.close(CLOSE_TRY_AGAIN_LATER, 'the peer does not read its audio');
    },
    close: (reason) => socket.close(CLOSE_NORMAL, reason),
  };
}
