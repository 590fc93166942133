import { NOT_UNDERSTOOD, TRANSCRIPTION_FAILED } from '../speech/fallbackPhraseFor.ts';
import { backToQuiet, cutIn, forget, fresh, resumed, type Step, stay, takeTurn } from './steps.ts';
import type { TurnContext, TurnEvent, TurnState } from './turnState.ts';

/** Voice without words that was long enough to ask for it again. */
const UNHEARD_MS = 700;
const MOST_PARDONS = 2;

export function onTranscript(
  state: TurnState,
  { text, isAcknowledgement }: Extract<TurnEvent, { type: 'words' }>,
  context: TurnContext,
): Step {
  // The caller has gone on: another question is under way, or will be.
  if (state.askedToMs === undefined || !context.utterance) return stay(state);
  switch (state.phase) {
    case 'hearing': {
      const heard = { ...state, words: text };
      return state.isEnded ? conclude(heard, context) : stay(heard);
    }
    case 'held':
      if (text !== '' && !isAcknowledgement) return cutIn({ ...state, words: text }, context);
      return resumed(state, late(text, context), context);
    case 'speaking':
      if (text !== '' && !isAcknowledgement) return cutIn({ ...state, words: text }, context);
      return {
        state: { ...fresh(state), lateAnswer: late(text, context) },
        effects: [{ type: 'forget_utterance' }],
      };
    default:
      return stay(state);
  }
}

export function onTranscriptionFailed(state: TurnState, message: string, context: TurnContext): Step {
  if (state.askedToMs === undefined) return stay(state);
  switch (state.phase) {
    case 'hearing':
      if (isOwed(state)) return conclude({ ...state, words: '' }, context);
      return pardon(state, TRANSCRIPTION_FAILED, message, context);
    case 'held':
      return cutIn(state, context);
    case 'speaking':
      return forget(state);
    default:
      return stay(state);
  }
}

/** What the caller has said, as far as it is known, that no turn has taken. */
export function untakenWords({ phase, carried, words = '' }: TurnState): string {
  return phase === 'hearing' ? [carried, words].filter((part) => part !== '').join(' ') : '';
}

/** What was said, or pressed, before is still to be answered. */
export function isOwed({ carried, keys }: TurnState): boolean {
  return carried !== '' || keys !== undefined;
}

/** The caller's turn is over, and its words are known. */
export function conclude(state: TurnState, context: TurnContext): Step {
  const text = [state.carried, state.words ?? ''].filter((part) => part !== '').join(' ');
  const calm = { ...state, silences: 0, pardons: 0, keys: undefined };
  if (state.keys) return takeTurn(calm, { kind: 'dtmf', digits: state.keys.digits }, context, text);
  if (text !== '') {
    const step = takeTurn(calm, { kind: 'words', text }, context);
    const turnEndMs = context.utterance?.lastVoicedMs;
    return { ...step, state: { ...step.state, carried: text, turnEndMs } };
  }
  if ((context.utterance?.voicedMs ?? 0) < UNHEARD_MS) return backToQuiet(state, context);
  return pardon(state, NOT_UNDERSTOOD, 'No words were recognised in what the caller said', context);
}

function pardon(state: TurnState, code: string, message: string, context: TurnContext): Step {
  if (state.pardons >= MOST_PARDONS) return backToQuiet(state, context);
  return takeTurn({ ...state, pardons: state.pardons + 1 }, { kind: 'notice', code, message }, context);
}

function late(text: string, { utterance }: TurnContext): TurnState['lateAnswer'] {
  return text === '' || !utterance ? undefined : { text, endMs: utterance.lastVoicedMs };
}
