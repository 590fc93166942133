import { VAD_FRAME_MS } from '../../providers/ports/voiceActivity.ts';

/** Frames that are looked at together, so that a click is no speech and a stop consonant no pause. */
const WINDOW_FRAMES = 5;
const WINDOW_MASK = (1 << WINDOW_FRAMES) - 1;
/** Voiced ones among them that begin speech. */
const ONSET_FRAMES = 3;
/** The newest ones, among which a voiced one may be the first of them. */
const ONSET_MASK = (1 << ONSET_FRAMES) - 1;

/** What the caller says at one stretch, pauses included, until it is closed. All times on the stream's clock. */
export interface Utterance {
  readonly startMs: number;
  /** Voice in it, without the pauses. */
  readonly voicedMs: number;
  /** End of the last voiced frame. */
  readonly lastVoicedMs: number;
}

export interface SpeechActivity {
  /** The newest frame is bit 0. */
  readonly window: number;
  /** Whether the caller speaks right now. */
  readonly isActive: boolean;
  /** Undefined before the caller spoke, and once what they said is dealt with. */
  readonly utterance: Utterance | undefined;
}

export const NO_SPEECH: SpeechActivity = { window: 0, isActive: false, utterance: undefined };

/**
 * Makes utterances of a detector's yes and no.
 *
 * ```text
 *            3 of 5 frames voiced
 *   silent ───────────────────────▶ active
 *      ▲                              │
 *      └──────────────────────────────┘
 *            none of 5 frames voiced
 * ```
 *
 * @param atMs - The frame's end on the stream's clock.
 */
export function detectSpeech(activity: SpeechActivity, isVoiced: boolean, atMs: number): SpeechActivity {
  const window = ((activity.window << 1) | (isVoiced ? 1 : 0)) & WINDOW_MASK;
  const voicedFrames = bits(window);
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

/** Whether something is heard that is too short yet to be told from a click: at most 60 ms later it is known. */
export function isSpeechOnset({ isActive, window }: SpeechActivity): boolean {
  return !isActive && (window & ONSET_MASK) !== 0;
}

/** What was said is dealt with; speech that goes on begins an utterance of its own. */
export function closeUtterance(activity: SpeechActivity): SpeechActivity {
  return { window: activity.isActive ? 0 : activity.window, isActive: false, utterance: undefined };
}

function extended(utterance: Utterance | undefined, voicedMs: number, atMs: number): Utterance {
  if (!utterance) return { startMs: atMs - voicedMs, voicedMs, lastVoicedMs: atMs };
  return { ...utterance, voicedMs: utterance.voicedMs + voicedMs, lastVoicedMs: atMs };
}

function bits(value: number): number {
  let count = 0;
  for (let rest = value; rest !== 0; rest &= rest - 1) count++;
  return count;
}
