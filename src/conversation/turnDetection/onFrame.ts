import { endCallerTurn, hasUnansweredInput } from './callerTurn.ts';
import { isDisclosing, onSpeechOverDisclosure } from './onDisclosure.ts';
import { isTooLong, onListening } from './onListening.ts';
import { silenceTurn } from './silence.ts';
import type { Utterance } from './speechActivity.ts';
import {
  becomeIdle,
  cancelTurn,
  discardUtterance,
  enterPhase,
  hasPaused,
  interruptAgent,
  isCancelable,
  keepUnanswered,
  requestTranscript,
  resumeAgent,
  startTurn,
  type TurnStep,
  withoutEffects,
  withoutTranscript,
} from './steps.ts';
import type { TurnContext, TurnState } from './turnState.ts';

/** Speech that cancels a turn of which nothing was heard yet. */
const CANCEL_AFTER_MS = 240;
/** An answer that nothing was heard of does not begin over speech, or this soon after it. */
const HOLD_MS = 100;
/** Speech beyond the policy's bound that confirms an interruption without a transcript. */
const CONFIRM_MS = 500;
/** A paused agent waits this long for the transcript once the caller is silent again. */
const PAUSE_TIMEOUT_MS = 2500;
/** A caller who stopped a gateway's answer, of which nothing was heard, and says nothing more still waits for it. */
const CONTINUE_AFTER_MS = 2000;
/** Voice needed to detect speech. */
const ONSET_MS = 60;

/** 20 ms have passed. */
export function onFrame(state: TurnState, context: TurnContext): TurnStep {
  const { utterance } = context;
  if (!utterance) return onNoUtterance(state, context);
  const followed = followUtterance(state, utterance, context);
  const next = onUtterance(followed.state, utterance, context);
  return { state: next.state, effects: [...followed.effects, ...next.effects] };
}

/** The caller does not speak, or what seemed to be speech was noise or the agent's echo. */
function onNoUtterance(state: TurnState, context: TurnContext): TurnStep {
  switch (state.phase) {
    case 'idle':
      return onSilence(state, context);
    case 'listening':
      if (!hasUnansweredInput(state)) return becomeIdle(state, context);
      if (context.gateway && context.atMs - state.sinceMs < CONTINUE_AFTER_MS) return withoutEffects(state);
      return endCallerTurn({ ...state, transcript: '' }, context);
    case 'thinking':
      return holdAgent(state, false);
    case 'paused':
      return resumeAgent(state, undefined, context);
    default:
      return withoutEffects(state);
  }
}

/** Detects that the caller continued after the transcript was requested: it is incomplete. */
function followUtterance(state: TurnState, utterance: Utterance, context: TurnContext): TurnStep {
  const { requestedToMs, transcript } = state;
  if (requestedToMs === undefined || utterance.lastVoicedMs <= requestedToMs) return withoutEffects(state);
  // Speech after the digits, or past the limit, belongs to another turn.
  const isNextTurn = state.phase === 'listening' && state.pendingDigits !== undefined;
  if (isNextTurn || isTooLong(utterance, context)) return withoutEffects(state);
  const pauseMs = utterance.lastVoicedMs - requestedToMs - ONSET_MS;
  return {
    state: withoutTranscript(state),
    effects: [{ type: 'caller_continued', pauseMs, transcript }],
  };
}

function onUtterance(state: TurnState, utterance: Utterance, context: TurnContext): TurnStep {
  if (isDisclosing(state, context)) return onSpeechOverDisclosure(state, utterance, context);
  switch (state.phase) {
    case 'idle': {
      const { sinceMs, silentSinceMs } = state;
      const interruptedSilence = { sinceMs, silentSinceMs };
      return withoutEffects(enterPhase({ ...state, interruptedSilence }, 'listening', context));
    }
    case 'listening':
      return onListening(state, utterance, context);
    case 'thinking':
      return onSpeechWhileThinking(state, utterance, context);
    case 'speaking':
      return onSpeechOverAgent(state, utterance, context);
    case 'paused':
      return onSpeechWhilePaused(state, utterance, context);
    default:
      return withoutEffects(state);
  }
}

/** Speech before the answer is heard continues the caller's turn; other turns are not cancelled. */
function onSpeechWhileThinking(state: TurnState, utterance: Utterance, context: TurnContext): TurnStep {
  const isSpeech = utterance.voicedMs >= CANCEL_AFTER_MS;
  if (isCancelable(context) && isSpeech) return cancelTurn(enterPhase(state, 'listening', context), context);
  const silenceMs = context.atMs - utterance.lastVoicedMs;
  const held = holdAgent(state, isCancelable(context) && silenceMs < HOLD_MS);
  if (silenceMs < context.policy.minEndpointingDelayMs) return held;
  const discarded = discardUtterance(held.state);
  const step = { ...discarded, effects: [...held.effects, ...discarded.effects] };
  return isSpeech ? keepUnanswered(step) : step;
}

/** Keeps the answer from beginning, or lets it begin. */
function holdAgent(state: TurnState, isHeld: boolean): TurnStep {
  if (isHeld === state.isHeld) return withoutEffects(state);
  return { state: { ...state, isHeld }, effects: [{ type: isHeld ? 'hold_agent' : 'release_agent' }] };
}

function onSpeechOverAgent(state: TurnState, utterance: Utterance, context: TurnContext): TurnStep {
  const { interruptible, interruptAfterMs } = context.policy;
  // A caller who spoke before the agent started does not interrupt: the agent did.
  const isAgentInterrupting =
    state.answeredSpeechEndMs !== undefined && utterance.startMs < state.agentStartedMs;
  const enoughMs = isAgentInterrupting ? Math.min(interruptAfterMs, CANCEL_AFTER_MS) : interruptAfterMs;
  if (interruptible && utterance.voicedMs >= enoughMs)
    return { state: enterPhase(state, 'paused', context), effects: [{ type: 'pause_agent' }] };
  if (!hasPaused(utterance, context) || state.requestedToMs !== undefined) return withoutEffects(state);
  return interruptible ? requestTranscript(state, context) : discardUtterance(state);
}

/** Decides whether the caller interrupts: by the length of their speech, by its transcript, or by a timeout. */
function onSpeechWhilePaused(state: TurnState, utterance: Utterance, context: TurnContext): TurnStep {
  const silenceMs = context.atMs - utterance.lastVoicedMs;
  const isRequested = state.requestedToMs !== undefined;
  const isConfirmed = utterance.voicedMs >= context.policy.interruptAfterMs + CONFIRM_MS;
  if (isConfirmed || (isRequested && silenceMs >= PAUSE_TIMEOUT_MS)) return interruptAgent(state, context);
  return hasPaused(utterance, context) && !isRequested
    ? requestTranscript(state, context)
    : withoutEffects(state);
}

function onSilence(state: TurnState, context: TurnContext): TurnStep {
  if (context.isOnHold)
    return withoutEffects(enterPhase({ ...state, silentSinceMs: undefined }, 'idle', context));
  const due = silenceTurn(state, context.policy, context.atMs);
  if (!due) return withoutEffects(state);
  const { input, isLast, endsSilence } = due;
  const step = startTurn({ ...state, silences: state.silences + 1 }, input, context, { isLast });
  if (endsSilence) return step;
  return { ...step, state: { ...step.state, silentSinceMs: state.silentSinceMs ?? state.sinceMs } };
}
