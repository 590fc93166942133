import type { Clock } from '../../base/values/clock.ts';
import type {
  AnswerSpeech,
  AnswerSpeechEvents,
  HeardSource,
} from '../../conversation/speech/answerSpeech.ts';
import { isSpoken } from '../../conversation/speech/editedText.ts';
import { type InterruptionPolicy, PiecePolicies } from '../../conversation/speech/piecePolicies.ts';
import { createSentenceSplitter } from '../../conversation/speech/sentenceSplitter.ts';
import { spokenRequest, startsLineAt } from '../../conversation/speech/spokenText.ts';
import { WrittenText } from '../../conversation/speech/writtenText.ts';
import type { AudioStream } from '../../conversation/streams/audioStream.ts';
import { DEFAULT_LANGUAGE } from '../../conversation/turnDetection/turnSettings.ts';
import type { CurrentNode } from '../../engine/turn/delivery.ts';
import type { PlayoutPosition } from '../../media/agentStream/streamClient.ts';
import { FRAME_MS } from '../../media/codecs/codec.ts';
import type { SpokenAnswer } from '../../models/ports/chatModel.ts';
import type { CallSpeech, SessionSpeech, SessionSynthesis } from './callSpeech.ts';
import { createHeardText, type HeardText } from './heardText.ts';
import { SpeechPlayout, type SpeechPlayoutDeps } from './speechPlayout.ts';
import { firstAudible, withoutLeadingSilence } from './speechSynthesis.ts';
import { SpokenPiece } from './spokenPiece.ts';

/** Speech synthesized ahead of what is heard: enough for a slow sentence, little to discard on an interruption. */
const LOOKAHEAD_MS = 8000;

export interface AgentSpeechDeps extends SpeechPlayoutDeps, SessionSynthesis {
  /** The voices that agent and nodes name; undefined when there is one for all. */
  readonly callSpeech?: CallSpeech | undefined;
  readonly language: string;
  /** The first text is complete as far as it is synthesized at once. */
  readonly onFirstSentence?: () => void;
  /** The first samples were sent to the stream. */
  readonly onFirstSamples: () => void;
  /** A sentence could not be spoken. */
  readonly onFailure: (error: unknown) => void;
}

interface Piece {
  readonly text: WrittenText;
  readonly language: string;
  readonly spokenBy: SessionSynthesis;
  /** A sentence may begin in the middle of a line. */
  readonly startsLine: boolean;
  /** A model says it itself. */
  readonly spoken?: SpokenPiece | undefined;
}

/** @returns Opens the answers of one stream, whose marks have unique names. */
export function createSpeechOpener(
  stream: AudioStream,
  speech: SessionSpeech,
  clock: Clock,
  language: () => string,
): (events: AnswerSpeechEvents) => AgentSpeech {
  const { callSpeech } = speech;
  let marks = 0;
  return ({ onStarted, ...events }) => {
    const { synthesis, streamedSynthesis } = callSpeech?.latest ?? speech;
    return new AgentSpeech({
      ...events,
      stream,
      synthesis,
      streamedSynthesis,
      callSpeech,
      nowMs: () => clock.monotonicMs(),
      nextMark: () => `callway-${++marks}`,
      language: language(),
      onStarted: ({ receivedSamples, bufferDelayMs }) =>
        onStarted({ streamMs: (receivedSamples * 1000) / stream.info.sampleRateHz, bufferDelayMs }),
    });
  };
}

/** One spoken answer: synthesizes its sentences while the text is still being written, and knows what was heard. */
export class AgentSpeech implements AnswerSpeech {
  readonly #deps: AgentSpeechDeps;
  readonly #sampleRateHz: number;
  readonly playout: SpeechPlayout;
  readonly #heardText: HeardText;
  readonly #abort = new AbortController();
  readonly #splitter = createSentenceSplitter();
  /** Sentences, or all that a node says where texts are spoken while they are written. */
  readonly #pieces: Piece[] = [];
  #spokenBy: SessionSynthesis;
  #language: string;
  /** The piece that is being written. */
  #open: WrittenText | undefined;
  /** The piece that a model speaks itself; its words are shown, but not synthesized. */
  #spoken: SpokenPiece | undefined;
  readonly #spokenPieces: SpokenPiece[] = [];
  readonly #policies = new PiecePolicies();
  #hasSentence = false;
  /** Whether the next sentence of the text that goes on begins a line. */
  #startsLine = true;
  #isFinished = false;
  #isSynthesizing = false;
  #wake: () => void = () => undefined;
  #provider: string | undefined;
  /** Samples before the first audible one. */
  #leadingSamples = 0;

  constructor(deps: AgentSpeechDeps) {
    this.#deps = deps;
    this.#spokenBy = deps;
    this.#language = deps.language;
    this.#sampleRateHz = deps.stream.info.sampleRateHz;
    this.#heardText = createHeardText(this.#sampleRateHz);
    const onStarted = (position: PlayoutPosition) => deps.onStarted(this.#firstAudibleAt(position));
    this.playout = new SpeechPlayout({ ...deps, onStarted });
    void this.playout.ended.then((outcome) => {
      if (outcome === 'stopped')
        for (const piece of this.#spokenPieces) piece.truncate(this.playout.position);
    });
  }

  /** Whether everything said so far was heard and more may follow. */
  get isStarved(): boolean {
    if (this.#isFinished || !this.playout.isDrained) return false;
    if (this.#open) return true;
    return !this.#isSynthesizing && this.#pieces.length === 0;
  }

  /** The vendor that spoke last; undefined before the first words. */
  get provider(): string | undefined {
    return this.#provider;
  }

  get heard(): HeardSource | undefined {
    if (this.playout.isStopReported) return 'reported';
    return this.#deps.stream.info.isHeardEstimated ? 'estimated' : undefined;
  }

  /** The policy of the node whose words are being heard; undefined when nothing is left to be heard. */
  get interruptionPolicy(): InterruptionPolicy | undefined {
    return this.playout.isStopped ? undefined : this.#policies.at(this.playout.position);
  }

  /** Starts the words of another node. @see PiecePolicies.enterNode */
  enterNode(policy: InterruptionPolicy, ownsLastWords: boolean): void {
    this.#policies.enterNode(policy, ownsLastWords);
  }

  useVoiceOf({ node, speech, language = DEFAULT_LANGUAGE }: CurrentNode): Promise<void> | undefined {
    const isOfNode = node.data.speech?.synthesis?.voice !== undefined;
    const place = isOfNode ? `node “${node.id}”` : 'the agent';
    const synthesis = this.#deps.callSpeech?.synthesisFor(speech, language, place) ?? this.#deps;
    if (synthesis instanceof Promise) return synthesis.then((found) => this.use(found, language));
    this.use(synthesis, language);
    return undefined;
  }

  /** Speaks all that follows with this synthesis and language. */
  use(synthesis: SessionSynthesis, language: string): void {
    this.#spokenBy = synthesis;
    this.#language = language;
  }

  /** Plays what a model says itself; its words follow by {@link writeSpoken}. */
  play(speech: SpokenAnswer): void {
    this.completeText();
    const spoken = new SpokenPiece(speech, this.#sampleRateHz);
    this.#spokenPieces.push(spoken);
    if (this.#isFinished || this.playout.isStopped) {
      spoken.truncate(0);
      return;
    }
    this.#spoken = spoken;
    this.#open = new WrittenText('');
    this.#queue(this.#open);
  }

  /** The next words of what a model says itself. */
  writeSpoken(text: string): void {
    if (this.#spoken) this.#open?.write(text);
  }

  /** Speaks the next part of a text that goes on. */
  write(text: string): void {
    if (this.#isFinished || this.playout.isStopped || text === '') return;
    if (this.#spoken) this.completeText();
    if (!this.#spokenBy.streamedSynthesis) {
      for (const sentence of this.#splitter.push(text)) this.#queueSentence(sentence);
      return;
    }
    if (this.#open) {
      this.#open.write(text);
      return;
    }
    this.#open = new WrittenText(text);
    this.#queue(this.#open);
  }

  /** The text that was written goes on no more. */
  completeText(): void {
    for (const sentence of this.#splitter.flush()) this.#queueSentence(sentence);
    this.#startsLine = true;
    this.#completeOpen();
  }

  #completeOpen(): void {
    this.#open?.complete();
    this.#open = undefined;
    this.#spoken = undefined;
  }

  /** Speaks a text that is complete, after the words that are whole of one that goes on. */
  say(text: string): void {
    const rest = (this.#spoken ? undefined : this.#open?.takeOpenWord()) ?? '';
    this.#completeOpen();
    if (text !== '') this.#queue(new WrittenText(text, true));
    this.write(rest);
  }

  /** Ends the answer; nothing is added from now on. */
  finish(): void {
    this.completeText();
    this.#isFinished = true;
    this.#wake();
    if (!this.#isSynthesizing) this.#completeIfFinished();
  }

  /** Stops for good within a frame. Idempotent. */
  stop(): void {
    this.playout.stop();
    this.#abortIfStopped();
  }

  /** Returns what was heard so far, in whole words. */
  heardText(): string {
    return this.#heardText.textAt(this.playout.position);
  }

  /** Returns how much was heard, by the stream's own count. */
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

  #queueSentence(sentence: string): void {
    this.#queue(new WrittenText(sentence, true));
    this.#startsLine = startsLineAt(sentence, sentence.length);
  }

  #queue(piece: WrittenText): void {
    if (this.#isFinished || this.playout.isStopped) return;
    if (!this.#hasSentence) this.#deps.onFirstSentence?.();
    this.#hasSentence = true;
    const spoken = piece === this.#open ? this.#spoken : undefined;
    this.#pieces.push({
      text: piece,
      spokenBy: this.#spokenBy,
      language: this.#language,
      startsLine: this.#startsLine,
      spoken,
    });
    this.#policies.add();
    if (!this.#isSynthesizing) void this.#synthesize();
  }

  async #synthesize(): Promise<void> {
    this.#isSynthesizing = true;
    for (let piece = this.#pieces.shift(); piece !== undefined; piece = this.#pieces.shift()) {
      await this.#untilNeeded();
      if (this.playout.isStopped) break;
      await this.#speakPiece(piece);
      this.#policies.complete(this.#heardText.lengthSamples);
    }
    this.#isSynthesizing = false;
    if (!this.playout.isStopped) this.#completeIfFinished();
  }

  #completeIfFinished(): void {
    if (this.#isFinished && this.#pieces.length === 0) this.playout.complete();
  }

  async #speakPiece({ text: piece, spokenBy, language, spoken, startsLine }: Piece): Promise<void> {
    if (spoken) return await this.#playSpoken(piece, spoken);
    const { streamedSynthesis, synthesis } = spokenBy;
    const voice = { language, ...spokenBy.manner };
    const request = spokenRequest(piece.text, voice, startsLine);
    if (piece.isComplete && !isSpoken(request.text)) return;
    this.#heardText.beginPiece(piece);
    const { signal } = this.#abort;
    const onSamples = (samples: Int16Array, provider: string) => {
      this.#provider = provider;
      this.#append(samples);
    };
    try {
      if (streamedSynthesis)
        await streamedSynthesis.speak(piece, voice, signal, {
          onSamples,
          onWords: (timed) => this.#heardText.addWords(timed),
          onFallback: (from) => this.#heardText.splitPiece(from),
          aheadMs: () => this.#aheadMs(),
        });
      else await synthesis.speak(request, signal, onSamples);
      this.#heardText.completePiece();
    } catch (error) {
      if (!this.playout.isStopped) this.#deps.onFailure(error);
    }
  }

  async #playSpoken(text: WrittenText, spoken: SpokenPiece): Promise<void> {
    this.#heardText.beginPiece(text);
    spoken.begin(this.#heardText.lengthSamples);
    await spoken.play(this.#abort.signal, async (samples, provider) => {
      this.#provider = provider;
      spoken.played(samples.length, this.#append(samples));
      await this.#untilNeeded();
    });
    this.#heardText.completePiece();
  }

  /** Waits until less than the lookahead is left to be heard. */
  async #untilNeeded(): Promise<void> {
    while (!this.playout.isStopped && this.#aheadMs() > LOOKAHEAD_MS) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** Returns how much is still to be heard. */
  #aheadMs(): number {
    return ((this.#heardText.lengthSamples - this.playout.position) * 1000) / this.#sampleRateHz;
  }

  /** The position is reported after the first frame, in which the first audible sample lies somewhere. */
  #firstAudibleAt(position: PlayoutPosition): PlayoutPosition {
    const frameSamples = (this.#sampleRateHz * FRAME_MS) / 1000;
    const receivedSamples = position.receivedSamples - frameSamples + this.#leadingSamples;
    return { ...position, receivedSamples };
  }

  /** @returns The number of samples that are played: all but the silence before the first sound. */
  #append(samples: Int16Array): number {
    if (this.playout.isStopped) return 0;
    const isFirst = this.#heardText.lengthSamples === 0;
    const heard = isFirst ? withoutLeadingSilence(samples, this.#sampleRateHz) : samples;
    this.#heardText.skip(samples.length - heard.length);
    if (heard.length === 0) return 0;
    if (isFirst) {
      this.#leadingSamples = Math.max(0, firstAudible(heard));
      this.#deps.onFirstSamples();
    }
    this.#heardText.append(heard);
    this.playout.append(heard);
    return heard.length;
  }
}
