import { unansweredText } from './callerTurn.ts';
import { wordsOf } from './completeness.ts';
import { type TurnStep, withoutEffects } from './steps.ts';
import type { TurnContext, TurnEffect, TurnState } from './turnState.ts';

/** Preemptive turns of one turn of the caller; each costs a model request. */
const MAX_PREEMPTIVE_TURNS = 3;

/** Starts a preemptive turn where the caller has probably finished. */
export function preemptTurn(state: TurnState, silenceMs: number, context: TurnContext): TurnStep {
  const text = unansweredText(state);
  const afterMs = context.preemptAfterMs(state);
  const isDue = afterMs !== undefined && silenceMs >= afterMs && !context.isSpeechOnset;
  const hasWords = state.transcript !== undefined && state.transcript !== '';
  if (!isDue || !hasWords || state.pendingDigits || state.preemptiveText !== undefined)
    return withoutEffects(state);
  if (state.preemptiveTurns >= MAX_PREEMPTIVE_TURNS) return withoutEffects(state);
  const input = { kind: 'user_message', text } as const;
  return {
    state: { ...state, preemptiveText: text, preemptiveTurns: state.preemptiveTurns + 1 },
    effects: [{ type: 'start_preemptive_turn', input }],
  };
}

/**
 * Decides what becomes of a preemptive turn after a step: it is committed where the step starts the turn on the same
 * words, and goes on while the caller's turn may have ended with them. Anything else cancels it.
 */
export function settlePreemptiveTurn({ state, effects }: TurnStep): TurnStep {
  const { preemptiveText } = state;
  if (preemptiveText === undefined) return { state, effects };
  const settled = { ...state, preemptiveText: undefined };
  const committed = effects.map((effect) => (isOn(effect, preemptiveText) ? committing(effect) : effect));
  if (committed.some(({ type }) => type === 'commit_preemptive_turn'))
    return { state: settled, effects: committed };
  const isOpen = state.phase === 'listening' && state.transcript !== undefined;
  if (isOpen && hasSameWords(unansweredText(state), preemptiveText)) return { state, effects };
  return { state: settled, effects: [{ type: 'cancel_preemptive_turn' }, ...effects] };
}

type StartTurn = Extract<TurnEffect, { type: 'start_turn' }>;

function isOn(effect: TurnEffect, text: string): effect is StartTurn {
  if (effect.type !== 'start_turn' || effect.input.kind !== 'user_message') return false;
  return hasSameWords(effect.input.text, text) && effect.unansweredText === undefined;
}

function committing({ input }: StartTurn): TurnEffect {
  return { type: 'commit_preemptive_turn', input };
}

/** Recognizers revise capitals and punctuation until the end. */
function hasSameWords(one: string, other: string): boolean {
  return wordsOf(one).join(' ') === wordsOf(other).join(' ');
}
