import type { SynthesisRequest } from '../../providers/ports/textToSpeech.ts';
import { createHeardText } from './heardText.ts';
import { firstAudible, withoutLeadIn } from './leadingSilence.ts';
import { isSpeakable, speakable } from './sentenceSplitter.ts';
import {
  type PlayedMark,
  type PlayPosition,
  SpeechPlayout,
  type SpeechPlayoutDeps,
} from './speechPlayout.ts';
import type { SpeechSynthesis } from './speechSynthesis.ts';

/** Speech is made ahead of what sounds by so much: enough for a slow sentence, little to be thrown away. */
const LOOKAHEAD_MS = 8000;
const FRAME_MS = 20;

export interface AgentSpeechDeps extends SpeechPlayoutDeps {
  readonly source: SpeechSynthesis;
  readonly voice: Pick<SynthesisRequest, 'voice' | 'language'>;
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
  /** All that it was given so far has sounded, and more may come. */
  readonly isDry: boolean;
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

/** Speaks an answer piece by piece while it is still being written, and knows how much of it was heard. */
export function createAgentSpeech(deps: AgentSpeechDeps): AgentSpeech {
  return new Speech(deps);
}

class Speech implements AgentSpeech {
  readonly #deps: AgentSpeechDeps;
  readonly #sampleRateHz: number;
  readonly #abort = new AbortController();
  readonly #spoken;
  readonly #playout: SpeechPlayout;
  #pieces: string[] = [];
  #isFinished = false;
  #isProducing = false;
  #wakeProducer: () => void = () => undefined;
  /** Samples before the first that can be heard. */
  #leadSamples = 0;

  constructor(deps: AgentSpeechDeps) {
    this.#deps = deps;
    this.#sampleRateHz = deps.stream.info.sampleRateHz;
    this.#spoken = createHeardText(this.#sampleRateHz);
    const onSounding = (position: PlayPosition) => deps.onSounding(this.#firstHeard(position));
    this.#playout = new SpeechPlayout({ ...deps, onSounding });
  }

  get over(): Promise<'played' | 'cut'> {
    return this.#playout.over;
  }

  get hasSounded(): boolean {
    return this.#playout.hasSounded;
  }

  get isDry(): boolean {
    return !this.#isFinished && !this.#isProducing && this.#pieces.length === 0 && this.#playout.isDry;
  }

  get stopMs(): number | undefined {
    return this.#playout.stopMs;
  }

  say(text: string): void {
    if (this.#isFinished || this.#playout.isCut || text === '') return;
    this.#pieces.push(text);
    this.#produce();
  }

  finish(): void {
    this.#isFinished = true;
    this.#wakeProducer();
    if (!this.#isProducing) this.#completeIfFinished();
  }

  hold(): void {
    this.#playout.hold();
  }

  resume(): void {
    this.#playout.resume();
  }

  cut(): void {
    this.#playout.cut();
    this.#stopProducing();
  }

  heardText(): string {
    return this.#spoken.heardAt(this.#playout.position);
  }

  heardMs(): number {
    return (this.#playout.position * 1000) / this.#sampleRateHz;
  }

  lastPlayed(): Int16Array | undefined {
    return this.#playout.lastPlayed();
  }

  onMark(mark: PlayedMark): void {
    this.#playout.onMark(mark);
  }

  onCleared(position: PlayPosition): void {
    this.#playout.onCleared(position);
  }

  onTick(): void {
    this.#wakeProducer();
    this.#playout.onTick();
  }

  onHeldTick(): void {
    this.#playout.onHeldTick();
  }

  onClosed(): void {
    this.#playout.onClosed();
    this.#stopProducing();
  }

  /** Nothing of it is wanted any more, unless it has all sounded before. */
  #stopProducing(): void {
    if (!this.#playout.isCut) return;
    this.#abort.abort(new Error('the answer was cut short'));
    this.#wakeProducer();
  }

  #produce(): void {
    if (this.#isProducing) return;
    this.#isProducing = true;
    void this.#producePieces().finally(() => {
      this.#isProducing = false;
      if (this.#playout.isCut) return;
      if (this.#pieces.length > 0) this.#produce();
      else this.#completeIfFinished();
    });
  }

  #completeIfFinished(): void {
    if (this.#isFinished && this.#pieces.length === 0) this.#playout.complete();
  }

  async #producePieces(): Promise<void> {
    for (let text = this.#pieces.shift(); text !== undefined; text = this.#pieces.shift()) {
      await this.#room();
      if (this.#playout.isCut) return;
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
        if (this.#playout.isCut) return;
        const begins = this.#spoken.lengthSamples === 0;
        const heard = begins ? withoutLeadIn(samples, this.#sampleRateHz) : samples;
        if (heard.length > 0) this.#append(heard);
      }
      this.#spoken.end(true);
    } catch (error) {
      if (!this.#playout.isCut) this.#deps.onFailure(error);
    }
  }

  /** Waits until so little is ahead of what is heard that more is wanted. */
  async #room(): Promise<void> {
    const lookaheadSamples = (LOOKAHEAD_MS * this.#sampleRateHz) / 1000;
    while (!this.#playout.isCut && this.#spoken.lengthSamples - this.#playout.position > lookaheadSamples) {
      await new Promise<void>((resolve) => {
        this.#wakeProducer = resolve;
      });
    }
  }

  /** The position is told once the first frame is out; what can be heard of it begins somewhere within. */
  #firstHeard(position: PlayPosition): PlayPosition {
    const frameSamples = (this.#sampleRateHz * FRAME_MS) / 1000;
    const receivedSamples = position.receivedSamples - frameSamples + this.#leadSamples;
    return { ...position, receivedSamples };
  }

  #append(samples: Int16Array): void {
    if (this.#spoken.lengthSamples === 0) {
      this.#leadSamples = Math.max(0, firstAudible(samples));
      this.#deps.onSpeech();
    }
    this.#spoken.append(samples);
    this.#playout.append(samples);
  }
}
