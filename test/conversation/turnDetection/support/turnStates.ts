import type { Utterance } from '../../../../src/conversation/turnDetection/speechActivity.ts';
import { DEFAULT_TURN_POLICY } from '../../../../src/conversation/turnDetection/turnSettings.ts';
import {
  INITIAL_TURN_STATE,
  type TurnContext,
  type TurnEvent,
  type TurnPhase,
  type TurnState,
} from '../../../../src/conversation/turnDetection/turnState.ts';

export const context = (atMs: number, more: Partial<TurnContext> = {}): TurnContext => ({
  atMs,
  utterance: undefined,
  isSpeechOnset: false,
  policy: DEFAULT_TURN_POLICY,
  endpointingDelayMs: () => 700,
  requestAfterMs: 200,
  preemptAfterMs: () => undefined,
  answering: undefined,
  isOnHold: false,
  isPaused: false,
  ...more,
});

export const spoken = (startMs: number, lastVoicedMs: number): Utterance => ({
  startMs,
  voicedMs: lastVoicedMs - startMs,
  lastVoicedMs,
});

/** The caller has spoken from `startMs` to `lastVoicedMs`. */
export const during = (
  atMs: number,
  startMs: number,
  lastVoicedMs: number,
  more: Partial<TurnContext> = {},
) => context(atMs, { utterance: spoken(startMs, lastVoicedMs), ...more });

export const at = (phase: TurnPhase, more: Partial<TurnState> = {}): TurnState => ({
  ...INITIAL_TURN_STATE,
  phase,
  ...more,
});

export const frame: TurnEvent = { type: 'frame' };
/** Digits that wait for their turn. */
export const pending = { pendingDigits: { digits: '12', atMs: 700 }, isEndOfTurn: true, requestedToMs: 700 };
