import type { PlayoutPosition } from '../../media/agentStream/streamClient.ts';
import type { SynthesisRequest } from '../../providers/ports/textToSpeech.ts';
import { createHeardText, type HeardText } from './heardText.ts';
import { type InterruptionPolicy, PiecePolicies } from './piecePolicies.ts';
import { isSpeakable, speakable } from './sentenceSplitter.ts';
import { SpeechPlayout, type SpeechPlayoutDeps } from './speechPlayout.ts';
import { firstAudible, type SpeechSynthesis, withoutLeadingSilence } from './speechSynthesis.ts';

/** Speech synthesized ahead of what is heard: enough for a slow sentence, little to discard on an interruption. */
const LOOKAHEAD_MS = 8000;
const FRAME_MS = 20;

export interface AgentSpeechDeps extends SpeechPlayoutDeps {
  readonly synthesis: SpeechSynthesis;
  readonly voice: Pick<SynthesisRequest, 'language'>;
  /** The first samples were sent to the stream. */
  readonly onFirstSamples: () => void;
  /** A sentence could not be spoken. */
  readonly onFailure: (error: unknown) => void;
}

/** One spoken answer: synthesizes its sentences while the text is still being written, and knows what was heard. */
export class AgentSpeech {
  readonly #deps: AgentSpeechDeps;
  readonly #sampleRateHz: number;
  readonly playout: SpeechPlayout;
  readonly #heardText: HeardText;
  readonly #abort = new AbortController();
  readonly #sentences: string[] = [];
  readonly #policies = new PiecePolicies();
  #isFinished = false;
  #isSynthesizing = false;
  #wake: () => void = () => undefined;
  /** Samples before the first audible one. */
  #leadingSamples = 0;

  constructor(deps: AgentSpeechDeps) {
    this.#deps = deps;
    this.#sampleRateHz = deps.stream.info.sampleRateHz;
    this.#heardText = createHeardText(this.#sampleRateHz);
    const onStarted = (position: PlayoutPosition) => deps.onStarted(this.#firstAudibleAt(position));
    this.playout = new SpeechPlayout({ ...deps, onStarted });
  }

  /** Whether everything said so far was heard and more may follow. */
  get isStarved(): boolean {
    const isIdle = !this.#isFinished && !this.#isSynthesizing && this.#sentences.length === 0;
    return isIdle && this.playout.isDrained;
  }

  /** The policy of the node whose words are being heard; undefined when nothing is left to be heard. */
  get interruptionPolicy(): InterruptionPolicy | undefined {
    return this.playout.isStopped ? undefined : this.#policies.at(this.playout.position);
  }

  /** What is said from now on belongs to another node. @see PiecePolicies.enterNode */
  enterNode(policy: InterruptionPolicy, ownsLastWords: boolean): void {
    this.#policies.enterNode(policy, ownsLastWords);
  }

  /** Speaks the next piece of text, usually a sentence. */
  say(text: string): void {
    if (this.#isFinished || this.playout.isStopped || text === '') return;
    this.#sentences.push(text);
    this.#policies.add();
    if (!this.#isSynthesizing) void this.#synthesize();
  }

  /** Nothing more is said. */
  finish(): void {
    this.#isFinished = true;
    this.#wake();
    if (!this.#isSynthesizing) this.#completeIfFinished();
  }

  /** Stops for good within a frame. Idempotent. */
  stop(): void {
    this.playout.stop();
    this.#abortIfStopped();
  }

  /** What was heard so far, in whole words. */
  heardText(): string {
    return this.#heardText.textAt(this.playout.position);
  }

  /** How much was heard, by the stream's own count. */
  heardMs(): number {
    return (this.playout.position * 1000) / this.#sampleRateHz;
  }

  /** Call with each frame of the caller. @param isOnHold - The peer plays nothing. */
  onFrame(isOnHold: boolean): void {
    if (!isOnHold) this.#wake();
    this.playout.onFrame(isOnHold);
  }

  onClosed(): void {
    this.playout.onClosed();
    this.#abortIfStopped();
  }

  /** Aborts the synthesis, unless everything was played before the stop. */
  #abortIfStopped(): void {
    if (!this.playout.isStopped) return;
    this.#abort.abort(new Error('the answer was stopped'));
    this.#wake();
  }

  async #synthesize(): Promise<void> {
    this.#isSynthesizing = true;
    for (let text = this.#sentences.shift(); text !== undefined; text = this.#sentences.shift()) {
      await this.#untilNeeded();
      if (this.playout.isStopped) break;
      await this.#speakSentence(text);
      this.#policies.complete(this.#heardText.lengthSamples);
    }
    this.#isSynthesizing = false;
    if (!this.playout.isStopped) this.#completeIfFinished();
  }

  #completeIfFinished(): void {
    if (this.#isFinished && this.#sentences.length === 0) this.playout.complete();
  }

  async #speakSentence(text: string): Promise<void> {
    const words = speakable(text);
    if (!isSpeakable(words)) return;
    this.#heardText.beginPiece(text);
    const request = { text: words, ...this.#deps.voice };
    try {
      await this.#deps.synthesis.speak(request, this.#abort.signal, (samples) => this.#append(samples));
      this.#heardText.completePiece();
    } catch (error) {
      if (!this.playout.isStopped) this.#deps.onFailure(error);
    }
  }

  /** Waits until less than the lookahead is left to be heard. */
  async #untilNeeded(): Promise<void> {
    const lookaheadSamples = (LOOKAHEAD_MS * this.#sampleRateHz) / 1000;
    const isAhead = () => this.#heardText.lengthSamples - this.playout.position > lookaheadSamples;
    while (!this.playout.isStopped && isAhead()) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** The position is reported after the first frame, in which the first audible sample lies somewhere. */
  #firstAudibleAt(position: PlayoutPosition): PlayoutPosition {
    const frameSamples = (this.#sampleRateHz * FRAME_MS) / 1000;
    const receivedSamples = position.receivedSamples - frameSamples + this.#leadingSamples;
    return { ...position, receivedSamples };
  }

  #append(samples: Int16Array): void {
    if (this.playout.isStopped) return;
    const isFirst = this.#heardText.lengthSamples === 0;
    const heard = isFirst ? withoutLeadingSilence(samples, this.#sampleRateHz) : samples;
    if (heard.length === 0) return;
    if (isFirst) {
      this.#leadingSamples = Math.max(0, firstAudible(heard));
      this.#deps.onFirstSamples();
    }
    this.#heardText.append(heard);
    this.playout.append(heard);
  }
}
