import { VAD_FRAME_MS } from '../../models/ports/voiceActivity.ts';

/** Frames judged together, so that a click is not speech and a stop consonant is not a pause. */
const WINDOW_FRAMES = 5;
const WINDOW_MASK = (1 << WINDOW_FRAMES) - 1;
/** Voiced frames in the window that start speech. */
const ONSET_FRAMES = 3;
/** The newest frames, in which a voiced one may be the first of an onset. */
const ONSET_MASK = (1 << ONSET_FRAMES) - 1;

/** One stretch of the caller's speech, pauses included, until it is closed. Times are on the stream's clock. */
export interface Utterance {
  readonly startMs: number;
  /** Voiced time, without the pauses. */
  readonly voicedMs: number;
  /** End of the last voiced frame. */
  readonly lastVoicedMs: number;
}

/** Voice that is speech, pauses left out: a short word such as `no` or `stop` has more of it, a cough or a click less. */
const SPEECH_VOICED_MS = 320;

/** Whether a sound of the caller, by its voiced time, was speech. */
export function isSpeech(utterance: Utterance | undefined): utterance is Utterance {
  return utterance !== undefined && utterance.voicedMs >= SPEECH_VOICED_MS;
}

export interface SpeechActivity {
  /** One bit per frame, 1 for voiced; the newest frame is bit 0. */
  readonly window: number;
  readonly isActive: boolean;
  /** The open utterance; undefined before the caller speaks and after it is closed. */
  readonly utterance: Utterance | undefined;
}

export const NO_SPEECH: SpeechActivity = { window: 0, isActive: false, utterance: undefined };

/**
 * Segments a detector's frame decisions into utterances.
 *
 * ```text
 *            3 of 5 frames voiced
 *   silent ───────────────────────▶ active
 *      ▲                              │
 *      └──────────────────────────────┘
 *            0 of 5 frames voiced
 * ```
 *
 * @param atMs - The frame's end on the stream's clock.
 */
export function detectSpeech(activity: SpeechActivity, isVoiced: boolean, atMs: number): SpeechActivity {
  const window = ((activity.window << 1) | (isVoiced ? 1 : 0)) & WINDOW_MASK;
  const voicedFrames = countBits(window);
  if (activity.isActive && voicedFrames === 0) return { ...activity, window, isActive: false };
  if (activity.isActive) {
    if (!isVoiced) return { ...activity, window };
    return { window, isActive: true, utterance: extended(activity.utterance, VAD_FRAME_MS, atMs) };
  }
  if (voicedFrames < ONSET_FRAMES) return { ...activity, window };
  const voicedMs = voicedFrames * VAD_FRAME_MS;
  const oldest = 32 - Math.clz32(window);
  const utterance = activity.utterance
    ? extended(activity.utterance, voicedMs, atMs)
    : { startMs: atMs - oldest * VAD_FRAME_MS, voicedMs, lastVoicedMs: atMs };
  return { window, isActive: true, utterance };
}

/** Whether speech may be starting: too short to tell from a click, decided at most 60 ms later. */
export function isSpeechOnset({ isActive, window }: SpeechActivity): boolean {
  return !isActive && (window & ONSET_MASK) !== 0;
}

/** Closes the utterance; speech that continues starts a new one. */
export function closeUtterance(activity: SpeechActivity): SpeechActivity {
  return { window: activity.isActive ? 0 : activity.window, isActive: false, utterance: undefined };
}

function extended(utterance: Utterance | undefined, voicedMs: number, atMs: number): Utterance {
  if (!utterance) return { startMs: atMs - voicedMs, voicedMs, lastVoicedMs: atMs };
  return { ...utterance, voicedMs: utterance.voicedMs + voicedMs, lastVoicedMs: atMs };
}

function countBits(value: number): number {
  let count = 0;
  for (let rest = value; rest !== 0; rest &= rest - 1) count++;
  return count;
}
