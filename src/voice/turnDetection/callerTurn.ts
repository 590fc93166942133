import { NOT_UNDERSTOOD, TRANSCRIPTION_FAILED } from '../speech/fallbackPhrases.ts';
import { becomeIdle, startTurn, type TurnStep } from './steps.ts';
import type { TurnContext, TurnState } from './turnState.ts';

/** Speech without words that is long enough to ask the caller to repeat, pauses included; a cough is shorter. */
const REPROMPT_AFTER_MS = 700;
/** The voice in it: a short sentence has many stops and hisses, and a poor line loses more. */
const REPROMPT_VOICED_MS = 400;
const MAX_REPROMPTS = 2;

/** What the caller has said so far that no turn answers. */
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
    return startTurn(answered, { kind: 'dtmf', digits: pendingDigits.digits }, context, text);
  if (text !== '') {
    const step = startTurn(answered, { kind: 'user_message', text }, context);
    const answeredSpeechEndMs = context.utterance?.lastVoicedMs;
    return { ...step, state: { ...step.state, carriedText: text, answeredSpeechEndMs } };
  }
  if (!isSpeech(context)) return becomeIdle(state, context);
  return reprompt(state, NOT_UNDERSTOOD, 'No words were recognized in what the caller said', context);
}

function isSpeech({ utterance }: TurnContext): boolean {
  if (!utterance) return false;
  const { startMs, lastVoicedMs, voicedMs } = utterance;
  return lastVoicedMs - startMs >= REPROMPT_AFTER_MS && voicedMs >= REPROMPT_VOICED_MS;
}

/** Ends the caller's turn without a transcript. */
export function endWithoutTranscript(state: TurnState, message: string, context: TurnContext): TurnStep {
  if (hasUnansweredInput(state)) return endCallerTurn({ ...state, transcript: '' }, context);
  return reprompt(state, TRANSCRIPTION_FAILED, message, context);
}

/** Who speaks is not silent, whatever they say. */
function reprompt(state: TurnState, code: string, message: string, context: TurnContext): TurnStep {
  if (state.reprompts >= MAX_REPROMPTS) return becomeIdle(state, context);
  const next = { ...state, reprompts: state.reprompts + 1, silences: 0 };
  return startTurn(next, { kind: 'channel_error', code, message }, context);
}

function joined(...parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join(' ');
}
