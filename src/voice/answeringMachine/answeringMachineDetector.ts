import type { Utterance } from '../recognition/speechActivity.ts';
import { createBeepDetector } from './beepDetector.ts';
import { machineKindOf } from './machinePhrases.ts';

/** What answered the call. */
export type AnsweredBy = 'unknown' | 'person' | 'machine' | 'screening';

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

interface AnswerState {
  readonly answeredBy: AnsweredBy;
  readonly evidence: 'words' | 'length' | 'beep' | undefined;
}

type AnswerEvent =
  /** The caller's utterance so far. */
  | { readonly type: 'speech'; readonly utterance: Utterance }
  /** Its transcript up to a pause. */
  | { readonly type: 'transcript'; readonly text: string; readonly voicedMs: number }
  | { readonly type: 'beep' };

/** A verdict that the session acts on. */
export type MachineKind = 'machine' | 'screening';

/** Detects answering machines and call screening on one call. The session runs meanwhile and never waits for it. */
export class AnsweringMachineDetector {
  readonly #beeps;
  #state: AnswerState = { answeredBy: 'unknown', evidence: undefined };
  #nowMs = 0;
  /** When the verdict last changed. */
  #sinceMs = 0;
  #beepMs: number | undefined;

  constructor(sampleRateHz: number) {
    this.#beeps = createBeepDetector(sampleRateHz);
  }

  get answeredBy(): AnsweredBy {
    return this.#state.answeredBy;
  }

  get evidence(): string | undefined {
    return this.#state.evidence;
  }

  /** @returns The kind of machine, when this frame decides it. */
  onFrame(frame: Int16Array, utterance: Utterance | undefined, atMs: number): MachineKind | undefined {
    this.#nowMs = atMs;
    if (atMs > DETECTION_MS && this.answeredBy !== 'machine') return undefined;
    if (this.#beeps.push(frame)) {
      this.#beepMs = atMs;
      return this.#judge({ type: 'beep' });
    }
    return utterance ? this.#judge({ type: 'speech', utterance }) : undefined;
  }

  /** @returns The kind of machine, when this transcript decides it. */
  onTranscript(text: string, voicedMs: number): MachineKind | undefined {
    return this.#nowMs > DETECTION_MS ? undefined : this.#judge({ type: 'transcript', text, voicedMs });
  }

  /** @returns What identified the machine, once it records; undefined before. */
  recordingEvidence(atMs: number, lastVoicedMs: number): string | undefined {
    if (this.answeredBy !== 'machine') return undefined;
    const isSilent = atMs - Math.max(lastVoicedMs, this.#sinceMs) >= SILENT_BEFORE_RECORDING_MS;
    const isRecording = this.#beepMs !== undefined || isSilent || atMs - this.#sinceMs >= LONGEST_GREETING_MS;
    return isRecording ? this.evidence : undefined;
  }

  #judge(event: AnswerEvent): MachineKind | undefined {
    const before = this.answeredBy;
    this.#state = nextAnswerState(this.#state, event);
    const { answeredBy } = this;
    if (answeredBy === before) return undefined;
    this.#sinceMs = this.#nowMs;
    return answeredBy === 'machine' || answeredBy === 'screening' ? answeredBy : undefined;
  }
}

/**
 * ```text
 *              words, beep, long speech
 *   unknown ────────────────────────────▶ machine
 *      │  "who is calling?"
 *      ├────────────────────────────────▶ screening
 *      │  short answer
 *      └────────────────────────────────▶ person ───beep──▶ machine
 * ```
 */
function nextAnswerState(state: AnswerState, event: AnswerEvent): AnswerState {
  if (state.answeredBy === 'machine') return state;
  switch (event.type) {
    case 'beep':
      return { answeredBy: 'machine', evidence: 'beep' };
    case 'speech':
      return state.answeredBy === 'unknown' && event.utterance.voicedMs >= LONG_GREETING_MS
        ? { answeredBy: 'machine', evidence: 'length' }
        : state;
    case 'transcript': {
      const kind = machineKindOf(event.text);
      if (kind && state.answeredBy !== 'person') return { answeredBy: kind, evidence: 'words' };
      const isShort = event.voicedMs <= SHORT_GREETING_MS && event.text.trim() !== '';
      return state.answeredBy === 'unknown' && isShort ? { ...state, answeredBy: 'person' } : state;
    }
  }
}
