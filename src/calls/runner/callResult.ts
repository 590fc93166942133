import type { CallEndReason, FinalStatus } from '../call.ts';
import type { LegEnd, LegOutcome } from '../telephony.ts';

/** The result of a call, as stored. */
export interface CallResult {
  readonly status: FinalStatus;
  readonly endReason: CallEndReason | null;
  readonly sip: { readonly code: number; readonly reason: string } | null;
  readonly q850Cause: number | null;
}

/** The reason for which this node hangs up a call. */
export type HangupIntent = Extract<
  CallEndReason,
  | 'agent_hangup'
  | 'agent_error'
  | 'not_understood'
  | 'api_hangup'
  | 'transferred'
  | 'max_duration'
  | 'media_timeout'
  | 'node_lost'
  | 'rejected'
  | 'do_not_call'
  | 'outside_calling_hours'
  | 'campaign_stopped'
>;

/** Results of unanswered legs; no reason where the status is reason enough. */
const UNANSWERED: Readonly<Record<LegOutcome, readonly [FinalStatus, CallEndReason | null]>> = {
  busy: ['busy', null],
  no_answer: ['no_answer', null],
  declined: ['failed', 'declined'],
  unreachable: ['failed', 'unreachable'],
  invalid_number: ['failed', 'invalid_number'],
  rejected: ['failed', 'rejected'],
  trunk_error: ['failed', 'trunk_error'],
  lost: ['failed', 'trunk_error'],
  canceled: ['canceled', 'api_hangup'],
  local_hangup: ['canceled', 'api_hangup'],
  // An inbound caller that hangs up before we have answered.
  remote_hangup: ['canceled', 'caller_hangup'],
};

/** @param intent - Why we hung up; null when the other party did. */
export function callResultOf(end: LegEnd, wasAnswered: boolean, intent: HangupIntent | null): CallResult {
  const [status, endReason] = wasAnswered ? answered(end.outcome, intent) : unanswered(end.outcome, intent);
  return { status, endReason, sip: end.sip, q850Cause: end.q850Cause };
}

function answered(outcome: LegOutcome, intent: HangupIntent | null): readonly [FinalStatus, CallEndReason] {
  if (intent === 'node_lost') return ['failed', 'node_lost'];
  if (intent !== null) return ['completed', intent];
  return outcome === 'lost' ? ['failed', 'trunk_error'] : ['completed', 'caller_hangup'];
}

function unanswered(
  outcome: LegOutcome,
  intent: HangupIntent | null,
): readonly [FinalStatus, CallEndReason | null] {
  if (intent === 'node_lost' || intent === 'rejected') return ['failed', intent];
  if (intent === 'do_not_call' || intent === 'outside_calling_hours' || intent === 'campaign_stopped')
    return ['canceled', intent];
  return intent === null ? UNANSWERED[outcome] : ['canceled', 'api_hangup'];
}

const REQUEST_TIMEOUT = 408;

/**
 * Returns true when the next trunk is tried: only when the trunk itself failed, never after an answer of the called
 * party or of the network that knows it.
 */
export function mayTryNextTrunk({ outcome, sip }: LegEnd): boolean {
  if (outcome === 'trunk_error' || outcome === 'unreachable') return true;
  return sip?.code === REQUEST_TIMEOUT && outcome !== 'no_answer';
}
