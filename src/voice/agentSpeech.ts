import type { SpeechRequest } from '../models/textToSpeech.ts';
import type { AudioStream, AudioStreamEvents } from './audioStream.ts';
import { isSpeakable, speakable } from './sentences.ts';
import type { SpeechSource } from './speechSource.ts';
import { createSpokenText } from './spokenText.ts';

type PlayPosition = AudioStreamEvents['cleared'];
type PlayedMark = AudioStreamEvents['mark'];

const FRAME_MS = 20;
/** Speech is made ahead of what sounds by so much: enough for a slow sentence, little to be thrown away. */
const LOOKAHEAD_MS = 8000;
/** The other side answers within a frame or two; who does not at all is not waited for. */
const LOST_ANSWER_MS = 1500;
/** Played samples are kept a moment longer, for a stop that comes back late. */
const KEPT_MS = 2000;

export interface AgentSpeechDeps {
  readonly stream: AudioStream;
  readonly source: SpeechSource;
  readonly voice: Pick<SpeechRequest, 'voice' | 'language'>;
  /** Unlike any other on this stream. */
  readonly nextMark: () => string;
  /** Of a clock that only goes on. */
  readonly nowMs: () => number;
  /** The first sample has left; where both directions stood then. */
  readonly onSounding: (position: PlayPosition) => void;
  /** The first samples were handed to the stream. */
  readonly onSpeech: () => void;
  /** A piece could not be said. */
  readonly onFailure: (error: unknown) => void;
}

/** What the agent says in one answer, from the text's first word to the last sample that sounds. */
export interface AgentSpeech {
  /** The next piece, a sentence as a rule. */
  say(text: string): void;
  /** Nothing more will be said. */
  finish(): void;
  /** Stops within a frame; {@link resume} goes on where it stopped. */
  hold(): void;
  resume(): void;
  /** Stops for good. Idempotent. */
  cut(): void;
  /** Resolves once all has sounded, or where it was cut is known. */
  readonly over: Promise<'played' | 'cut'>;
  /** What was heard so far; all of it once it was played. */
  heardText(): string;
  /** How much of it was heard, by the stream's own count. */
  heardMs(): number;
  readonly hasSounded: boolean;
  /** What sounded in the last frame of the caller's, as far as it is known; valid until it is asked for again. */
  lastPlayed(): Int16Array | undefined;
  /** From the last decision to stop until its last packet had left; undefined where that was not told. */
  readonly stopMs: number | undefined;
  /** To be called for each of the stream's events, and with each frame of the caller's. */
  onMark(mark: PlayedMark): void;
  onCleared(position: PlayPosition): void;
  onTick(): void;
  /** In place of {@link onTick} where the other side plays nothing for now: time stands still. */
  onHeldTick(): void;
  /** Nothing more comes back: what was heard is reckoned by time. */
  onClosed(): void;
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
 * Speaks an answer piece by piece while it is still being written. It keeps its own count of the answer's samples, and
 * learns by marks and by what comes back of a stop how many of them were heard.
 */
export function createAgentSpeech(deps: AgentSpeechDeps): AgentSpeech {
  return new Speech(deps);
}

class Speech implements AgentSpeech {
  readonly #deps: AgentSpeechDeps;
  readonly #abort = new AbortController();
  readonly #spoken;
  readonly #frameSamples: number;
  readonly #played: Int16Array;
  readonly over: Promise<'played' | 'cut'>;
  #settle: (how: 'played' | 'cut') => void = () => undefined;
  #pieces: string[] = [];
  #isFinished = false;
  #isProducing = false;
  #wakeProducer: () => void = () => undefined;
  /** Samples that may have to be sent again. */
  #chunks: { readonly from: number; readonly samples: Int16Array }[] = [];
  #sentTo = 0;
  #run: Run | undefined;
  #state: 'running' | 'stopping' | 'held' | 'over' = 'running';
  #wants: 'run' | 'hold' | 'cut' = 'run';
  #heldAt = 0;
  #stoppingSince = 0;
  #hasSounded = false;
  #stopDecidedMs = 0;
  stopMs: number | undefined;

  constructor(deps: AgentSpeechDeps) {
    this.#deps = deps;
    this.#spoken = createSpokenText(deps.stream.info.sampleRateHz);
    this.#played = new Int16Array((deps.stream.info.sampleRateHz * FRAME_MS) / 1000);
    this.#frameSamples = (deps.stream.info.sampleRateHz * FRAME_MS) / 1000;
    this.over = new Promise((resolve) => {
      this.#settle = resolve;
    });
  }

  get hasSounded(): boolean {
    return this.#hasSounded;
  }

  say(text: string): void {
    if (this.#isFinished || this.#wants === 'cut' || text === '') return;
    this.#pieces.push(text);
    this.#produce();
  }

  finish(): void {
    this.#isFinished = true;
    this.#wakeProducer();
    if (!this.#isProducing) this.#endIfComplete();
  }

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

  cut(): void {
    if (this.#wants === 'cut' || this.#state === 'over') return;
    this.#wants = 'cut';
    this.#abort.abort(new Error('the answer was cut short'));
    this.#wakeProducer();
    if (this.#state === 'held') this.#end('cut');
    else this.#stop();
  }

  heardText(): string {
    return this.#spoken.heardAt(this.#position());
  }

  heardMs(): number {
    return (this.#position() * 1000) / this.#deps.stream.info.sampleRateHz;
  }

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
    this.#wakeProducer();
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

  onHeldTick(): void {
    const run = this.#run;
    if (!run) return;
    run.sentAt += this.#frameSamples;
    run.endDue += this.#frameSamples;
    if (!run.began) return;
    run.began = { ...run.began, receivedSamples: run.began.receivedSamples + this.#frameSamples };
  }

  onClosed(): void {
    if (this.#state === 'over') return;
    const heardTo = this.#position();
    this.cut();
    if (this.#state === 'stopping') this.#stopped(heardTo);
  }

  #sounds(position: PlayPosition): void {
    if (this.#hasSounded) return;
    this.#hasSounded = true;
    this.#deps.onSounding(position);
  }

  #position(): number {
    if (this.#state === 'held' || this.#state === 'over') return this.#heldAt;
    return this.#estimate();
  }

  /** Where the answer is heard by now, as far as the caller's own samples can tell the time. */
  #estimate(): number {
    const run = this.#run;
    if (!run?.began) return run?.from ?? 0;
    const elapsed = this.#deps.stream.receivedSamples - run.began.receivedSamples + this.#frameSamples;
    return Math.min(this.#sentTo, run.from + Math.max(0, elapsed));
  }

  #produce(): void {
    if (this.#isProducing) return;
    this.#isProducing = true;
    void this.#producePieces().finally(() => {
      this.#isProducing = false;
      if (this.#wants === 'cut') return;
      if (this.#pieces.length > 0) this.#produce();
      else this.#endIfComplete();
    });
  }

  async #producePieces(): Promise<void> {
    for (let text = this.#pieces.shift(); text !== undefined; text = this.#pieces.shift()) {
      await this.#room();
      if (this.#wants === 'cut') return;
      await this.#producePiece(text);
    }
  }

  async #producePiece(text: string): Promise<void> {
    const words = speakable(text);
    if (!isSpeakable(words)) return;
    this.#spoken.begin(text);
    try {
      const request = { text: words, ...this.#deps.voice };
      for await (const samples of this.#deps.source.speak(request, this.#abort.signal)) {
        if (this.#wants === 'cut') return;
        if (samples.length > 0) this.#append(samples);
      }
      this.#spoken.end(true);
    } catch (error) {
      if (this.#wants !== 'cut') this.#deps.onFailure(error);
    }
  }

  /** Waits until so little is ahead of what is heard that more is wanted. */
  async #room(): Promise<void> {
    const lookaheadSamples = (LOOKAHEAD_MS * this.#deps.stream.info.sampleRateHz) / 1000;
    while (this.#wants !== 'cut' && this.#spoken.lengthSamples - this.#position() > lookaheadSamples) {
      await new Promise<void>((resolve) => {
        this.#wakeProducer = resolve;
      });
    }
  }

  #append(samples: Int16Array): void {
    if (this.#spoken.lengthSamples === 0) this.#deps.onSpeech();
    this.#chunks.push({ from: this.#spoken.lengthSamples, samples });
    this.#spoken.append(samples);
    if (this.#state === 'running' && this.#wants === 'run') this.#send(samples);
  }

  #send(samples: Int16Array): void {
    const { stream } = this.#deps;
    const run = this.#run ?? this.#startRun(this.#sentTo);
    const isFirst = this.#sentTo === run.from;
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
    const isComplete = this.#isFinished && !this.#isProducing && this.#pieces.length === 0;
    if (!isComplete || this.#state !== 'running' || this.#wants !== 'run') return;
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
    if (how === 'played') this.#heldAt = this.#spoken.lengthSamples;
    this.#state = 'over';
    this.#settle(how);
  }
}
