import type { TurnInput } from '../../engine/turn/turn.ts';
import { isSpeech } from './speechActivity.ts';
import { becomeIdle, startTurn, type TurnStep, withoutEffects } from './steps.ts';
import type { TurnContext, TurnState } from './turnState.ts';

/** Speech of this length, pauses included, with this much voice is a sentence: a short one has many stops and hisses. */
const SENTENCE_MS = 700;
const SENTENCE_VOICED_MS = 400;
/** Shorter speech without words stays open so long: a recognizer may know it together with what follows. */
const JOIN_MS = 2500;
const MAX_REPROMPTS = 2;

type Reason = Pick<Extract<TurnInput, { kind: 'not_understood' }>, 'why' | 'message'>;

/** Returns what the caller has said so far that no turn answers. */
export function unansweredText({ phase, carriedText, transcript = '' }: TurnState): string {
  return phase === 'listening' ? joined(carriedText, transcript) : '';
}

/** Whether an earlier input, of a cancelled turn or of DTMF digits, still needs an answer. */
export function hasUnansweredInput({ carriedText, pendingDigits }: TurnState): boolean {
  return carriedText !== '' || pendingDigits !== undefined;
}

/** Ends the caller's turn, with its transcript known, and starts the agent's. */
export function endCallerTurn(state: TurnState, context: TurnContext): TurnStep {
  const text = joined(state.carriedText, state.transcript ?? '');
  const { pendingDigits } = state;
  const answered = { ...state, silences: 0, reprompts: 0, pendingDigits: undefined };
  if (pendingDigits)
    return startTurn(answered, { kind: 'dtmf', digits: pendingDigits.digits }, context, {
      unansweredText: text,
    });
  if (text !== '') {
    const step = startTurn(answered, { kind: 'user_message', text }, context);
    const answeredSpeechEndMs = context.utterance?.lastVoicedMs;
    return { ...step, state: { ...step.state, answeredSpeechEndMs } };
  }
  if (isJoinable(context)) return withoutEffects(state);
  return notUnderstood(state, { why: 'no_words' }, context);
}

/** Ends the caller's turn without a transcript. */
export function endWithoutTranscript(state: TurnState, message: string, context: TurnContext): TurnStep {
  if (hasUnansweredInput(state)) return endCallerTurn({ ...state, transcript: '' }, context);
  return notUnderstood(state, { why: 'recognition_failed', message }, context);
}

/** Whether a sound without words may be the beginning of more. */
function isJoinable({ utterance, atMs }: TurnContext): boolean {
  if (!isSpeech(utterance) || atMs - utterance.lastVoicedMs >= JOIN_MS) return false;
  const { startMs, lastVoicedMs, voicedMs } = utterance;
  return lastVoicedMs - startMs < SENTENCE_MS || voicedMs < SENTENCE_VOICED_MS;
}

/** Sounds that are no speech, and music while the agent is on hold, get no answer. */
function notUnderstood(state: TurnState, reason: Reason, context: TurnContext): TurnStep {
  const { isPaused, isOnHold, utterance } = context;
  const isAnswered = isSpeech(utterance) && (isPaused || !isOnHold);
  return isAnswered ? askAgain(state, reason, context) : becomeIdle(state, context);
}

/**
 * The caller is asked again, twice in a row; then the pathway leads on, and the caller is asked again there. Who speaks is
 * not silent, whatever they say.
 */
export function askAgain(state: TurnState, reason: Reason, context: TurnContext): TurnStep {
  const { isPaused } = context;
  const count = state.reprompts + 1;
  const leadsOn = !isPaused && count % (MAX_REPROMPTS + 1) === 0;
  const next = { ...state, reprompts: isPaused ? state.reprompts : count, silences: 0 };
  return startTurn(next, { kind: 'not_understood', ...reason, count, leadsOn }, context, { isLast: leadsOn });
}

export function joined(...parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join(' ');
}
