import type { AudioStream } from '../../conversation/streams/audioStream.ts';
import type { MarkReport, PlayoutPosition } from '../../media/agentStream/streamClient.ts';
import { FRAME_MS } from '../../media/codecs/codec.ts';

export interface PlayoutRunDeps {
  readonly stream: AudioStream;
  /** Returns a name that is unique on the stream. */
  readonly nextMark: () => string;
}

/** The position of both directions of the stream when the run's first frame was played. */
interface RunStart {
  /** The samples that the peer had played; undefined when the peer does not report them and they are estimated. */
  readonly playedSamples: number | undefined;
  readonly receivedSamples: number;
}

/**
 * Samples of an answer that were sent without a stop between them. Knows how many of them were heard: from the marks the
 * peer returns, and in between from the caller's samples, which tell the time.
 */
export class PlayoutRun {
  readonly #deps: PlayoutRunDeps;
  readonly #frameSamples: number;
  /** Position in the answer where it starts, in samples. */
  readonly from: number;
  #sentTo: number;
  #beginMark: string | undefined;
  #endMark: string | undefined;
  /** When the run was sent, and when its end is due, on the stream's clock in samples. */
  #sentAt = 0;
  #endDueAt = 0;
  #start: RunStart | undefined;

  constructor(deps: PlayoutRunDeps, from: number) {
    this.#deps = deps;
    this.#frameSamples = (deps.stream.info.sampleRateHz * FRAME_MS) / 1000;
    this.from = from;
    this.#sentTo = from;
  }

  /** Position in the answer up to which it was sent. */
  get sentTo(): number {
    return this.#sentTo;
  }

  get isEmpty(): boolean {
    return this.#sentTo === this.from;
  }

  /** Whether the run's first frame was played. */
  get hasStarted(): boolean {
    return this.#start !== undefined;
  }

  /** Whether the run's end was marked. */
  get isMarked(): boolean {
    return this.#endMark !== undefined;
  }

  /** Position in the answer up to which it was heard. */
  get heardTo(): number {
    if (!this.#start) return this.from;
    return Math.min(this.#sentTo, this.from + Math.max(0, this.#elapsed(this.#start)));
  }

  send(samples: Int16Array): void {
    const { stream, nextMark } = this.#deps;
    if (this.#beginMark === undefined) {
      this.#beginMark = nextMark();
      this.#sentAt = stream.receivedSamples;
      const first = samples.subarray(0, this.#frameSamples);
      stream.play(first);
      stream.mark(this.#beginMark);
      if (samples.length > first.length) stream.play(samples.subarray(first.length));
    } else {
      this.#skipGap();
      stream.play(samples);
    }
    this.#sentTo += samples.length;
  }

  /** Marks the end; {@link onMark} reports it. */
  markEnd(): void {
    const { stream, nextMark } = this.#deps;
    this.#endMark = nextMark();
    this.#endDueAt = stream.receivedSamples + this.#sentTo - this.heardTo;
    stream.mark(this.#endMark);
  }

  /** @returns What the mark reports of this run. */
  onMark(mark: MarkReport): 'started' | 'ended' | undefined {
    if (mark.name === this.#beginMark && !this.#start) {
      const firstSamples = Math.min(this.#frameSamples, this.#sentTo - this.from);
      this.#start = {
        playedSamples: mark.playedSamples - firstSamples,
        receivedSamples: mark.receivedSamples,
      };
      return 'started';
    }
    return mark.name === this.#endMark ? 'ended' : undefined;
  }

  /** Position in the answer up to which it was heard when the peer cleared its queue. */
  heardToAt(position: PlayoutPosition): number {
    if (!this.#start) return this.from;
    const { playedSamples } = this.#start;
    if (playedSamples === undefined) return this.heardTo;
    return Math.max(this.from, Math.min(this.#sentTo, this.from + position.playedSamples - playedSamples));
  }

  /** @returns The assumed start, once a peer has not reported it for this long; undefined otherwise. */
  assumeStartAfter(samples: number): PlayoutPosition | undefined {
    if (this.isEmpty || this.#start || this.#deps.stream.receivedSamples - this.#sentAt <= samples)
      return undefined;
    const receivedSamples = this.#sentAt + this.#frameSamples;
    this.#start = { playedSamples: undefined, receivedSamples };
    return { playedSamples: 0, receivedSamples, bufferDelayMs: 0 };
  }

  /** Whether the marked end is overdue by more than this. */
  isOverdueBy(samples: number): boolean {
    const isDue = this.isMarked && this.#deps.stream.receivedSamples - this.#endDueAt > samples;
    return isDue && this.heardTo >= this.#sentTo;
  }

  /** The peer played nothing for one frame: moves the run's times by it. */
  shiftByFrame(): void {
    this.#sentAt += this.#frameSamples;
    this.#endDueAt += this.#frameSamples;
    this.#shiftStart(this.#frameSamples);
  }

  /** Everything sent so far was heard a while ago: what is sent now is heard from now. */
  #skipGap(): void {
    if (!this.#start) return;
    const gap = this.#elapsed(this.#start) - (this.#sentTo - this.from);
    if (gap > 0) this.#shiftStart(gap);
  }

  #shiftStart(samples: number): void {
    if (!this.#start) return;
    this.#start = { ...this.#start, receivedSamples: this.#start.receivedSamples + samples };
  }

  /** Time since its first frame was played, in samples. */
  #elapsed({ receivedSamples }: RunStart): number {
    return this.#deps.stream.receivedSamples - receivedSamples + this.#frameSamples;
  }
}
