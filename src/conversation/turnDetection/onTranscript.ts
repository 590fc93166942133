import { endWithoutTranscript } from './callerTurn.ts';
import { isDisclosing, keepWords } from './onDisclosure.ts';
import { onListening } from './onListening.ts';
import { isSpeech } from './speechActivity.ts';
import {
  discardUtterance,
  interruptAgent,
  resumeAgent,
  type TurnStep,
  withoutEffects,
  withoutTranscript,
} from './steps.ts';
import type { TurnContext, TurnEvent, TurnState } from './turnState.ts';

export function onTranscript(
  state: TurnState,
  { text, isBackchannel }: Extract<TurnEvent, { type: 'transcript' }>,
  context: TurnContext,
): TurnStep {
  const { utterance } = context;
  // The caller has continued: another request follows.
  if (state.requestedToMs === undefined || !utterance) return withoutEffects(state);
  if (isDisclosing(state, context)) return keepWords(state, isBackchannel ? '' : text);
  switch (state.phase) {
    case 'listening':
      return onListening({ ...state, transcript: text }, utterance, context);
    case 'paused':
      if (text !== '' && !isBackchannel) return interruptAgent({ ...state, transcript: text }, context);
      return resumeAgent(state, earlyAnswerOf(text, context), context);
    case 'speaking':
      if (text !== '' && !isBackchannel) return interruptAgent({ ...state, transcript: text }, context);
      return discardUtterance({ ...state, earlyAnswer: earlyAnswerOf(text, context) });
    default:
      return withoutEffects(state);
  }
}

export function onTranscriptionFailed(state: TurnState, message: string, context: TurnContext): TurnStep {
  if (state.requestedToMs === undefined) return withoutEffects(state);
  if (isDisclosing(state, context)) return discardUtterance(state);
  switch (state.phase) {
    case 'listening':
      return endWithoutTranscript(state, message, context);
    case 'paused':
      // The transcript is requested once more: the caller may go on.
      return interruptAgent(withoutTranscript(state), context);
    case 'speaking':
      return discardUtterance(state);
    default:
      return withoutEffects(state);
  }
}

function earlyAnswerOf(text: string, { utterance }: TurnContext): TurnState['earlyAnswer'] {
  const isAnswer = text !== '' || isSpeech(utterance);
  return isAnswer && utterance ? { text, endMs: utterance.lastVoicedMs } : undefined;
}
