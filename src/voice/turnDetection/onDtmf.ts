import { untakenWords } from './onTranscript.ts';
import { ask, enter, fresh, type Step, setAside, stay, takeTurn } from './steps.ts';
import type { TurnContext, TurnState } from './turnState.ts';

/** Speech over the agent that is no echo, and no tone of a key: who presses one amid it has said something. */
const SPOKEN_MS = 240;

/** A key ends what the agent says, and a silence. */
export function onDtmfDigit(state: TurnState, context: TurnContext): Step {
  const stops = (state.phase === 'speaking' || state.phase === 'held') && context.policy.interruptible;
  if (stops && (context.utterance?.voicedMs ?? 0) >= SPOKEN_MS)
    return { state: enter(state, 'hearing', context), effects: [{ type: 'cut' }] };
  if (stops)
    return {
      state: enter(fresh(state), 'quiet', context),
      effects: [{ type: 'cut' }, { type: 'forget_utterance' }],
    };
  return stay(state.phase === 'quiet' ? { ...state, sinceMs: context.atMs } : state);
}

/** The keys of one answer are together. */
export function onDtmfEntry(state: TurnState, digits: string, context: TurnContext): Step {
  const calm = { ...state, silences: 0, pardons: 0 };
  switch (state.phase) {
    case 'quiet':
      return takeTurn(calm, { kind: 'dtmf', digits }, context);
    case 'hearing':
      return onKeysAmidWords(calm, digits, context);
    case 'thinking': {
      if (context.answering !== 'words') break;
      const step = takeTurn(calm, { kind: 'dtmf', digits }, context, state.carried);
      return { state: step.state, effects: [{ type: 'take_back' }, ...step.effects] };
    }
    default:
  }
  return stay({ ...calm, keys: { digits, atMs: context.atMs } });
}

/** What was said up to the keys belongs before them; where it is not known yet, they wait for it. */
function onKeysAmidWords(state: TurnState, digits: string, context: TurnContext): Step {
  const keys = { digits, atMs: context.atMs };
  if (state.keys) {
    const step = takeTurn(state, { kind: 'dtmf', digits: state.keys.digits }, context, state.carried);
    return setAside({ ...step, state: { ...step.state, keys } });
  }
  if (state.words !== undefined || !context.utterance)
    return takeTurn(state, { kind: 'dtmf', digits }, context, untakenWords(state));
  const waiting = { ...state, keys, isEnded: true };
  return state.askedToMs === undefined ? ask(waiting, context) : stay(waiting);
}
