import { joined } from './callerTurn.ts';
import type { Utterance } from './speechActivity.ts';
import { discardUtterance, hasPaused, requestTranscript, type TurnStep, withoutEffects } from './steps.ts';
import type { TurnContext, TurnState } from './turnState.ts';

/** Whether the agent says what no caller interrupts, or is about to. */
export function isDisclosing({ phase }: TurnState, { answering }: TurnContext): boolean {
  return answering === 'disclosure' && (phase === 'thinking' || phase === 'speaking');
}

/** Speech over a disclosure, whose words are kept for the turn after the last one. */
export function onSpeechOverDisclosure(
  state: TurnState,
  utterance: Utterance,
  context: TurnContext,
): TurnStep {
  const isDue = state.requestedToMs === undefined && hasPaused(utterance, context);
  return isDue ? requestTranscript(state, context) : withoutEffects(state);
}

export function keepWords(state: TurnState, text: string): TurnStep {
  return discardUtterance({ ...state, keptText: joined(state.keptText, text) });
}
