import type { TurnInput } from '../../engine/turn/turn.ts';
import type { TurnContext, TurnEffect, TurnPhase, TurnState } from './turnState.ts';

/** Who goes on no later than so much after the agent began had not finished, and did not answer it. */
const SOON_MS = 400;

/** Where the floor is next, and what is to be done on the way. */
export interface Step {
  readonly state: TurnState;
  readonly effects: readonly TurnEffect[];
}

export function stay(state: TurnState): Step {
  return { state, effects: [] };
}

export function enter(state: TurnState, phase: TurnPhase, { atMs }: TurnContext): TurnState {
  return { ...state, phase, sinceMs: atMs };
}

/** Nothing is known of an utterance, nor asked. */
export function fresh(state: TurnState): TurnState {
  return { ...state, words: undefined, askedToMs: undefined, isEnded: false };
}

export function forget(state: TurnState): Step {
  return { state: fresh(state), effects: [{ type: 'forget_utterance' }] };
}

export function backToQuiet(state: TurnState, context: TurnContext): Step {
  return { state: enter(fresh(state), 'quiet', context), effects: [{ type: 'forget_utterance' }] };
}

export function ask(state: TurnState, { utterance }: TurnContext): Step {
  return { state: { ...state, askedToMs: utterance?.lastVoicedMs }, effects: [{ type: 'ask_words' }] };
}

/** @param said - Words of the caller's that the turn does not answer, and the history is to have. */
export function takeTurn(state: TurnState, input: TurnInput, context: TurnContext, said = ''): Step {
  return {
    state: enter({ ...fresh(state), carried: '', turnEndMs: undefined }, 'thinking', context),
    effects: [
      { type: 'forget_utterance' },
      said === '' ? { type: 'take_turn', input } : { type: 'take_turn', input, said },
    ],
  };
}

/** What the utterance says is history, whatever the step makes of it. */
export function setAside({ state, effects }: Step): Step {
  return { state, effects: [{ type: 'set_aside' }, ...effects] };
}

/** The caller has the floor. */
export function cutIn(state: TurnState, context: TurnContext): Step {
  const pauseMs = pauseAnsweredTooSoon(state, context);
  const next = enter({ ...state, turnEndMs: undefined }, 'hearing', context);
  const cut: TurnEffect = { type: 'cut' };
  return { state: next, effects: pauseMs === undefined ? [cut] : [cut, { type: 'was_too_soon', pauseMs }] };
}

/** The pause in the caller's words that was taken for their end; undefined where they do not just go on. */
function pauseAnsweredTooSoon(
  { turnEndMs, soundedMs }: TurnState,
  { utterance, policy }: TurnContext,
): number | undefined {
  if (turnEndMs === undefined || !utterance) return undefined;
  const pauseMs = utterance.startMs - turnEndMs;
  const goesOn = utterance.startMs - soundedMs < SOON_MS && pauseMs > 0 && pauseMs <= policy.maxPauseMs;
  return goesOn ? pauseMs : undefined;
}

/** The agent goes on: it was stopped by a "mm-hm", noise, or its own echo. */
export function resumed(state: TurnState, lateAnswer: TurnState['lateAnswer'], context: TurnContext): Step {
  return {
    state: { ...fresh(enter(state, 'speaking', context)), lateAnswer },
    effects: [{ type: 'forget_utterance' }, { type: 'resume' }],
  };
}
