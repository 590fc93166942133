import { createEmitter } from '../../../src/base/emitter.ts';
import type {
  AudioStream,
  AudioStreamEvents,
  EarlyInput,
} from '../../../src/conversation/streams/audioStream.ts';
import { PlayoutQueue } from '../../../src/media/agentStream/playoutQueue.ts';
import type {
  AgentControl,
  CallCommand,
  Caption,
  FailoverPrompts,
  PeerRequest,
  TransferStatus,
} from '../../../src/media/agentStream/streamClient.ts';
import { concatenated } from '../../../src/media/pcm16.ts';
import type { SimulatedClock } from '../../support/simulatedClock.ts';

const FRAME_MS = 20;

export interface SimulatedStreamOptions {
  readonly clock: SimulatedClock;
  readonly sampleRateHz?: number;
  readonly bufferDelayMs?: number;
  /** Frames until a clear takes effect and is reported. */
  readonly clearDelayFrames?: number;
  /** Samples received before the session started. */
  readonly receivedBefore?: number;
  /** A peer that reports neither marks nor clears. */
  readonly isMute?: boolean;
  readonly isHeardEstimated?: boolean;
  readonly callId?: string;
  /** More of what the stream says of itself. */
  readonly info?: Partial<AudioStream['info']>;
  /** What supervisors asked before the session started. */
  readonly early?: Partial<EarlyInput>;
  readonly captions?: boolean;
}

/** A call's audio on a simulated clock: plays the agent's samples to the sample, and delivers the caller's. */
export interface SimulatedStream extends AudioStream {
  readonly commands: readonly CallCommand[];
  readonly failoverPrompts: readonly FailoverPrompts[];
  readonly captions: readonly Caption[];
  /** What the caller heard, silence included: the agent's channel of a recording. */
  readonly agentAudio: () => Int16Array;
  /** What the caller said, silence included. */
  readonly callerAudio: () => Int16Array;
  /** Queues samples of the caller. */
  speak(samples: Int16Array): void;
  pressDigit(digit: string): void;
  /** While on hold, queued audio of the agent waits. */
  putOnHold(isHeld: boolean): void;
  reportTransfer(status: TransferStatus): void;
  control(control: AgentControl): void;
  request(request: PeerRequest): void;
  /** Advances time frame by frame. */
  advance(ms: number): Promise<void>;
  /** Advances time until the condition holds. @throws {Error} When it does not within `timeoutMs`. */
  until(condition: () => boolean, timeoutMs?: number): Promise<void>;
  hangUp(): Promise<void>;
  readonly nowMs: () => number;
  readonly isClosed: () => boolean;
  readonly listeners: () => number;
}

export function createSimulatedStream(options: SimulatedStreamOptions): SimulatedStream {
  return new SimulatedPeer(options);
}

class SimulatedPeer implements SimulatedStream {
  readonly #options: SimulatedStreamOptions;
  readonly #frameSamples: number;
  readonly #bufferDelayMs: number;
  readonly #emitter = createEmitter<AudioStreamEvents>((error) => {
    throw error;
  });
  readonly #marks: { name: string; outcome: 'played' | 'cleared' }[] = [];
  readonly #queue: PlayoutQueue;
  readonly #listeners = new Set<object>();
  readonly #agentTape = createTape();
  readonly #callerTape = createTape();
  #toSay: Int16Array = new Int16Array(0);
  #clearIn: number | undefined;
  #isClosed = false;
  #isHeld = false;
  readonly info: AudioStream['info'];
  receivedSamples: number;
  readonly commands: CallCommand[] = [];
  readonly failoverPrompts: FailoverPrompts[] = [];
  readonly captions: Caption[] = [];

  constructor(options: SimulatedStreamOptions) {
    const { sampleRateHz = 8000, bufferDelayMs = 40, receivedBefore = 0, callId, isHeardEstimated } = options;
    this.#options = options;
    this.#frameSamples = (sampleRateHz * FRAME_MS) / 1000;
    this.#bufferDelayMs = bufferDelayMs;
    this.receivedSamples = receivedBefore;
    const ids = { projectId: 'project-1', sessionId: 's' };
    this.info = {
      ...ids,
      sampleRateHz,
      customParameters: {},
      isHeardEstimated,
      ...(callId === undefined ? {} : { callId }),
      ...(options.captions ? { captions: true } : {}),
      ...options.info,
    };
    this.#queue = new PlayoutQueue({
      sampleRateHz,
      onMark: ({ name, outcome }) => this.#marks.push({ name, outcome }),
    });
  }

  readonly events: AudioStream['events'] = {
    on: (name, listener) => {
      const off = this.#emitter.on(name, listener);
      const key = {};
      this.#listeners.add(key);
      return () => {
        this.#listeners.delete(key);
        off();
      };
    },
  };

  readonly listeners = () => this.#listeners.size;
  readonly nowMs = () => (this.receivedSamples * 1000) / this.info.sampleRateHz;
  readonly isClosed = () => this.#isClosed;
  readonly agentAudio = () => this.#agentTape.all();
  readonly callerAudio = () => this.#callerTape.all();

  callerSpeech(): void {}

  caption(caption: Caption): void {
    this.captions.push(caption);
  }

  play(samples: Int16Array): void {
    if (this.#queue.enqueue(samples) < samples.length) throw new Error('the playout queue is full');
  }

  mark(name: string): void {
    this.#queue.mark(name);
    // A report crosses the network, even for a mark that fires at once.
    setImmediate(() => this.#reportMarks());
  }

  clear(): void {
    const { clearDelayFrames = 0 } = this.#options;
    this.#clearIn ??= clearDelayFrames;
    if (clearDelayFrames === 0) setImmediate(() => this.#clearIn !== undefined && this.#clearNow());
  }

  command(command: CallCommand): void {
    this.commands.push(command);
  }

  setFailoverPrompts(prompts: FailoverPrompts): void {
    this.failoverPrompts.push(prompts);
  }

  close(code = 1000, reason = ''): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#emitter.emit('closed', { code, reason });
  }

  speak(samples: Int16Array): void {
    this.#toSay = concatenated([this.#toSay, samples]);
  }

  // Passed as a function by some tests.
  readonly pressDigit = (digit: string) => this.#emitter.emit('dtmf', { digit });

  putOnHold(isHeld: boolean): void {
    this.#isHeld = isHeld;
    this.#emitter.emit('hold', { isHeld });
  }

  takeEarly(): EarlyInput {
    return { controls: [], digits: [], ...this.#options.early };
  }

  control(control: AgentControl): void {
    this.#emitter.emit('control', control);
  }

  request(request: PeerRequest): void {
    this.#emitter.emit('request', request);
  }

  reportTransfer(status: TransferStatus): void {
    this.#emitter.emit('transfer', status);
  }

  async advance(ms: number): Promise<void> {
    for (let passed = 0; passed < ms && !this.#isClosed; passed += FRAME_MS) {
      this.#tick();
      await settled();
    }
  }

  async until(condition: () => boolean, timeoutMs = 60_000): Promise<void> {
    for (let passed = 0; !condition(); passed += FRAME_MS) {
      if (passed >= timeoutMs) throw new Error(`the condition did not hold within ${timeoutMs} ms`);
      await this.advance(FRAME_MS);
    }
  }

  async hangUp(): Promise<void> {
    this.close(1000, 'the caller hung up');
    await settled();
  }

  #tick(): void {
    this.#options.clock.advance(FRAME_MS);
    const frame = new Int16Array(this.#frameSamples);
    frame.set(this.#toSay.subarray(0, this.#frameSamples));
    this.#toSay = this.#toSay.subarray(this.#frameSamples);
    this.#callerTape.append(frame);
    this.receivedSamples += this.#frameSamples;
    const out = new Int16Array(this.#frameSamples);
    if (!this.#isHeld) this.#queue.pull(out);
    this.#agentTape.append(out);
    this.#reportMarks();
    if (this.#clearIn !== undefined && this.#clearIn-- <= 0) this.#clearNow();
    this.#emitter.emit('audio', frame);
  }

  #position() {
    const playedSamples = this.#queue.playedPosition;
    return { playedSamples, receivedSamples: this.receivedSamples, bufferDelayMs: this.#bufferDelayMs };
  }

  #reportMarks(): void {
    for (const mark of this.#marks.splice(0))
      if (!this.#options.isMute) this.#emitter.emit('mark', { ...mark, ...this.#position() });
  }

  #clearNow(): void {
    this.#clearIn = undefined;
    this.#queue.clear();
    this.#reportMarks();
    if (!this.#options.isMute) this.#emitter.emit('cleared', this.#position());
  }
}

/** Runs everything that waits only for the event loop. */
async function settled(): Promise<void> {
  for (let n = 0; n < 3; n++) await new Promise((resolve) => setImmediate(resolve));
}

/** A growing recording; views of it that were returned do not change. */
function createTape() {
  let samples = new Int16Array(16_000);
  let length = 0;
  return {
    append(more: Int16Array): void {
      if (length + more.length > samples.length) {
        const longer = new Int16Array(2 * samples.length + more.length);
        longer.set(samples);
        samples = longer;
      }
      samples.set(more, length);
      length += more.length;
    },
    all: () => samples.subarray(0, length),
  };
}
