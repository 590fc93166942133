import type { TurnInput } from '../../engine/turn/turn.ts';
import type { Utterance } from './speechActivity.ts';
import type { TurnContext, TurnEffect, TurnPhase, TurnState } from './turnState.ts';

/** Speech that starts this soon after the agent continues the caller's sentence rather than answering the agent. */
const CONTINUATION_MS = 400;

/** The next state and the effects of the step to it. */
export interface TurnStep {
  readonly state: TurnState;
  readonly effects: readonly TurnEffect[];
}

export function withoutEffects(state: TurnState): TurnStep {
  return { state, effects: [] };
}

export function enterPhase(state: TurnState, phase: TurnPhase, { atMs }: TurnContext): TurnState {
  const isListening = phase === 'listening';
  const silentSinceMs = isListening ? undefined : state.silentSinceMs;
  const interruptedSilence = isListening ? state.interruptedSilence : undefined;
  return { ...state, phase, sinceMs: atMs, silentSinceMs, interruptedSilence, isHeld: false };
}

/** A sound that began so recently may yet turn out to be a steady noise. @see ../../providers/vad/noiseFloor.ts */
const NOISE_KNOWN_MS = 460;

/** Whether the caller has paused for long enough, after what is not noise, for the transcript to be requested. */
export function hasPaused(
  { startMs, lastVoicedMs }: Utterance,
  { atMs, requestAfterMs }: TurnContext,
): boolean {
  return atMs - lastVoicedMs >= requestAfterMs && atMs - startMs >= NOISE_KNOWN_MS;
}

export function withoutTranscript(state: TurnState): TurnState {
  return {
    ...state,
    transcript: undefined,
    requestedToMs: undefined,
    recognizedEnd: undefined,
    isEndOfTurn: false,
  };
}

export function discardUtterance(state: TurnState): TurnStep {
  return { state: withoutTranscript(state), effects: [{ type: 'discard_utterance' }] };
}

/** Returns to idle after a sound that was no speech: the silence before it continues. */
export function becomeIdle(state: TurnState, context: TurnContext): TurnStep {
  return discardUtterance({ ...enterPhase(state, 'idle', context), ...state.interruptedSilence });
}

export function requestTranscript(state: TurnState, { utterance }: TurnContext): TurnStep {
  return {
    state: { ...state, requestedToMs: utterance?.lastVoicedMs },
    effects: [{ type: 'request_transcript' }],
  };
}

export function startTurn(
  state: TurnState,
  input: TurnInput,
  context: TurnContext,
  options: Omit<Extract<TurnEffect, { type: 'start_turn' }>, 'type' | 'input'> = {},
): TurnStep {
  return {
    state: enterPhase(
      {
        ...withoutTranscript(state),
        carriedText: '',
        answeredText: input.kind === 'user_message' ? input.text : '',
        answeredSpeechEndMs: undefined,
        silentSinceMs: undefined,
        preemptiveTurns: 0,
      },
      'thinking',
      context,
    ),
    effects: [{ type: 'discard_utterance' }, { type: 'start_turn', input, ...options }],
  };
}

/** Whether the caller, who speaks or presses digits before they hear anything of the turn, takes its place. */
export function isCancelable({ answering }: TurnContext): boolean {
  return answering === 'user_message' || answering === 'not_understood';
}

/** Cancels a turn of which nothing was heard: its input is answered again. */
export function cancelTurn(state: TurnState, context: TurnContext): TurnStep {
  const reprompts = context.answering === 'not_understood' ? state.reprompts - 1 : state.reprompts;
  return {
    state: { ...state, carriedText: state.answeredText, reprompts },
    effects: [{ type: 'cancel_turn' }],
  };
}

/** Keeps the open utterance for the history before the step discards it. */
export function keepUnanswered({ state, effects }: TurnStep): TurnStep {
  return { state, effects: [{ type: 'keep_unanswered' }, ...effects] };
}

export function interruptAgent(state: TurnState, context: TurnContext): TurnStep {
  const pauseMs = earlyEndpointPauseMs(state, context);
  const next = enterPhase({ ...state, answeredSpeechEndMs: undefined }, 'listening', context);
  const interrupt: TurnEffect = { type: 'interrupt_agent' };
  return {
    state: next,
    effects: pauseMs === undefined ? [interrupt] : [interrupt, { type: 'endpointed_too_early', pauseMs }],
  };
}

/** The pause that was mistaken for the end of the caller's turn; undefined where the caller does not continue. */
function earlyEndpointPauseMs(
  { answeredSpeechEndMs, agentStartedMs }: TurnState,
  { utterance, policy }: TurnContext,
): number | undefined {
  if (answeredSpeechEndMs === undefined || !utterance) return undefined;
  const pauseMs = utterance.startMs - answeredSpeechEndMs;
  const isContinuation = utterance.startMs - agentStartedMs < CONTINUATION_MS;
  return isContinuation && pauseMs > 0 && pauseMs <= policy.maxEndpointingDelayMs ? pauseMs : undefined;
}

/** A false interruption: a backchannel, noise or the agent's own echo had paused the agent. */
export function resumeAgent(
  state: TurnState,
  earlyAnswer: TurnState['earlyAnswer'],
  context: TurnContext,
): TurnStep {
  return {
    state: { ...withoutTranscript(enterPhase(state, 'speaking', context)), earlyAnswer },
    effects: [{ type: 'discard_utterance' }, { type: 'resume_agent' }],
  };
}
