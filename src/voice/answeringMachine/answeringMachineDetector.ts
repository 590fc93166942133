import type { Utterance } from '../../conversation/turnDetection/speechActivity.ts';
import { type BeepDetector, createBeepDetector } from './beepDetector.ts';
import { countWords, type GreetingKind, greetingKindOf, isRecorded } from './greetingPhrases.ts';

export type AnsweredBy = 'unknown' | 'human' | 'machine' | 'screening';

/** People pause sooner; longer speech whose words tell nothing is a recording. */
const LONG_GREETING_MS = 10_000;
/** Fewer words in long speech are those of a person in a noise that is taken for speech. */
const MIN_WORDS_PER_SECOND = 1;
/** Upper bound of a person's first words. */
const SHORT_GREETING_MS = 2500;
/** Detection stops after this much of a call. */
const DETECTION_MS = 30_000;
/** A screened call that is not taken goes to voicemail within this time of the question. */
const SCREENING_MS = 60_000;
/** People wait for an answer: words that begin so soon are the rest of one greeting. */
const SAME_GREETING_MS = 1500;
/** A machine beeps within this time of its greeting; later tones are those of a person's surroundings. */
const BEEP_AFTER_GREETING_MS = 5000;
/** A screening service listens after a tone that follows its question within this time. */
const SCREENING_TONE_MS = 4000;
/** A tone is known for one so soon after its first sample, or its last. */
const TONE_TOLERANCE_MS = 300;
/** A machine without a beep records after this much silence. */
const SILENT_BEFORE_RECORDING_MS = 2000;
/** A longer greeting is music or a person; the message is left all the same. */
const LONGEST_GREETING_MS = 30_000;

export type Evidence = 'words' | 'length' | 'beep';

/**
 * Detects answering machines and call screening on one call. The session runs meanwhile and never waits for it.
 *
 * ```text
 *              words, beep, long speech                  words
 *   unknown ────────────────────────────▶ machine ──────────────▶ screening, human
 *      │  "who is calling?"
 *      ├────────────────────────────────▶ screening ──words, later beep──▶ machine
 *      │  short answer, "how can I help you?"
 *      └────────────────────────────────▶ human ──beep, rest of the greeting──▶ machine, screening, unknown (a menu)
 * ```
 *
 * A beep waits for the words before it, which may be those of a screening service or of a person. Long speech decides
 * only together with its words. Once a machine records, nothing changes any more.
 */
export class AnsweringMachineDetector {
  readonly #beeps: BeepDetector;
  answeredBy: AnsweredBy = 'unknown';
  /** What identified the machine. */
  evidence: Evidence | undefined;
  #nowMs = 0;
  /** When the verdict last changed, or a person's greeting went on. */
  #sinceMs = 0;
  #hasBeeped = false;
  #beepEndMs = Number.NEGATIVE_INFINITY;
  /** A menu or a queue has answered. */
  #isMenu = false;
  #isRecording = false;
  /** End of the speech, without tones. */
  speechEndMs = Number.NEGATIVE_INFINITY;

  constructor(sampleRateHz: number) {
    this.#beeps = createBeepDetector(sampleRateHz);
  }

  /** Whether the words that are spoken now may change the verdict. */
  get isListening(): boolean {
    if (this.#isRecording) return false;
    if (this.answeredBy === 'screening') return this.#nowMs - this.#sinceMs <= SCREENING_MS;
    return this.answeredBy === 'machine' || this.#nowMs <= DETECTION_MS;
  }

  /** @param areWordsDue - Speech before this frame may yet be transcribed. */
  onFrame(frame: Int16Array, utterance: Utterance | undefined, atMs: number, areWordsDue: boolean): void {
    this.#nowMs = atMs;
    if (!this.isListening) return;
    const hasBeeped = this.#beeps.push(frame);
    if (hasBeeped) this.#beepEndMs = atMs;
    if (hasBeeped && this.#isMachineBeep()) this.#hasBeeped = true;
    const isTone =
      this.#beeps.isSounding || (utterance?.lastVoicedMs ?? 0) <= this.#beepEndMs + TONE_TOLERANCE_MS;
    if (utterance && !isTone) this.speechEndMs = utterance.lastVoicedMs;
    if (this.#hasBeeped && !areWordsDue) this.#decide('machine', 'beep');
  }

  /**
   * @param text - The utterance's words so far; empty where the recognizer heard none, or failed.
   * @param isFinal - The caller has paused.
   */
  onWords(text: string, utterance: Utterance, isFinal: boolean): void {
    if (!this.isListening) return;
    const kind = greetingKindOf(text);
    if (kind === 'menu') this.#isMenu = true;
    if (this.answeredBy === 'human') {
      const isSameGreeting = utterance.startMs - this.#sinceMs <= SAME_GREETING_MS;
      if (isSameGreeting || isRecorded(text)) this.#onGreetingContinued(kind, isFinal);
    } else if (kind === 'machine') this.#decide('machine', 'words');
    else if (this.answeredBy === 'screening') return;
    else if (kind === 'screening') this.#decide('screening', 'words');
    else if (kind === 'human' && isFinal) this.#decide('human');
    else if (kind === undefined && this.answeredBy === 'unknown')
      this.#onTellingNothing(text, utterance.voicedMs, isFinal);
  }

  /** The first words of a machine or of a menu may be those of a person. */
  #onGreetingContinued(kind: GreetingKind | undefined, isFinal: boolean): void {
    if (kind && kind !== 'human') this.#decide(kind === 'menu' ? 'unknown' : kind, 'words');
    else if (isFinal) this.#sinceMs = this.#nowMs;
  }

  #onTellingNothing(text: string, voicedMs: number, isFinal: boolean): void {
    const isShort = isFinal && voicedMs <= SHORT_GREETING_MS && text.trim() !== '';
    if (isShort && !this.#hasBeeped) {
      this.#decide('human');
      return;
    }
    const words = countWords(text);
    const isSpeech = words === 0 ? isFinal : words * 1000 >= MIN_WORDS_PER_SECOND * voicedMs;
    if (voicedMs >= LONG_GREETING_MS && isSpeech && !this.#isMenu) this.#decide('machine', 'length');
  }

  /** @returns What identified the machine, once it records; undefined before. */
  recordingEvidence(atMs: number, lastVoicedMs: number, areWordsDue: boolean): Evidence | undefined {
    if (this.answeredBy !== 'machine') return undefined;
    const isSilent = atMs - Math.max(lastVoicedMs, this.#sinceMs) >= SILENT_BEFORE_RECORDING_MS;
    const isGreetingOver = (this.#hasBeeped || isSilent) && !areWordsDue;
    this.#isRecording ||= isGreetingOver || atMs - this.#sinceMs >= LONGEST_GREETING_MS;
    return this.#isRecording ? this.evidence : undefined;
  }

  /** Whether these words of the caller are what call screening asks. */
  isScreening(text: string): boolean {
    return this.answeredBy === 'screening' && greetingKindOf(text) === 'screening';
  }

  #isMachineBeep(): boolean {
    if (this.answeredBy === 'human') return this.#nowMs - this.#sinceMs <= BEEP_AFTER_GREETING_MS;
    return this.answeredBy !== 'screening' || this.#nowMs - this.speechEndMs > SCREENING_TONE_MS;
  }

  /** Sets a new verdict. Only a machine keeps a heard beep: a screening service has a tone of its own. */
  #decide(answeredBy: AnsweredBy, evidence?: Evidence): void {
    if (this.answeredBy === answeredBy) return;
    this.answeredBy = answeredBy;
    this.evidence = evidence;
    this.#sinceMs = this.#nowMs;
    if (answeredBy !== 'machine') this.#hasBeeped = false;
  }
}
