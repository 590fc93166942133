import type { Utterance } from '../recognition/speechActivity.ts';
import { type BeepDetector, createBeepDetector } from './beepDetector.ts';
import { machineKindOf } from './machinePhrases.ts';

/** What answered the call. */
export type AnsweredBy = 'unknown' | 'human' | 'machine' | 'screening';

/** A person says a word or two and waits; longer continuous speech is a recording. */
const LONG_GREETING_MS = 4200;
/** Upper bound of a person's first words. */
const SHORT_GREETING_MS = 2500;
/** Detection stops after this much of a call. */
const DETECTION_MS = 30_000;
/** A machine without a beep records after this much silence. */
const SILENT_BEFORE_RECORDING_MS = 2000;
/** A longer greeting is music or a person; the message is left all the same. */
const LONGEST_GREETING_MS = 30_000;

/** A verdict that the session acts on. */
export type MachineKind = 'machine' | 'screening';
export type Evidence = 'words' | 'length' | 'beep';

/**
 * Detects answering machines and call screening on one call. The session runs meanwhile and never waits for it.
 *
 * ```text
 *              words, beep, long speech
 *   unknown ────────────────────────────▶ machine
 *      │  "who is calling?"
 *      ├────────────────────────────────▶ screening ──words, beep──▶ machine
 *      │  short answer
 *      └────────────────────────────────▶ human ───────────beep────▶ machine
 * ```
 */
export class AnsweringMachineDetector {
  readonly #beeps: BeepDetector;
  answeredBy: AnsweredBy = 'unknown';
  /** What identified the machine. */
  evidence: Evidence | undefined;
  #nowMs = 0;
  /** When the verdict last changed. */
  #sinceMs = 0;
  #hasBeeped = false;

  constructor(sampleRateHz: number) {
    this.#beeps = createBeepDetector(sampleRateHz);
  }

  /** @returns The kind of machine, when this frame decides it. */
  onFrame(frame: Int16Array, utterance: Utterance | undefined, atMs: number): MachineKind | undefined {
    this.#nowMs = atMs;
    if (atMs > DETECTION_MS && this.answeredBy !== 'machine') return undefined;
    if (this.#beeps.push(frame)) {
      this.#hasBeeped = true;
      return this.#decide('machine', 'beep');
    }
    const isLong = utterance !== undefined && utterance.voicedMs >= LONG_GREETING_MS;
    return this.answeredBy === 'unknown' && isLong ? this.#decide('machine', 'length') : undefined;
  }

  /** @param text - The utterance's transcript up to a pause. @returns The kind of machine, when it decides it. */
  onTranscript(text: string, voicedMs: number): MachineKind | undefined {
    if (this.#nowMs > DETECTION_MS) return undefined;
    const kind = machineKindOf(text);
    if (kind && this.answeredBy !== 'human') return this.#decide(kind, 'words');
    const isShort = voicedMs <= SHORT_GREETING_MS && text.trim() !== '';
    if (this.answeredBy === 'unknown' && isShort) this.answeredBy = 'human';
    return undefined;
  }

  /** @returns What identified the machine, once it records; undefined before. */
  recordingEvidence(atMs: number, lastVoicedMs: number): Evidence | undefined {
    if (this.answeredBy !== 'machine') return undefined;
    const isSilent = atMs - Math.max(lastVoicedMs, this.#sinceMs) >= SILENT_BEFORE_RECORDING_MS;
    const isRecording = this.#hasBeeped || isSilent || atMs - this.#sinceMs >= LONGEST_GREETING_MS;
    return isRecording ? this.evidence : undefined;
  }

  /** Whether these words of the caller are what call screening asks. */
  isScreening(text: string): boolean {
    return this.answeredBy === 'screening' && machineKindOf(text) === 'screening';
  }

  /** A machine stays a machine, and nothing is decided twice. */
  #decide(kind: MachineKind, evidence: Evidence): MachineKind | undefined {
    if (this.answeredBy === 'machine' || this.answeredBy === kind) return undefined;
    this.answeredBy = kind;
    this.evidence = evidence;
    this.#sinceMs = this.#nowMs;
    return kind;
  }
}
