import type { MediaEvents, TransferStatus } from '../mediaSession.ts';
import type { PlayoutPosition } from '../playPosition.ts';
import { createFrameResampler, type FrameResampler, frameLength } from '../resample/frameResampler.ts';
import type { SampleRateHz } from '../resample/resampler.ts';
import { CallerSendBuffer } from './callerSendBuffer.ts';
import type { FailoverPrompts } from './failoverPlayer.ts';
import { PlayoutQueue } from './playoutQueue.ts';
import type { StreamClient, StreamHandler } from './streamClient.ts';
import { UnderrunCounter } from './underrunCounter.ts';

export interface ConnectionEvents {
  readonly onCommand: (command: MediaEvents['command']) => void;
  /** @param sampleRateHz - Of the words. */
  readonly onStandby: (words: FailoverPrompts, sampleRateHz: SampleRateHz) => void;
  readonly onClosed: (end: MediaEvents['streamClosed']) => void;
}

/** What the engine is told after the tick. */
type Answer =
  | {
      readonly kind: 'mark';
      readonly name: string;
      readonly outcome: 'played' | 'cleared';
      readonly playedSamples: number;
    }
  | { readonly kind: 'cleared' };

/** The link, and what is made for its rate. */
interface Opened {
  readonly link: StreamClient;
  readonly queue: PlayoutQueue;
  readonly outbox: CallerSendBuffer;
  readonly linkFrame: Int16Array;
  /** Caller's audio up, agent's down. */
  up: FrameResampler;
  down: FrameResampler;
}

/** Enough for what a peer may say along with its consent; more is nonsense. */
const MAX_EARLY_CALLS = 1000;

/**
 * One connection to an engine with its playout queue, between the link's rate and the codec's. What the engine is told
 * of its audio it is told after the tick's packet has left, so that a mark means what it says.
 */
export class AgentConnection {
  /** Samples that the engine sent beyond what may wait. */
  overflowedSamples = 0;
  readonly underruns = new UnderrunCounter();
  readonly #events: ConnectionEvents;
  #codecRateHz: SampleRateHz;
  #opened: Opened | undefined;
  #early: (() => void)[] = [];
  #answers: Answer[] = [];
  #isClosed = false;
  #isHeld = false;
  /** Frames of speech in the resampler's memory must still come out. */
  #wasSounding = false;

  constructor(codecRateHz: SampleRateHz, events: ConnectionEvents) {
    this.#codecRateHz = codecRateHz;
    this.#events = events;
  }

  /** For the link: what comes before `open` waits for it. */
  readonly receiver: StreamHandler = {
    audio: (samples) => this.#whenOpen(({ queue }) => this.#enqueue(queue, samples)),
    mark: (name) => this.#whenOpen(({ queue }) => this.#setMark(queue, name)),
    clear: () =>
      this.#whenOpen(({ queue }) => {
        queue.clear();
        this.underruns.ended();
        this.#answers.push({ kind: 'cleared' });
      }),
    command: (command) => this.#whenOpen(() => this.#events.onCommand(command)),
    failoverPrompts: (words) =>
      this.#whenOpen(({ link }) => this.#events.onStandby(words, link.sampleRateHz)),
    closed: (end) =>
      this.#whenOpen(() => {
        this.#isClosed = true;
        this.#events.onClosed(end);
      }),
  };

  /** The engine is there. */
  get isOpen(): boolean {
    return this.#opened !== undefined && !this.#isClosed;
  }

  open(link: StreamClient): void {
    const queue: PlayoutQueue = new PlayoutQueue({
      sampleRateHz: link.sampleRateHz,
      onMark: ({ name, outcome, position }) => {
        if (queue.queuedSamples === 0) this.underruns.ended();
        this.#answers.push({ kind: 'mark', name, outcome, playedSamples: position });
      },
    });
    const samples = frameLength(link.sampleRateHz);
    this.#opened = {
      link,
      queue,
      outbox: new CallerSendBuffer(link, samples),
      linkFrame: new Int16Array(samples),
      up: createFrameResampler(this.#codecRateHz, link.sampleRateHz),
      down: createFrameResampler(link.sampleRateHz, this.#codecRateHz),
    };
    if (this.#isHeld) link.sendHold(true);
    for (const call of this.#early.splice(0)) call();
  }

  /** The call goes on with another codec. */
  changeRate(codecRateHz: SampleRateHz): void {
    if (codecRateHz === this.#codecRateHz) return;
    this.#codecRateHz = codecRateHz;
    if (this.#opened === undefined) return;
    const { sampleRateHz } = this.#opened.link;
    this.#opened.up = createFrameResampler(codecRateHz, sampleRateHz);
    this.#opened.down = createFrameResampler(sampleRateHz, codecRateHz);
  }

  /** @param frame - The caller's next 20 ms at the codec's rate. */
  sendCaller(frame: Int16Array): void {
    if (this.#opened === undefined || this.#isClosed) return;
    this.#opened.outbox.send(this.#opened.up.process(frame));
  }

  sendDigit(digit: string, durationMs: number): void {
    if (!this.#isClosed) this.#opened?.link.sendDtmf(digit, durationMs);
  }

  sendTransfer(progress: TransferStatus): void {
    if (!this.#isClosed) this.#opened?.link.sendTransfer(progress);
  }

  /** Tells the engine whether the peer hears it. */
  setHeld(isHeld: boolean): void {
    if (isHeld === this.#isHeld) return;
    this.#isHeld = isHeld;
    if (!this.#isClosed) this.#opened?.link.sendHold(isHeld);
  }

  /**
   * Fills the frame with what the engine says, or silence. What it said before it went away still sounds.
   *
   * @param frame - 20 ms at the codec's rate.
   * @returns Whether there is speech in it.
   */
  pullAgent(frame: Int16Array): boolean {
    const opened = this.#opened;
    const isIdle = opened === undefined || (opened.queue.queuedSamples === 0 && !this.#wasSounding);
    if (opened !== undefined) this.underruns.pulling(opened.queue.queuedSamples, opened.linkFrame.length);
    if (isIdle) {
      frame.fill(0);
      return false;
    }
    const samples = opened.queue.pull(opened.linkFrame);
    frame.set(opened.down.process(opened.linkFrame));
    this.#wasSounding = samples > 0;
    return samples > 0;
  }

  /** Tells the engine what became of its audio; call when the tick's packet has left. */
  answer(bufferDelayMs: number): void {
    if (this.#answers.length === 0 || this.#opened === undefined) return;
    const { link, outbox, queue } = this.#opened;
    const answers = this.#answers;
    this.#answers = [];
    if (this.#isClosed) return;
    const receivedSamples = outbox.sentSamples;
    for (const answer of answers) {
      if (answer.kind === 'mark') {
        const { name, outcome, playedSamples } = answer;
        link.sendMark({ name, outcome, playedSamples, receivedSamples, bufferDelayMs });
      } else {
        const position: PlayoutPosition = {
          playedSamples: queue.playedPosition,
          receivedSamples,
          bufferDelayMs,
        };
        link.sendCleared(position);
      }
    }
  }

  get droppedCallerFrames(): number {
    return this.#opened?.outbox.droppedFrames ?? 0;
  }

  /** Idempotent. */
  async close(code: number, reason: string): Promise<void> {
    this.#isClosed = true;
    await this.#opened?.link.close(code, reason);
  }

  /** What does not fit is counted and let go: an engine two minutes ahead of its caller talks to nobody. */
  #enqueue(queue: PlayoutQueue, samples: Int16Array): void {
    if (samples.length > 0) this.underruns.came();
    const result = queue.enqueue(samples);
    if (result.accepted) return;
    const taken = queue.enqueue(samples.subarray(0, result.roomSamples));
    this.overflowedSamples += samples.length - (taken.accepted ? result.roomSamples : 0);
  }

  /** One mark too many is answered, too, so that nobody waits for it. */
  #setMark(queue: PlayoutQueue, name: string): void {
    if (queue.mark(name)) return;
    this.#answers.push({ kind: 'mark', name, outcome: 'cleared', playedSamples: queue.playedPosition });
  }

  #whenOpen(call: (opened: Opened) => void): void {
    if (this.#isClosed) return;
    if (this.#opened !== undefined) call(this.#opened);
    else if (this.#early.length < MAX_EARLY_CALLS) this.#early.push(() => this.#whenOpen(call));
  }
}
