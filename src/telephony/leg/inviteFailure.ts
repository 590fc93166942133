import type { LegEnd, LegOutcome } from '../../calls/telephony.ts';
import { q850OfStatus } from '../sip/q850.ts';

/** The final response to an INVITE that established no call. */
export interface FailureResponse {
  /** 300..699; 200 where the 2xx crossed our CANCEL. */
  readonly status: number;
  readonly reason: string;
  /** The cause in its Reason header. */
  readonly q850Cause: number | undefined;
  /** False when the SIP server generated the response, because the peer did not respond or is unreachable. */
  readonly isFromPeer: boolean;
}

const OUTCOME_OF_STATUS: Readonly<Record<number, LegOutcome>> = {
  // The trunk refuses the credentials.
  401: 'trunk_error',
  407: 'trunk_error',
  404: 'invalid_number',
  // Gone for good. @see RFC 3261 section 21.4.11
  410: 'invalid_number',
  484: 'invalid_number',
  604: 'invalid_number',
  480: 'no_answer',
  486: 'busy',
  600: 'busy',
  603: 'declined',
  607: 'declined',
  608: 'declined',
};

/** No response within the trunk's timeout, or no route to its host. */
export const UNREACHABLE: LegEnd = { outcome: 'unreachable', sip: null, q850Cause: null };

/** A failure on this side, before any request was sent. */
export const TRUNK_ERROR: LegEnd = { outcome: 'trunk_error', sip: null, q850Cause: null };

/** @param hasRung - True when an 18x was received. */
export function legEndOf(response: FailureResponse, hasRung: boolean): LegEnd {
  const { status, reason, q850Cause, isFromPeer } = response;
  if (!isFromPeer && !hasRung) return UNREACHABLE;
  return {
    outcome: outcomeOf(status, hasRung),
    sip: { code: status, reason },
    q850Cause: q850Cause ?? q850OfStatus(status),
  };
}

function outcomeOf(status: number, hasRung: boolean): LegOutcome {
  // A proxy also sends 408 when its own target does not respond.
  if (status === 408) return hasRung ? 'no_answer' : 'unreachable';
  const known = OUTCOME_OF_STATUS[status];
  if (known) return known;
  return status >= 500 && status < 600 ? 'trunk_error' : 'rejected';
}
