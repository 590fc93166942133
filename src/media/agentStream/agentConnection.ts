import { createFrameResampler, type FrameResampler, frameLength } from '../resample/frameResampler.ts';
import type { SampleRateHz } from '../resample/resampler.ts';
import { CallerSendBuffer } from './callerSendBuffer.ts';
import { PlayoutQueue } from './playoutQueue.ts';
import type {
  AgentMessages,
  CallCommand,
  FailoverPrompts,
  MarkReport,
  StreamClient,
  StreamEnd,
  StreamHandler,
} from './streamClient.ts';
import { UnderrunCounter } from './underrunCounter.ts';

export interface ConnectionEvents {
  readonly onCommand: (command: CallCommand) => void;
  /** @param sampleRateHz - Called with the prompts and their sample rate. */
  readonly onFailoverPrompts: (prompts: FailoverPrompts, sampleRateHz: SampleRateHz) => void;
  readonly onClosed: (end: StreamEnd) => void;
}

/** Sent to the agent after the tick's packet, so that reported audio has been sent. */
type Answer =
  | ({ readonly kind: 'mark' } & Pick<MarkReport, 'name' | 'outcome' | 'playedSamples'>)
  | { readonly kind: 'cleared' };

/** An open stream, and what depends on its rate. */
interface OpenStream {
  readonly client: StreamClient;
  readonly queue: PlayoutQueue;
  readonly sendBuffer: CallerSendBuffer;
  readonly frame: Int16Array;
  fromCaller: FrameResampler;
  toCaller: FrameResampler;
}

/** Above what an agent may send along with its first message. */
const MAX_EARLY_MESSAGES = 1000;

/** One connection to an agent: its playout queue, and the resampling between the stream's rate and the codec's. */
export class AgentConnection {
  /** The agent's samples beyond the queue's capacity. */
  overflowedSamples = 0;
  readonly underruns = new UnderrunCounter();
  readonly #events: ConnectionEvents;
  #codecRateHz: SampleRateHz;
  #stream: OpenStream | undefined;
  #early: (() => void)[] = [];
  #answers: Answer[] = [];
  #isClosed = false;
  #isHeld = false;
  #isMuted = false;
  /** The resampler still holds the end of the agent's speech. */
  #wasSounding = false;

  constructor(codecRateHz: SampleRateHz, events: ConnectionEvents) {
    this.#codecRateHz = codecRateHz;
    this.#events = events;
  }

  /** Messages before `open` wait for it. */
  readonly handler: StreamHandler = {
    audio: (samples) => this.#whenOpen(({ queue }) => this.#enqueue(queue, samples)),
    mark: (name) => this.#whenOpen(({ queue }) => this.#setMark(queue, name)),
    clear: () =>
      this.#whenOpen(({ queue }) => {
        queue.clear();
        this.underruns.ended();
        this.#answers.push({ kind: 'cleared' });
      }),
    command: (command) => this.#whenOpen(() => this.#events.onCommand(command)),
    failoverPrompts: (prompts) =>
      this.#whenOpen(({ client }) => this.#events.onFailoverPrompts(prompts, client.sampleRateHz)),
    closed: (end) =>
      this.#whenOpen(() => {
        this.#isClosed = true;
        this.#events.onClosed(end);
      }),
  };

  get isOpen(): boolean {
    return this.#stream !== undefined && !this.#isClosed;
  }

  get droppedCallerFrames(): number {
    return this.#stream?.sendBuffer.droppedFrames ?? 0;
  }

  open(client: StreamClient): void {
    const { sampleRateHz } = client;
    const queue: PlayoutQueue = new PlayoutQueue({
      sampleRateHz,
      onMark: ({ name, outcome, position }) => {
        if (queue.queuedSamples === 0) this.underruns.ended();
        this.#answers.push({ kind: 'mark', name, outcome, playedSamples: position });
      },
    });
    const frameSamples = frameLength(sampleRateHz);
    this.#stream = {
      client,
      queue,
      sendBuffer: new CallerSendBuffer(client, frameSamples),
      frame: new Int16Array(frameSamples),
      fromCaller: createFrameResampler(this.#codecRateHz, sampleRateHz),
      toCaller: createFrameResampler(sampleRateHz, this.#codecRateHz),
    };
    if (this.#isHeld) client.toAgent.hold?.(true);
    for (const message of this.#early.splice(0)) message();
  }

  /** The call has another codec from now on. */
  changeRate(codecRateHz: SampleRateHz): void {
    if (codecRateHz === this.#codecRateHz) return;
    this.#codecRateHz = codecRateHz;
    if (this.#stream === undefined) return;
    const { sampleRateHz } = this.#stream.client;
    this.#stream.fromCaller = createFrameResampler(codecRateHz, sampleRateHz);
    this.#stream.toCaller = createFrameResampler(sampleRateHz, codecRateHz);
  }

  /** @param frame - The caller's next 20 ms at the codec's rate. */
  sendCaller(frame: Int16Array): void {
    if (this.#stream === undefined || this.#isClosed) return;
    this.#stream.sendBuffer.send(this.#stream.fromCaller.process(frame));
  }

  /** Where messages other than audio go; undefined while the connection is not open. */
  get toAgent(): AgentMessages | undefined {
    return this.#isClosed ? undefined : this.#stream?.client.toAgent;
  }

  /** Tells the agent whether the caller hears it. */
  setHeld(isHeld: boolean): void {
    if (isHeld === this.#isHeld) return;
    this.#isHeld = isHeld;
    this.toAgent?.hold?.(isHeld);
  }

  /** While muted, the agent's audio is dropped and its marks come back at once; what was queued is cleared. */
  setMuted(isMuted: boolean): void {
    if (isMuted === this.#isMuted) return;
    this.#isMuted = isMuted;
    this.#stream?.queue.clear();
    this.underruns.ended();
  }

  /**
   * Fills the frame with the agent's next audio, or silence. Queued audio of a closed connection is still played.
   *
   * @param frame - 20 ms at the codec's rate.
   * @returns Whether the frame has speech.
   */
  pullAgent(frame: Int16Array): boolean {
    const stream = this.#stream;
    if (stream !== undefined) this.underruns.pulling(stream.queue.queuedSamples, stream.frame.length);
    if (stream === undefined || (stream.queue.queuedSamples === 0 && !this.#wasSounding)) {
      frame.fill(0);
      return false;
    }
    const samples = stream.queue.pull(stream.frame);
    frame.set(stream.toCaller.process(stream.frame));
    this.#wasSounding = samples > 0;
    return samples > 0;
  }

  /** Sends the tick's answers; call when the tick's packet has left. */
  sendAnswers(bufferDelayMs: number): void {
    if (this.#answers.length === 0 || this.#stream === undefined) return;
    const { sendBuffer, queue } = this.#stream;
    const receivedSamples = sendBuffer.sentSamples;
    for (const answer of this.#answers.splice(0)) {
      if (answer.kind === 'mark') {
        const { name, outcome, playedSamples } = answer;
        this.toAgent?.mark({ name, outcome, playedSamples, receivedSamples, bufferDelayMs });
      } else {
        this.toAgent?.cleared?.({ playedSamples: queue.playedPosition, receivedSamples, bufferDelayMs });
      }
    }
  }

  async close(code: number, reason: string): Promise<void> {
    this.#isClosed = true;
    await this.#stream?.client.close(code, reason);
  }

  #enqueue(queue: PlayoutQueue, samples: Int16Array): void {
    if (this.#isMuted) return;
    if (samples.length > 0) this.underruns.received();
    this.overflowedSamples += samples.length - queue.enqueue(samples);
  }

  /** A mark above the queue's limit, or while muted, is answered as well, so that the agent does not wait for it. */
  #setMark(queue: PlayoutQueue, name: string): void {
    if (!this.#isMuted && queue.mark(name)) return;
    this.#answers.push({ kind: 'mark', name, outcome: 'cleared', playedSamples: queue.playedPosition });
  }

  #whenOpen(handle: (stream: OpenStream) => void): void {
    if (this.#isClosed) return;
    if (this.#stream !== undefined) handle(this.#stream);
    else if (this.#early.length < MAX_EARLY_MESSAGES) this.#early.push(() => this.#whenOpen(handle));
  }
}
