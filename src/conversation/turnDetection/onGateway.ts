import type { TurnInput } from '../../engine/turn/turn.ts';
import { joined, unansweredText } from './callerTurn.ts';
import { cancelTurn, enterPhase, startTurn, type TurnStep, withoutEffects } from './steps.ts';
import type { HeardAnswer, TurnContext, TurnState } from './turnState.ts';

/** A caller who stopped an answer that had not begun, and says nothing more, still waits for it. */
const CONTINUE_AFTER_MS = 2000;

/** The input of a gateway is complete: it is answered, together with what a cancelled turn was about. */
export function onFinishedInput(
  before: TurnState,
  input: Extract<TurnInput, { kind: 'user_message' | 'dtmf' }>,
  context: TurnContext,
): TurnStep {
  const { state, effects } = endAnswer(before, context);
  const carriedText = unansweredText(state);
  const answered = { ...state, silences: 0, reprompts: 0 };
  const step =
    input.kind === 'dtmf'
      ? startTurn(answered, input, context, { unansweredText: carriedText })
      : startTurn(answered, { ...input, text: joined(carriedText, input.text) }, context);
  return { state: step.state, effects: [...effects, ...step.effects] };
}

/** The caller speaks, and has not finished: the silence is interrupted. */
export function onPartialText(state: TurnState, { atMs }: TurnContext): TurnStep {
  return withoutEffects(state.phase === 'idle' ? { ...state, sinceMs: atMs } : state);
}

/**
 * The gateway has stopped speaking since the caller speaks. An answer of whose words none was heard is undone; its
 * question waits for the words that follow.
 */
export function onGatewayInterrupted(state: TurnState, heard: HeardAnswer, context: TurnContext): TurnStep {
  const { answering, gateway } = context;
  if (!hasAnswer(state) || !gateway?.answer?.hasBegun) return withoutEffects(state);
  if (heard.text.trim() === '' && answering === 'user_message')
    return cancelTurn(enterPhase(state, 'listening', context), context);
  return { state: enterPhase(state, 'idle', context), effects: [{ type: 'interrupt_agent', heard }] };
}

/** Whether a caller who stopped an answer has said nothing more for long enough. */
export function mayContinue({ sinceMs }: TurnState, { atMs, gateway }: TurnContext): boolean {
  return !gateway || atMs - sinceMs >= CONTINUE_AFTER_MS;
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
