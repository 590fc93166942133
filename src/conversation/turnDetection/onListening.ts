import { endCallerTurn, endWithoutTranscript } from './callerTurn.ts';
import { preemptTurn } from './preemptiveTurn.ts';
import type { Utterance } from './speechActivity.ts';
import { hasPaused, keepUnanswered, requestTranscript, type TurnStep, withoutEffects } from './steps.ts';
import type { TurnContext, TurnSignal, TurnState } from './turnState.ts';

/** A caller who has finished waits this long for their transcript; then they are asked to repeat. */
const TRANSCRIPT_TIMEOUT_MS = 8000;
/** DTMF digits wait this long for the transcript of the speech before them. */
const DIGITS_TIMEOUT_MS = 1000;
/** Longer speech without a pause is music or noise. */
const MAX_UTTERANCE_MS = 45_000;

/** Decides whether the caller has finished: with each frame, and at once when words or a turn signal come. */
export function onListening(state: TurnState, utterance: Utterance, context: TurnContext): TurnStep {
  const silenceMs = context.atMs - utterance.lastVoicedMs;
  const mustEnd = isTooLong(utterance, context);
  const isRequested = state.requestedToMs !== undefined;
  if (!isRequested && (hasPaused(utterance, context) || mustEnd))
    return requestTranscript({ ...state, isEndOfTurn: mustEnd }, context);
  const { pendingDigits } = state;
  if (pendingDigits && context.atMs - pendingDigits.atMs >= DIGITS_TIMEOUT_MS)
    return keepUnanswered(endCallerTurn({ ...state, transcript: '' }, context));
  const isSilent = isRequested && silenceMs >= context.endpointingDelayMs(state) && !context.isSpeechOnset;
  const isEndOfTurn = state.isEndOfTurn || isSilent;
  const next = { ...state, isEndOfTurn };
  if (isEndOfTurn && state.transcript !== undefined) return endCallerTurn(next, context);
  if (!isEndOfTurn) return preemptTurn(next, silenceMs, context);
  if (silenceMs < TRANSCRIPT_TIMEOUT_MS) return withoutEffects(next);
  const asked = endWithoutTranscript(next, 'The recognizer did not answer in time', context);
  return { ...asked, effects: [{ type: 'await_late_words' }, ...asked.effects] };
}

/** The recognizer has an opinion on whether the caller has finished. */
export function onTurnSignal(state: TurnState, signal: TurnSignal, context: TurnContext): TurnStep {
  const { utterance } = context;
  if (state.phase !== 'listening' || !utterance) return withoutEffects(state);
  if (signal === 'turn_resumed')
    return withoutEffects({ ...state, recognizedEnd: undefined, isEndOfTurn: false });
  const heard = { ...state, recognizedEnd: signal };
  return state.requestedToMs === undefined
    ? requestTranscript(heard, context)
    : onListening(heard, utterance, context);
}

export function isTooLong({ startMs }: Utterance, { atMs }: TurnContext): boolean {
  return atMs - startMs >= MAX_UTTERANCE_MS;
}
