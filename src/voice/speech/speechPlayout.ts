import type { AudioStream } from '../../conversation/streams/audioStream.ts';
import type { MarkReport, PlayoutPosition } from '../../media/agentStream/streamClient.ts';
import { FRAME_MS } from '../../media/codecs/codec.ts';
import { PlayoutRun } from './playoutRun.ts';
import { type PlayoutEvent, type PlayoutState, playoutTransition } from './playoutState.ts';

/** A peer that has not answered a mark or a clear for this long never will; it answers within a frame or two. */
const REPORT_TIMEOUT_MS = 1500;
/** Played samples are kept this long, for a stop that is reported late. */
const RETENTION_MS = 2000;

export interface SpeechPlayoutDeps {
  readonly stream: AudioStream;
  /** Returns a name that is unique on the stream. */
  readonly nextMark: () => string;
  /** Monotonic. */
  readonly nowMs: () => number;
  /** The first sample was played; with the position of both directions at that moment. */
  readonly onStarted: (position: PlayoutPosition) => void;
}

/** The last decision to stop: when it was made, and what the peer reported of it. */
interface Stop {
  /** On the stream's clock, in samples. */
  readonly at: number;
  readonly atMs: number;
  readonly stopMs?: number;
  readonly isReported?: boolean | undefined;
}

/** Plays the samples of one answer over a stream and knows how many of them were heard. @see playoutTransition */
export class SpeechPlayout {
  readonly #deps: SpeechPlayoutDeps;
  readonly #frame: Int16Array;
  /** Resolves once all was played, or once the position of the stop is known. */
  readonly ended: Promise<'played' | 'stopped'>;
  #resolveEnded: (outcome: 'played' | 'stopped') => void = () => undefined;
  /** Samples that a resume may have to send again. */
  readonly #chunks: { readonly from: number; readonly samples: Int16Array }[] = [];
  #lengthSamples = 0;
  #isComplete = false;
  #run: PlayoutRun;
  #state: PlayoutState = 'playing';
  #stoppedAt = 0;
  #stop: Stop | undefined;
  /** Whether the first sample was played. */
  hasStarted = false;

  constructor(deps: SpeechPlayoutDeps) {
    this.#deps = deps;
    this.#frame = new Int16Array((deps.stream.info.sampleRateHz * FRAME_MS) / 1000);
    this.#run = new PlayoutRun(deps, 0);
    this.ended = new Promise((resolve) => {
      this.#resolveEnded = resolve;
    });
  }

  /** Whether it was stopped for good, even if the position is not known yet. */
  get isStopped(): boolean {
    return this.#state === 'stopping' || this.#state === 'stopped';
  }

  /** The time from the last decision to stop until the last packet was sent; undefined when the peer did not report it. */
  get stopMs(): number | undefined {
    return this.#stop?.stopMs;
  }

  /** Whether the peer itself has told where it stopped. */
  get isStopReported(): boolean {
    return this.#stop?.isReported ?? false;
  }

  /** Position up to which the answer was heard, in samples. */
  get position(): number {
    return this.#isSilent ? this.#stoppedAt : this.#run.heardTo;
  }

  /** Whether it plays and everything appended so far was heard. */
  get isDrained(): boolean {
    return this.#state === 'playing' && this.#run.heardTo >= this.#lengthSamples;
  }

  /** Appends samples, which it keeps. */
  append(samples: Int16Array): void {
    this.#chunks.push({ from: this.#lengthSamples, samples });
    this.#lengthSamples += samples.length;
    if (this.#state === 'playing') this.#run.send(samples);
  }

  /** Completes the playout; nothing is appended from now on. */
  complete(): void {
    this.#isComplete = true;
    this.#endIfComplete();
  }

  /** Stops within a frame; {@link resume} continues there. */
  pause(): void {
    this.#apply('pause');
  }

  resume(): void {
    this.#apply('resume');
  }

  /** Stops for good. Idempotent. */
  stop(): void {
    this.#apply('stop');
  }

  /** Returns what was heard during the caller's last frame; undefined for silence. Valid until the next call. */
  lastFrame(): Int16Array | undefined {
    if (this.#isSilent || !this.#run.hasStarted) return undefined;
    const out = this.#frame.fill(0);
    const end = this.#run.heardTo;
    for (const { from, samples } of this.#chunks) {
      const at = from - (end - out.length);
      if (at >= out.length) break;
      if (at + samples.length > 0)
        out.set(samples.subarray(Math.max(0, -at), out.length - at), Math.max(0, at));
    }
    return out;
  }

  onMark(mark: MarkReport): void {
    if (mark.outcome === 'cleared') return;
    const reported = this.#run.onMark(mark);
    if (reported === 'started') this.#onStarted(mark);
    if (reported === 'ended') this.#apply('all_played');
  }

  onCleared(position: PlayoutPosition): void {
    if (!this.#stop || !this.#isStopping) return;
    const stopMs = this.#deps.nowMs() - this.#stop.atMs;
    this.#stop = { ...this.#stop, stopMs, isReported: position.isReported };
    this.#onStopped(this.#run.heardToAt(position));
  }

  /** Call with each frame of the caller. @param isOnHold - The peer plays nothing: time stands still. */
  onFrame(isOnHold: boolean): void {
    if (isOnHold) {
      this.#run.shiftByFrame();
      return;
    }
    const { receivedSamples, info } = this.#deps.stream;
    const timeoutSamples = (REPORT_TIMEOUT_MS * info.sampleRateHz) / 1000;
    if (this.#isStopping && receivedSamples - (this.#stop?.at ?? 0) > timeoutSamples)
      this.#onStopped(this.#run.heardTo);
    if (this.#state === 'playing') {
      const assumedStart = this.#run.assumeStartAfter(timeoutSamples);
      if (assumedStart) this.#onStarted(assumedStart);
      if (this.#run.isOverdueBy(timeoutSamples)) this.#apply('all_played');
    }
    this.#dropOldChunks();
  }

  /** The stream has closed: nothing more is reported. */
  onClosed(): void {
    const heardTo = this.position;
    this.stop();
    if (this.#isStopping) this.#onStopped(heardTo);
  }

  #onStarted(position: PlayoutPosition): void {
    if (this.hasStarted) return;
    this.hasStarted = true;
    this.#deps.onStarted(position);
  }

  /** Whether it was told to pause or stop, and the position is not known. */
  get #isStopping(): boolean {
    return this.#state === 'pausing' || this.#state === 'resuming' || this.#state === 'stopping';
  }

  get #isSilent(): boolean {
    return this.#state !== 'playing' && !this.#isStopping;
  }

  #apply(event: PlayoutEvent): void {
    const { state, effect } = playoutTransition(this.#state, event);
    this.#state = state;
    if (effect === 'clear') this.#clear();
    if (effect === 'play_on') this.#playFromStop();
    if (effect === 'end') this.#end(state === 'played');
  }

  #clear(): void {
    const { stream, nowMs } = this.#deps;
    this.#stop = { ...this.#stop, at: stream.receivedSamples, atMs: nowMs() };
    if (this.#run.isEmpty) this.#onStopped(this.#run.sentTo);
    else stream.clear();
  }

  #onStopped(heardTo: number): void {
    this.#stoppedAt = heardTo;
    this.#apply('position_known');
  }

  #playFromStop(): void {
    this.#run = new PlayoutRun(this.#deps, this.#stoppedAt);
    for (const { from, samples } of [...this.#chunks]) {
      const { sentTo } = this.#run;
      if (from + samples.length > sentTo) this.#run.send(samples.subarray(Math.max(0, sentTo - from)));
    }
    this.#endIfComplete();
  }

  #endIfComplete(): void {
    if (!this.#isComplete || this.#state !== 'playing') return;
    if (this.#run.isEmpty) this.#apply('all_played');
    else if (!this.#run.isMarked) this.#run.markEnd();
  }

  #end(isPlayed: boolean): void {
    if (isPlayed) this.#stoppedAt = this.#lengthSamples;
    this.#resolveEnded(isPlayed ? 'played' : 'stopped');
  }

  #dropOldChunks(): void {
    const keptFrom = this.#run.heardTo - (RETENTION_MS * this.#deps.stream.info.sampleRateHz) / 1000;
    while (this.#chunks[0] && this.#chunks[0].from + this.#chunks[0].samples.length < keptFrom)
      this.#chunks.shift();
  }
}
