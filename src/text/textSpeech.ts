import type { AnswerSpeech, AnswerSpeechEvents, HeardSource } from '../conversation/speech/answerSpeech.ts';
import type { InterruptionPolicy } from '../conversation/speech/piecePolicies.ts';
import { estimatedMs, speakableEnd, spokenForm } from '../conversation/speech/spokenText.ts';
import type { TextStream } from '../conversation/streams/textStream.ts';
import type { HeardAnswer } from '../conversation/turnDetection/turnState.ts';
import type { CurrentNode } from '../engine/turn/delivery.ts';
import type { SpokenAnswer } from '../models/ports/chatModel.ts';
import { shareOf, textUntil } from './wordsHeard.ts';

/** The time from the first text to the first sound: the network and the gateway's synthesis. */
const SYNTHESIS_MS = 700;
/** A voice may be slower than the estimate, and an answer that is taken for heard too early cannot be interrupted. */
const SLOWNESS = 1.25;

export interface TextSpeechDeps extends AnswerSpeechEvents {
  readonly stream: TextStream;
  /** Returns the gateway's tag for a language; undefined for the gateway's own language. */
  readonly languageTag: (language: string | undefined) => string | undefined;
  /** Monotonic. */
  readonly nowMs: () => number;
}

/**
 * One answer that a gateway speaks: its words are sent while they are written. What was heard is what the gateway reports;
 * where it reports nothing, it is estimated from the usual pace of voices.
 */
export class TextSpeech implements AnswerSpeech {
  readonly playout;
  heard: HeardSource | undefined = 'estimated';
  readonly #deps: TextSpeechDeps;
  #resolveEnded: (outcome: 'played' | 'stopped') => void = () => undefined;
  #outcome: 'played' | 'stopped' | undefined;
  #written = '';
  /** The part of the written text that was not sent yet. */
  #unsent = '';
  #isLineStart = true;
  /** Whether the text that follows is another one. */
  #isTextEnd = false;
  #isFinished = false;
  #startedMs: number | undefined;
  /** When all that was sent will have been spoken. */
  #spokenUntilMs = 0;
  /** What was played, in the gateway's words. */
  #played = '';
  #heardWords: string | undefined;
  #heardMs: number | undefined;
  #language: string | undefined;
  #isInterruptible = true;

  constructor(deps: TextSpeechDeps) {
    this.#deps = deps;
    const ended = new Promise<'played' | 'stopped'>((resolve) => {
      this.#resolveEnded = resolve;
    });
    // A turn is never prepared before its words are complete, so that nothing is held back.
    this.playout = { ended, stopMs: undefined, pause: () => undefined, resume: () => undefined };
  }

  /** Whether anything was sent. */
  get hasBegun(): boolean {
    return this.#startedMs !== undefined;
  }

  /** Whether all was sent. */
  get isFinished(): boolean {
    return this.#isFinished;
  }

  get isInterruptible(): boolean {
    return this.#isInterruptible;
  }

  get isStarved(): boolean {
    return !this.#isFinished && this.#outcome === undefined && this.#deps.nowMs() >= this.#spokenUntilMs;
  }

  get provider(): string | undefined {
    return this.hasBegun ? this.#deps.stream.info.provider : undefined;
  }

  enterNode({ interruptible }: InterruptionPolicy): void {
    this.#isInterruptible = interruptible;
  }

  useVoiceOf({ language }: CurrentNode): undefined {
    this.#language = language;
  }

  /** Plays nothing: no model speaks itself where the gateway does. */
  play(speech: SpokenAnswer): void {
    speech.truncate(0);
  }

  writeSpoken(text: string): void {
    this.write(text);
  }

  write(text: string): void {
    if (this.#isOver) return;
    this.#unsent += text;
    this.#sendUnsent(speakableEnd(this.#unsent, 0));
  }

  completeText(): void {
    if (this.#isOver) return;
    this.#sendUnsent(this.#unsent.length);
    this.#isTextEnd = true;
  }

  say(text: string): void {
    if (this.#isOver || text === '') return;
    const rest = this.#unsent;
    this.#unsent = '';
    this.#send(text);
    this.#isTextEnd = true;
    this.write(rest);
  }

  finish(): void {
    if (this.#isOver) return;
    this.completeText();
    this.#isFinished = true;
    if (this.hasBegun) this.#sendPart('', true);
    else this.#end('played');
  }

  stop(): void {
    if (this.#outcome !== undefined) return;
    this.#heardWords ??= this.#estimate();
    this.#end('stopped');
  }

  /** The gateway has stopped speaking since the caller speaks. @param text - The part of what was written that was heard. */
  interruptedAt({ text, ms }: HeardAnswer): void {
    if (this.#outcome !== undefined) return;
    this.heard = undefined;
    this.#heardWords = textUntil(this.#written, text);
    this.#heardMs = ms;
  }

  /** The gateway reports what it has spoken, part by part. */
  onPlayed(text: string): void {
    if (this.#outcome !== undefined) return;
    this.heard = undefined;
    this.#played = `${this.#played} ${text}`;
    if (this.#isFinished && textUntil(this.#written, this.#played) === this.#written) this.#end('played');
  }

  /** Assumes that all that was sent was heard: the gateway says so, or the caller answers. */
  assumePlayed(): void {
    if (this.#isFinished) this.#end('played');
  }

  heardText(): string {
    if (this.#outcome === 'played') return this.#written;
    return this.#heardWords ?? this.#estimate();
  }

  heardMs(): number {
    return this.#heardMs ?? this.#elapsedMs();
  }

  onFrame(): void {
    if (this.#isFinished && this.#deps.nowMs() >= this.#spokenUntilMs) this.#end('played');
  }

  onClosed(): void {
    this.stop();
  }

  get #isOver(): boolean {
    return this.#isFinished || this.#outcome !== undefined;
  }

  #sendUnsent(end: number): void {
    const part = this.#unsent.slice(0, end);
    // A space goes with the word after it.
    if (part.trim() === '') return;
    this.#unsent = this.#unsent.slice(end);
    this.#send(part);
  }

  /** @param written - The next part of the answer; sent without Markdown. */
  #send(written: string): void {
    const { nowMs, onFirstSamples, onStarted } = this.#deps;
    const needsSpace = this.#isTextEnd && this.#written !== '' && !/\s$/.test(this.#written);
    const part = needsSpace && !/^\s/.test(written) ? ` ${written}` : written;
    const { text } = spokenForm(part, { language: this.#language, startsLine: this.#isLineStart });
    this.#isTextEnd = false;
    this.#isLineStart = /\n\s*$/.test(part);
    this.#written += part;
    if (text.trim() === '') return;
    const atMs = nowMs();
    const isFirst = !this.hasBegun;
    if (isFirst) onFirstSamples();
    const fromMs = isFirst ? atMs + SYNTHESIS_MS : Math.max(atMs, this.#spokenUntilMs);
    this.#spokenUntilMs = fromMs + estimatedMs(text) * SLOWNESS;
    this.#startedMs ??= atMs;
    this.#sendPart(text, false);
    if (isFirst) onStarted({ streamMs: atMs, bufferDelayMs: 0 });
  }

  #sendPart(text: string, isLast: boolean): void {
    const { stream, languageTag } = this.#deps;
    const language = languageTag(this.#language);
    stream.say({ text, isLast, language, interruptible: this.#isInterruptible });
  }

  #elapsedMs(): number {
    return this.#startedMs === undefined
      ? 0
      : Math.max(0, this.#deps.nowMs() - this.#startedMs - SYNTHESIS_MS);
  }

  #estimate(): string {
    if (this.#played !== '') return textUntil(this.#written, this.#played);
    const wholeMs = estimatedMs(this.#written);
    return wholeMs === 0 ? '' : shareOf(this.#written, this.#elapsedMs() / wholeMs);
  }

  #end(outcome: 'played' | 'stopped'): void {
    if (this.#outcome !== undefined) return;
    this.#outcome = outcome;
    this.#resolveEnded(outcome);
  }
}
