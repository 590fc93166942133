import type { Utterance } from '../recognition/speechActivity.ts';
import { machineKindOf } from './machinePhrases.ts';

/** Who took the call. */
export type AnsweredBy = 'unknown' | 'person' | 'machine' | 'screening';

export interface AnsweringState {
  readonly verdict: AnsweredBy;
  /** What gave it away. */
  readonly evidence: 'words' | 'length' | 'beep' | undefined;
}

export type AnsweringEvent =
  /** The caller's utterance as it stands. */
  | { readonly type: 'speech'; readonly utterance: Utterance }
  /** What was said so far, up to a pause. */
  | { readonly type: 'words'; readonly text: string; readonly voicedMs: number }
  | { readonly type: 'beep' };

export const UNKNOWN_ANSWER: AnsweringState = { verdict: 'unknown', evidence: undefined };

/** People answer with a word or two and wait; who speaks on for so long has recorded it before. */
const LONG_GREETING_MS = 4200;
/** A person's first words. */
const SHORT_GREETING_MS = 2500;
/** After so much of a call nobody asks any more. */
export const DETECTION_MS = 30_000;

/**
 * Tells machines from people beside the talk, which never waits for it.
 *
 * ```text
 *              words, beep, long speech
 *   unknown ────────────────────────────▶ machine
 *      │  "who is calling?"
 *      ├────────────────────────────────▶ screening
 *      │  something short
 *      └────────────────────────────────▶ person ───beep──▶ machine
 * ```
 */
export function judgeAnswer(state: AnsweringState, event: AnsweringEvent): AnsweringState {
  if (state.verdict === 'machine') return state;
  switch (event.type) {
    case 'beep':
      return { ...state, verdict: 'machine', evidence: 'beep' };
    case 'speech':
      return state.verdict === 'unknown' && event.utterance.voicedMs >= LONG_GREETING_MS
        ? { ...state, verdict: 'machine', evidence: 'length' }
        : state;
    case 'words': {
      const kind = machineKindOf(event.text);
      if (kind && state.verdict !== 'person') return { ...state, verdict: kind, evidence: 'words' };
      const isShort = event.voicedMs <= SHORT_GREETING_MS && event.text.trim() !== '';
      return state.verdict === 'unknown' && isShort ? { ...state, verdict: 'person' } : state;
    }
  }
}
