import type { AudioStream, AudioStreamEvents } from '../audioStream.ts';

export type PlayPosition = AudioStreamEvents['cleared'];
export type PlayedMark = AudioStreamEvents['mark'];

const FRAME_MS = 20;
/** The other side answers within a frame or two; who does not at all is not waited for. */
const LOST_ANSWER_MS = 1500;
/** Played samples are kept a moment longer, for a stop that comes back late. */
const KEPT_MS = 2000;

export interface SpeechPlayoutDeps {
  readonly stream: AudioStream;
  /** Unlike any other on this stream. */
  readonly nextMark: () => string;
  /** Of a clock that only goes on. */
  readonly nowMs: () => number;
  /** The first sample has left; where both directions stood then. */
  readonly onSounding: (position: PlayPosition) => void;
}

interface Begun {
  /** Undefined where the other side tells nothing, and it is reckoned by time. */
  readonly playedSamples: number | undefined;
  readonly receivedSamples: number;
}

/** Samples that were sent without a stop between them. */
interface Run {
  /** Where in the answer it begins. */
  readonly from: number;
  readonly beginMark: string;
  endMark: string | undefined;
  /** When the end was marked, and nothing has come back since; on the stream's clock, in samples. */
  endDue: number;
  /** When its first frame was sent, on the stream's clock, in samples. */
  sentAt: number;
  /** Where it began on the stream's two counts; undefined before its first frame sounded. */
  began: Begun | undefined;
}

/**
 * Plays an answer's samples over a stream. It keeps its own count of them, and learns by marks and by what comes back of
 * a stop how many were heard.
 *
 * ```text
 *             hold, cut              where it stopped is known
 *   running ─────────────▶ stopping ──────────────────────────▶ held ──cut──▶ over
 *     │ ▲                                                        │             ▲
 *     │ └──────────────────────── resume ────────────────────────┘             │
 *     └──────────────────────────── all has sounded ───────────────────────────┘
 * ```
 */
export class SpeechPlayout {
  readonly #deps: SpeechPlayoutDeps;
  readonly #frameSamples: number;
  readonly #played: Int16Array;
  /** Resolves once all has sounded, or where it was cut is known. */
  readonly over: Promise<'played' | 'cut'>;
  #settle: (how: 'played' | 'cut') => void = () => undefined;
  /** Samples that may have to be sent again. */
  #chunks: { readonly from: number; readonly samples: Int16Array }[] = [];
  #lengthSamples = 0;
  /** Nothing will be appended any more. */
  #isComplete = false;
  #sentTo = 0;
  #run: Run | undefined;
  #state: 'running' | 'stopping' | 'held' | 'over' = 'running';
  #wants: 'run' | 'hold' | 'cut' = 'run';
  #heldAt = 0;
  #stoppingSince = 0;
  #hasSounded = false;
  #stopDecidedMs = 0;
  /** From the last decision to stop until its last packet had left; undefined where that was not told. */
  stopMs: number | undefined;

  constructor(deps: SpeechPlayoutDeps) {
    this.#deps = deps;
    this.#frameSamples = (deps.stream.info.sampleRateHz * FRAME_MS) / 1000;
    this.#played = new Int16Array(this.#frameSamples);
    this.over = new Promise((resolve) => {
      this.#settle = resolve;
    });
  }

  get hasSounded(): boolean {
    return this.#hasSounded;
  }

  /** It was cut, whether or not it is known yet where. */
  get isCut(): boolean {
    return this.#wants === 'cut';
  }

  /** Where in the answer it is heard by now, in samples. */
  get position(): number {
    if (this.#state === 'held' || this.#state === 'over') return this.#heldAt;
    return this.#estimate();
  }

  /** All that it was given has sounded, as far as is known, and it was not stopped. */
  get isDry(): boolean {
    return this.#state === 'running' && this.#estimate() >= this.#lengthSamples;
  }

  /** The next samples; kept until they have sounded. */
  append(samples: Int16Array): void {
    this.#chunks.push({ from: this.#lengthSamples, samples });
    this.#lengthSamples += samples.length;
    if (this.#state === 'running' && this.#wants === 'run') this.#send(samples);
  }

  /** Nothing more is appended. */
  complete(): void {
    this.#isComplete = true;
    this.#endIfComplete();
  }

  /** Stops within a frame; {@link resume} goes on where it stopped. */
  hold(): void {
    if (this.#wants !== 'run' || this.#state === 'over') return;
    this.#wants = 'hold';
    this.#stop();
  }

  resume(): void {
    if (this.#wants !== 'hold') return;
    this.#wants = 'run';
    if (this.#state === 'held') this.#startAgain();
  }

  /** Stops for good. Idempotent. */
  cut(): void {
    if (this.#wants === 'cut' || this.#state === 'over') return;
    this.#wants = 'cut';
    if (this.#state === 'held') this.#end('cut');
    else this.#stop();
  }

  /** What sounded in the last frame of the caller's, as far as it is known; valid until it is asked for again. */
  lastPlayed(): Int16Array | undefined {
    if (this.#state === 'held' || this.#state === 'over' || !this.#run?.began) return undefined;
    const out = this.#played.fill(0);
    const end = this.#estimate();
    for (const { from, samples } of this.#chunks) {
      const at = from - (end - out.length);
      if (at >= out.length) break;
      if (at + samples.length > 0)
        out.set(samples.subarray(Math.max(0, -at), out.length - at), Math.max(0, at));
    }
    return out;
  }

  onMark(mark: PlayedMark): void {
    const run = this.#run;
    if (!run || mark.outcome === 'cleared') return;
    if (mark.name === run.beginMark && !run.began) {
      run.began = {
        playedSamples: mark.playedSamples - Math.min(this.#frameSamples, this.#sentTo - run.from),
        receivedSamples: mark.receivedSamples,
      };
      this.#sounds(mark);
    }
    if (mark.name === run.endMark && this.#state === 'running') this.#end('played');
  }

  onCleared(position: PlayPosition): void {
    if (this.#state !== 'stopping') return;
    this.stopMs = this.#deps.nowMs() - this.#stopDecidedMs;
    const run = this.#run;
    if (run?.began && run.began.playedSamples === undefined) {
      this.#stopped(this.#estimate());
      return;
    }
    const heard = position.playedSamples - (run?.began?.playedSamples ?? position.playedSamples);
    this.#stopped(Math.max(run?.from ?? 0, Math.min(this.#sentTo, (run?.from ?? 0) + heard)));
  }

  onTick(): void {
    const { receivedSamples, info } = this.#deps.stream;
    const lostSamples = (LOST_ANSWER_MS * info.sampleRateHz) / 1000;
    if (this.#state === 'stopping' && receivedSamples - this.#stoppingSince > lostSamples) {
      this.#stopped(this.#estimate());
    }
    const run = this.#run;
    if (this.#state === 'running' && run && !run.began && receivedSamples - run.sentAt > lostSamples) {
      run.began = { playedSamples: undefined, receivedSamples: run.sentAt + this.#frameSamples };
      this.#sounds({ playedSamples: 0, receivedSamples: run.began.receivedSamples, bufferDelayMs: 0 });
    }
    const isOverdue = run?.endMark !== undefined && receivedSamples - run.endDue > lostSamples;
    if (this.#state === 'running' && isOverdue && this.#estimate() >= this.#sentTo) this.#end('played');
    const keptFrom = this.#estimate() - (KEPT_MS * info.sampleRateHz) / 1000;
    while (this.#chunks[0] && this.#chunks[0].from + this.#chunks[0].samples.length < keptFrom)
      this.#chunks.shift();
  }

  /** In place of {@link onTick} where the other side plays nothing for now: time stands still. */
  onHeldTick(): void {
    const run = this.#run;
    if (!run) return;
    run.sentAt += this.#frameSamples;
    run.endDue += this.#frameSamples;
    if (!run.began) return;
    run.began = { ...run.began, receivedSamples: run.began.receivedSamples + this.#frameSamples };
  }

  /** Nothing more comes back: what was heard is reckoned by time. */
  onClosed(): void {
    if (this.#state === 'over') return;
    const heardTo = this.position;
    this.cut();
    if (this.#state === 'stopping') this.#stopped(heardTo);
  }

  #sounds(position: PlayPosition): void {
    if (this.#hasSounded) return;
    this.#hasSounded = true;
    this.#deps.onSounding(position);
  }

  /** Where the answer is heard by now, as far as the caller's own samples can tell the time. */
  #estimate(): number {
    const run = this.#run;
    if (!run?.began) return run?.from ?? 0;
    return Math.min(this.#sentTo, run.from + Math.max(0, this.#elapsed(run.began)));
  }

  /** Since the run began to sound, in samples. */
  #elapsed({ receivedSamples }: Begun): number {
    return this.#deps.stream.receivedSamples - receivedSamples + this.#frameSamples;
  }

  #send(samples: Int16Array): void {
    const { stream } = this.#deps;
    const run = this.#run ?? this.#startRun(this.#sentTo);
    const isFirst = this.#sentTo === run.from;
    this.#skipGap(run);
    if (isFirst && samples.length > this.#frameSamples) {
      stream.play(samples.subarray(0, this.#frameSamples));
      stream.mark(run.beginMark);
      stream.play(samples.subarray(this.#frameSamples));
    } else {
      stream.play(samples);
      if (isFirst) stream.mark(run.beginMark);
    }
    this.#sentTo += samples.length;
  }

  /** All that was sent has sounded, and nothing for a while: what is sent now begins to sound now. */
  #skipGap(run: Run): void {
    if (!run.began) return;
    const gap = this.#elapsed(run.began) - (this.#sentTo - run.from);
    if (gap > 0) run.began = { ...run.began, receivedSamples: run.began.receivedSamples + gap };
  }

  #startRun(from: number): Run {
    const run = {
      from,
      beginMark: this.#deps.nextMark(),
      endMark: undefined,
      endDue: 0,
      sentAt: this.#deps.stream.receivedSamples,
      began: undefined,
    };
    this.#run = run;
    return run;
  }

  #stop(): void {
    if (this.#state !== 'running') return;
    this.#state = 'stopping';
    this.#stoppingSince = this.#deps.stream.receivedSamples;
    this.#stopDecidedMs = this.#deps.nowMs();
    if (this.#run && this.#sentTo > this.#run.from) this.#deps.stream.clear();
    else this.#stopped(this.#sentTo);
  }

  #stopped(heardTo: number): void {
    this.#heldAt = heardTo;
    this.#state = 'held';
    if (this.#wants === 'cut') this.#end('cut');
    else if (this.#wants === 'run') this.#startAgain();
  }

  #startAgain(): void {
    this.#state = 'running';
    this.#sentTo = this.#heldAt;
    this.#run = undefined;
    for (const { from, samples } of [...this.#chunks]) {
      if (from + samples.length > this.#sentTo)
        this.#send(samples.subarray(Math.max(0, this.#sentTo - from)));
    }
    this.#endIfComplete();
  }

  #endIfComplete(): void {
    if (!this.#isComplete || this.#state !== 'running' || this.#wants !== 'run') return;
    const run = this.#run;
    if (!run) {
      this.#end('played');
      return;
    }
    if (run.endMark !== undefined) return;
    run.endMark = this.#deps.nextMark();
    const left = this.#sentTo - this.#estimate();
    run.endDue = this.#deps.stream.receivedSamples + left;
    this.#deps.stream.mark(run.endMark);
  }

  #end(how: 'played' | 'cut'): void {
    if (how === 'played') this.#heldAt = this.#lengthSamples;
    this.#state = 'over';
    this.#settle(how);
  }
}
