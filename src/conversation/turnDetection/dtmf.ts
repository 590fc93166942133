import { joined, unansweredText } from './callerTurn.ts';
import {
  enterPhase,
  isCancelable,
  keepUnanswered,
  requestTranscript,
  startTurn,
  type TurnStep,
  withoutEffects,
  withoutTranscript,
} from './steps.ts';
import type { TurnContext, TurnState } from './turnState.ts';

export const INTER_DIGIT_TIMEOUT_MS = 2500;
const MAX_DIGITS = 32;
/** Voice over the agent that is neither its echo nor the digit's own tone: the caller has also spoken. */
const SPOKEN_MS = 240;

/** The digits entered so far. */
export interface DtmfEntry {
  readonly digits: string;
  /** When the last digit came, on the stream's clock. */
  readonly lastMs: number;
}

/** `entry` is undefined while no digits are being entered; `complete` holds the digits once they are complete. */
export type DtmfEntryStep = { readonly entry: DtmfEntry | undefined; readonly complete?: string };

/** A digit interrupts the agent and ends a silence. */
export function onDtmfDigit(before: TurnState, context: TurnContext): TurnStep {
  const state = { ...before, silentSinceMs: undefined };
  const isSpeaking = state.phase === 'speaking' || state.phase === 'paused';
  // A gateway stops by itself, and reports it.
  if (!isSpeaking || !context.policy.interruptible || context.gateway)
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
      if (!isCancelable(context)) break;
      const step = startTurn(next, { kind: 'dtmf', digits }, context, {
        unansweredText: state.answeredText,
      });
      return { state: step.state, effects: [{ type: 'cancel_turn' }, ...step.effects] };
    }
    case 'speaking':
    case 'paused': {
      // They were pressed before the agent spoke: later ones interrupt it at once.
      if (!context.policy.interruptible) break;
      const step = startTurn(next, { kind: 'dtmf', digits }, context);
      return { state: step.state, effects: [{ type: 'interrupt_agent' }, ...step.effects] };
    }
    default:
  }
  // The history has the digits of an entry that another one follows.
  const keptText = joined(state.keptText, state.pendingDigits?.digits ?? '');
  return withoutEffects({ ...next, keptText, pendingDigits: { digits, atMs: context.atMs } });
}

/** Delays digits until the transcript of the words before them is known, since those precede them in the history. */
function onEntryDuringSpeech(state: TurnState, digits: string, context: TurnContext): TurnStep {
  const pendingDigits = { digits, atMs: context.atMs };
  if (state.pendingDigits) {
    const input = { kind: 'dtmf', digits: state.pendingDigits.digits } as const;
    const step = startTurn(state, input, context, { unansweredText: state.carriedText });
    return keepUnanswered({ ...step, state: { ...step.state, pendingDigits } });
  }
  if (state.transcript !== undefined || !context.utterance)
    return startTurn(state, { kind: 'dtmf', digits }, context, { unansweredText: unansweredText(state) });
  const waiting = { ...state, pendingDigits, isEndOfTurn: true };
  return state.requestedToMs === undefined ? requestTranscript(waiting, context) : withoutEffects(waiting);
}

/**
 * Collects DTMF digits into entries. An entry is complete when it leads on from the current node and no longer one
 * does, with `#`, or at its maximum length. `#` is not part of an entry unless it stands alone or an edge names it.
 *
 * @param edgeDigits - The entries that lead on from the current node.
 */
export function enterDigit(
  entry: DtmfEntry | undefined,
  digit: string,
  atMs: number,
  edgeDigits: readonly string[],
): DtmfEntryStep {
  const digits = (entry?.digits ?? '') + digit;
  if (leadsOn(digits, edgeDigits)) return { entry: undefined, complete: digits };
  if (digit === '#' && !mayGrow(digits, edgeDigits))
    return { entry: undefined, complete: digits.slice(0, -1) || '#' };
  if (digits.length >= MAX_DIGITS) return { entry: undefined, complete: digits };
  return { entry: { digits, lastMs: atMs } };
}

/**
 * Completes the entry after the inter-digit timeout, or when it leads on from a node that was entered after its digits.
 *
 * @param edgeDigits - The DTMF digits of the node's edges, as for {@link enterDigit}.
 */
export function checkDigitTimeout(
  entry: DtmfEntry | undefined,
  atMs: number,
  edgeDigits: readonly string[] = [],
): DtmfEntryStep {
  const isComplete =
    entry && (leadsOn(entry.digits, edgeDigits) || atMs - entry.lastMs >= INTER_DIGIT_TIMEOUT_MS);
  return isComplete ? { entry: undefined, complete: entry.digits } : { entry };
}

function leadsOn(digits: string, edgeDigits: readonly string[]): boolean {
  return edgeDigits.includes(digits) && !mayGrow(digits, edgeDigits);
}

function mayGrow(digits: string, edgeDigits: readonly string[]): boolean {
  return edgeDigits.some((edge) => edge.length > digits.length && edge.startsWith(digits));
}
