import type { LegEnd, LegOutcome } from '../../calls/telephony.ts';
import { q850OfStatus } from '../sip/q850.ts';

/** The final answer to an INVITE that became no call. */
export interface FailureResponse {
  /** 300..699; 200 where the call was taken just when it was cancelled. */
  readonly status: number;
  readonly reason: string;
  /** From its Reason header. */
  readonly q850Cause: number | undefined;
  /** False when nobody answered, or nobody could be reached. */
  readonly isFromPeer: boolean;
}

const OUTCOME_OF_STATUS: Readonly<Record<number, LegOutcome>> = {
  // The trunk does not take our name and password.
  401: 'trunk_error',
  407: 'trunk_error',
  404: 'invalid_number',
  484: 'invalid_number',
  604: 'invalid_number',
  480: 'no_answer',
  486: 'busy',
  600: 'busy',
  603: 'declined',
  607: 'declined',
  608: 'declined',
};

/** @param hasRung - Whether a 18x came before. */
export function legEndOf(refusal: FailureResponse, hasRung: boolean): LegEnd {
  const { status, reason, q850Cause, isFromPeer } = refusal;
  if (!isFromPeer && !hasRung) return UNREACHABLE;
  return {
    outcome: outcomeOf(status, hasRung),
    sip: { code: status, reason },
    q850Cause: q850Cause ?? q850OfStatus(status),
  };
}

/** Nobody answered in the trunk's time, or there is no way to its host. */
export const UNREACHABLE: LegEnd = { outcome: 'unreachable', sip: null, q850Cause: null };

/** It went wrong on our side, before anybody was asked. */
export const TRUNK_ERROR: LegEnd = { outcome: 'trunk_error', sip: null, q850Cause: null };

function outcomeOf(status: number, hasRung: boolean): LegOutcome {
  // A proxy gives the same answer when nothing behind it answers.
  if (status === 408) return hasRung ? 'no_answer' : 'unreachable';
  const known = OUTCOME_OF_STATUS[status];
  if (known) return known;
  return status >= 500 && status < 600 ? 'trunk_error' : 'rejected';
}
