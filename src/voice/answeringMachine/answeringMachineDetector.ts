import type { Utterance } from '../recognition/speechActivity.ts';
import {
  type AnsweredBy,
  type AnsweringEvent,
  DETECTION_MS,
  judgeAnswer,
  UNKNOWN_ANSWER,
} from './answeringMachine.ts';
import { createBeepDetector } from './beepDetector.ts';

/** A machine without a tone records once it has been silent for so long. */
const SILENT_BEFORE_RECORDING_MS = 2000;
/** A greeting that is still going on by then is music, or a person; the message is said all the same. */
const LONGEST_GREETING_MS = 30_000;

/** Looks for answering machines on one call, beside the talk. */
export interface AnsweringMachineDetector {
  readonly verdict: AnsweredBy;
  readonly evidence: string | undefined;
  /** @returns What it is, when that has just become known. */
  onFrame(
    frame: Int16Array,
    utterance: Utterance | undefined,
    atMs: number,
  ): 'machine' | 'screening' | undefined;
  onWords(text: string, voicedMs: number): 'machine' | 'screening' | undefined;
  /** Whether a machine records now. @returns What told that it is a machine. */
  recordsBy(atMs: number, lastVoicedMs: number): string | undefined;
}

export function createAnsweringMachineDetector(sampleRateHz: number): AnsweringMachineDetector {
  const beeps = createBeepDetector(sampleRateHz);
  let state = UNKNOWN_ANSWER;
  let nowMs = 0;
  let sinceMs = 0;
  let beepMs: number | undefined;
  const judge = (event: AnsweringEvent) => {
    const before = state.verdict;
    state = judgeAnswer(state, event);
    if (state.verdict === before) return undefined;
    sinceMs = nowMs;
    return state.verdict === 'machine' || state.verdict === 'screening' ? state.verdict : undefined;
  };
  return {
    get verdict() {
      return state.verdict;
    },
    get evidence() {
      return state.evidence;
    },
    onFrame(frame, utterance, atMs) {
      nowMs = atMs;
      if (atMs > DETECTION_MS && state.verdict !== 'machine') return undefined;
      if (beeps.hear(frame)) {
        beepMs = atMs;
        return judge({ type: 'beep' });
      }
      return utterance ? judge({ type: 'speech', utterance }) : undefined;
    },
    onWords(text, voicedMs) {
      return nowMs > DETECTION_MS ? undefined : judge({ type: 'words', text, voicedMs });
    },
    recordsBy(atMs, lastVoicedMs) {
      if (state.verdict !== 'machine') return undefined;
      const isSilent = atMs - Math.max(lastVoicedMs, sinceMs) >= SILENT_BEFORE_RECORDING_MS;
      const isRecording = beepMs !== undefined || isSilent || atMs - sinceMs >= LONGEST_GREETING_MS;
      return isRecording ? state.evidence : undefined;
    },
  };
}
