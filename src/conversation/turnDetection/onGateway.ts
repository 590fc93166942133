import { endCallerTurn } from './callerTurn.ts';
import { cancelTurn, enterPhase, type TurnStep, withoutEffects } from './steps.ts';
import type { HeardAnswer, TurnContext, TurnState } from './turnState.ts';

/** A gateway has finished words, or digits: they are answered, together with what a cancelled turn was about. */
export function onFinishedInput(state: TurnState, input: Partial<TurnState>, context: TurnContext): TurnStep {
  const ended = endAnswer(state, context);
  const step = endCallerTurn({ ...ended.state, ...input }, context);
  return { ...step, effects: [...ended.effects, ...step.effects] };
}

/** The gateway has stopped speaking: an answer of which nothing was heard is undone, and its question waits for more words. */
export function onGatewayInterrupted(state: TurnState, heard: HeardAnswer, context: TurnContext): TurnStep {
  if (!hasAnswer(state) || !context.gateway?.answer?.hasBegun) return withoutEffects(state);
  if (heard.text.trim() === '' && context.answering === 'user_message')
    return cancelTurn(enterPhase(state, 'listening', context), context);
  return { state: enterPhase(state, 'idle', context), effects: [{ type: 'interrupt_agent', heard }] };
}

/** The caller answers without having interrupted, as far as the gateway says. */
function endAnswer(state: TurnState, context: TurnContext): TurnStep {
  const answer = context.gateway?.answer;
  if (!hasAnswer(state) || !answer) return withoutEffects(state);
  if (answer.isFinished) return { state, effects: [{ type: 'assume_played' }] };
  if (answer.hasBegun) return { state, effects: answer.isInterruptible ? [{ type: 'interrupt_agent' }] : [] };
  if (context.answering !== 'user_message') return withoutEffects(state);
  return cancelTurn(enterPhase(state, 'listening', context), context);
}

function hasAnswer({ phase }: TurnState): boolean {
  return phase === 'thinking' || phase === 'speaking';
}
