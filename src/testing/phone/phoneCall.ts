import { CallwayError } from '../../base/errors.ts';
import type { TextToSpeech } from '../../models/ports/textToSpeech.ts';
import type { Interruption } from '../play/channel.ts';
import { type CallerVoice, SOFT_EDGE_MS } from '../simulator/callerVoice.ts';
import type { HeardSpeech } from '../simulator/heardSpeech.ts';
import { StreamClosedError } from '../simulator/listener.ts';
import { beep, onLine } from '../simulator/sounds.ts';
import type { Line } from './line.ts';
import type { SessionRecord } from './sessionRecord.ts';

/** A minute and a half. */
const MAX_SPOKEN_CHARACTERS = 1_500;
/** Shorter pauses are part of an answer. */
const PAUSE_MS = 400;
/** An agent that hangs up does so within this time of its answer's end. */
const SETTLE_MS = 600;
/** Shorter pauses are part of a sentence. */
const GAP_MS = 200;
const POLL_MS = 200;
/** The tone of an answering machine. */
const BEEP_MS = 500;
/** The wait after a turn without words. */
const WORDLESS_MS = 4_000;
/** An agent that goes on for this long was not interrupted. */
const MAX_OVERLAP_MS = 60_000;
/** Noise is queued so far ahead. */
const NOISE_AHEAD_MS = 60;

/** The time of the caller's words, on the stream's clock. */
export interface SpokenSince {
  readonly startMs: number;
  readonly endMs: number;
  /** The time from the start to the agent's silence. */
  readonly stoppedWithinMs?: number;
}

export interface Listening {
  /** When the caller's part ended. */
  readonly sinceMs: number;
  /** The longest wait for the agent's first sound, and between two. */
  readonly patienceMs: number;
  readonly interruption?: Interruption | undefined;
}

export interface PhoneCallParts {
  readonly line: Line;
  readonly heard: HeardSpeech;
  readonly voice: CallerVoice;
  readonly speech: { readonly textToSpeech: TextToSpeech; readonly voice: string };
  readonly record: SessionRecord;
}

/** One call of a simulated caller, who speaks, listens, presses keys and interrupts. */
export class PhoneCall {
  readonly #parts: PhoneCallParts;
  readonly #removeListeners: readonly (() => void)[];
  /** Words that have cut the agent's last answer already. */
  #interrupting: Promise<SpokenSince> | undefined;
  #digits = '';
  #hasEnded = false;
  #queuedSamples = 0;
  #marks = 0;

  constructor(parts: PhoneCallParts) {
    this.#parts = parts;
    const { stream } = parts.line;
    this.#removeListeners = [
      stream.events.on('dtmf', ({ digit }) => {
        this.#digits += digit;
      }),
      stream.events.on('audio', () => this.#makeNoise()),
    ];
  }

  /** When the stream's clock began, in Unix time. */
  get startedAtMs(): number {
    return this.#parts.line.startedAtMs;
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /**
   * Says it to its end, or goes on with words by which the agent was just interrupted.
   *
   * @param turn - Decides what noise is behind the words.
   * @param how - `thenBeeps`: the tone of an answering machine follows.
   */
  async say(
    text: string,
    turn: number,
    { isInterruption = false, thenBeeps = false }: { isInterruption?: boolean; thenBeeps?: boolean },
  ): Promise<SpokenSince> {
    const begun = isInterruption ? this.#interrupting : undefined;
    this.#interrupting = undefined;
    const spoken = await (begun ?? this.#speak(await this.#synthesize(text), turn).ended);
    const { heard, line } = this.#parts;
    const tone = thenBeeps && (await this.#speak(beep(BEEP_MS, line.stream.info.sampleRateHz), turn).ended);
    heard.forget();
    return tone ? { ...spoken, endMs: tone.endMs } : spoken;
  }

  /** @returns When the last digit was sent. */
  async press(digits: string): Promise<number> {
    const { line, heard } = this.#parts;
    // The agent may hang up meanwhile.
    await line.sendDtmf(digits).catch((error: unknown) => {
      if (!(error instanceof CallwayError)) throw error;
    });
    heard.forget();
    return heard.nowMs;
  }

  /** @returns When it began to wait. */
  async wait(durationMs: number): Promise<number> {
    const { heard } = this.#parts;
    heard.forget();
    const sinceMs = heard.nowMs;
    await this.#until(() => heard.nowMs >= sinceMs + durationMs);
    return sinceMs;
  }

  /** Waits until the agent has reacted and is silent, or interrupts it. */
  async listen({ sinceMs, patienceMs, interruption }: Listening): Promise<void> {
    const { heard, record } = this.#parts;
    const words = interruption && (await this.#synthesize(interruption.say));
    const isInterrupted = () =>
      interruption !== undefined &&
      heard.quietMs < PAUSE_MS &&
      heard.nowMs >= (heard.firstAtMs ?? heard.nowMs) + interruption.afterMs;
    let answeredAtMs: number | undefined;
    for (let checkAtMs = sinceMs + PAUSE_MS; ; checkAtMs = heard.nowMs + POLL_MS) {
      const isPause = () => heard.quietMs >= PAUSE_MS && heard.nowMs >= checkAtMs;
      if (!(await this.#until(() => isInterrupted() || isPause()))) return;
      if (words && isInterrupted()) return await this.#interrupt(words, interruption.turn);
      await record.read();
      if (record.hasEnded) return await this.#untilEnded();
      if (record.newest === 'answer' && heard.lastAtMs !== undefined) answeredAtMs ??= heard.nowMs;
      if (this.#hasReacted({ sinceMs, patienceMs }, answeredAtMs)) return;
    }
  }

  /** @param answeredAtMs - When a whole answer was heard and stored; undefined before. */
  #hasReacted({ sinceMs, patienceMs }: Listening, answeredAtMs: number | undefined): boolean {
    const { heard, record } = this.#parts;
    const { lastAtMs, nowMs } = heard;
    if (nowMs >= (lastAtMs ?? sinceMs) + patienceMs) return true;
    if (answeredAtMs !== undefined) return record.newest === 'answer' && nowMs >= answeredAtMs + SETTLE_MS;
    return lastAtMs === undefined && record.newest !== 'nothing' && nowMs >= sinceMs + WORDLESS_MS;
  }

  /** Returns what was heard since the caller's part ended. */
  takeHeard(): { readonly firstAtMs: number | undefined; readonly digits: string } {
    const digits = this.#digits;
    this.#digits = '';
    return { firstAtMs: this.#parts.heard.firstAtMs, digits };
  }

  async hangUp(): Promise<void> {
    this.#hasEnded = true;
    await this.#parts.line.hangUp();
  }

  /** Ends what is waited for, and the call. Idempotent. */
  async close(reason: unknown): Promise<void> {
    const { heard, line } = this.#parts;
    heard.stop(reason);
    for (const remove of this.#removeListeners) remove();
    await line.hangUp();
    line.stream.close();
  }

  /** Speaks over the agent, and waits until it is silent and its cut answer is stored. */
  async #interrupt(words: Int16Array, turn: number): Promise<void> {
    const { heard, record } = this.#parts;
    const { started, ended } = this.#speak(words, turn);
    const startMs = await started;
    const isSilent = await this.#until(
      () => heard.nowMs >= startMs && (heard.quietMs >= GAP_MS || heard.nowMs >= startMs + MAX_OVERLAP_MS),
    );
    const stoppedWithinMs = Math.max(0, (heard.lastAtMs ?? startMs) - startMs);
    this.#interrupting = ended.then((spoken) => ({
      ...spoken,
      stoppedWithinMs: isSilent ? stoppedWithinMs : undefined,
    }));
    this.#interrupting.catch(() => undefined); // awaited by `say`
    for (const untilMs = heard.nowMs + WORDLESS_MS; heard.nowMs < untilMs; ) {
      await record.read();
      if (record.newest === 'answer') return;
      const againMs = heard.nowMs + POLL_MS;
      if (!(await this.#until(() => heard.nowMs >= againMs))) return;
    }
  }

  /** Queues words; both times are on the stream's clock, of its first and its last sample. */
  #speak(words: Int16Array, turn: number): { started: Promise<number>; ended: Promise<SpokenSince> } {
    const { line, voice, heard } = this.#parts;
    const { stream } = line;
    const samples = voice.say(words, turn);
    const durationMs = (samples.length * 1000) / stream.info.sampleRateHz;
    const started = this.#markPlayed();
    this.#queuedSamples = Math.max(this.#queuedSamples, stream.receivedSamples) + samples.length;
    stream.play(samples);
    const ended = this.#markPlayed().then((endMs = heard.nowMs) => ({
      startMs: Math.max(0, endMs - durationMs + SOFT_EDGE_MS),
      endMs: endMs - SOFT_EDGE_MS,
    }));
    ended.catch(() => undefined); // awaited later
    return { started: started.then((startMs = heard.nowMs) => startMs + SOFT_EDGE_MS), ended };
  }

  /** @returns When all that is queued has been sent; undefined when the call has ended. */
  async #markPlayed(): Promise<number | undefined> {
    const { stream } = this.#parts.line;
    this.#marks += 1;
    const name = `mark ${this.#marks}`;
    let playedAtMs: number | undefined;
    const remove = stream.events.on('mark', (mark) => {
      if (mark.name === name) playedAtMs = (mark.receivedSamples * 1000) / stream.info.sampleRateHz;
    });
    stream.mark(name);
    try {
      await this.#until(() => playedAtMs !== undefined);
      return playedAtMs;
    } finally {
      remove();
    }
  }

  async #synthesize(text: string): Promise<Int16Array> {
    if (text.length > MAX_SPOKEN_CHARACTERS)
      throw new CallwayError(
        'unprocessable',
        'words_too_long',
        `A caller on the phone says at most ${MAX_SPOKEN_CHARACTERS} characters in a turn: split it`,
      );
    const { speech, line } = this.#parts;
    const { textToSpeech, voice } = speech;
    const pieces: Int16Array[] = [];
    const { signal } = new AbortController();
    for await (const piece of textToSpeech.synthesize({ text, voice }, signal)) pieces.push(piece);
    const whole = new Int16Array(pieces.reduce((length, piece) => length + piece.length, 0));
    let at = 0;
    for (const piece of pieces) {
      whole.set(piece, at);
      at += piece.length;
    }
    return onLine(whole, textToSpeech.sampleRateHz, line.stream.info.sampleRateHz);
  }

  #makeNoise(): void {
    const { line, voice } = this.#parts;
    const { stream } = line;
    if (!voice.hasNoise) return;
    const aheadSamples = Math.round((NOISE_AHEAD_MS * stream.info.sampleRateHz) / 1000);
    const missing = stream.receivedSamples + aheadSamples - this.#queuedSamples;
    if (missing <= 0) return;
    this.#queuedSamples += missing;
    stream.play(voice.pause(missing));
  }

  async #untilEnded(): Promise<void> {
    await Promise.race([this.#parts.line.ended, this.#until(() => false)]);
    this.#hasEnded = true;
  }

  /** @returns False where the other side has hung up. */
  async #until(condition: () => boolean): Promise<boolean> {
    try {
      await this.#parts.heard.until(condition);
      return true;
    } catch (error) {
      if (!(error instanceof StreamClosedError)) throw error;
      this.#hasEnded = true;
      return false;
    }
  }
}
