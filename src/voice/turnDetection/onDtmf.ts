import { unansweredText } from './onTranscript.ts';
import {
  enterPhase,
  keepUnanswered,
  requestTranscript,
  startTurn,
  type TurnStep,
  withoutEffects,
  withoutTranscript,
} from './steps.ts';
import type { TurnContext, TurnState } from './turnState.ts';

/** Voice over the agent that is neither its echo nor the digit's own tone: the caller has also spoken. */
const SPOKEN_MS = 240;

/** A digit interrupts the agent and ends a silence. */
export function onDtmfDigit(state: TurnState, context: TurnContext): TurnStep {
  const isSpeaking = state.phase === 'speaking' || state.phase === 'paused';
  if (!isSpeaking || !context.policy.interruptible)
    return withoutEffects(state.phase === 'idle' ? { ...state, sinceMs: context.atMs } : state);
  if ((context.utterance?.voicedMs ?? 0) >= SPOKEN_MS)
    return { state: enterPhase(state, 'listening', context), effects: [{ type: 'interrupt_agent' }] };
  return {
    state: enterPhase(withoutTranscript(state), 'idle', context),
    effects: [{ type: 'interrupt_agent' }, { type: 'discard_utterance' }],
  };
}

/** The digits of one entry are complete. */
export function onDtmfEntry(state: TurnState, digits: string, context: TurnContext): TurnStep {
  const next = { ...state, silences: 0, reprompts: 0 };
  switch (state.phase) {
    case 'idle':
      return startTurn(next, { kind: 'dtmf', digits }, context);
    case 'listening':
      return onEntryDuringSpeech(next, digits, context);
    case 'thinking': {
      if (context.answering !== 'words') break;
      const step = startTurn(next, { kind: 'dtmf', digits }, context, state.carriedText);
      return { state: step.state, effects: [{ type: 'cancel_turn' }, ...step.effects] };
    }
    default:
  }
  return withoutEffects({ ...next, pendingDigits: { digits, atMs: context.atMs } });
}

/** What the caller said before the digits precedes them in the history: they wait until its transcript is known. */
function onEntryDuringSpeech(state: TurnState, digits: string, context: TurnContext): TurnStep {
  const pendingDigits = { digits, atMs: context.atMs };
  if (state.pendingDigits) {
    const input = { kind: 'dtmf', digits: state.pendingDigits.digits } as const;
    const step = startTurn(state, input, context, state.carriedText);
    return keepUnanswered({ ...step, state: { ...step.state, pendingDigits } });
  }
  if (state.transcript !== undefined || !context.utterance)
    return startTurn(state, { kind: 'dtmf', digits }, context, unansweredText(state));
  const waiting = { ...state, pendingDigits, isEndOfTurn: true };
  return state.requestedToMs === undefined ? requestTranscript(waiting, context) : withoutEffects(waiting);
}
