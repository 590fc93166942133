import { formatReason } from '../../../sip/message/fields/reason.ts';
import type { SipMessage } from '../../../sip/message/message.ts';
import type { HangupReason } from '../../calls/telephony.ts';

/** Causes that this side sends. @see ITU-T Q.850, RFC 3326 */
export const Q850 = {
  normalClearing: 16,
  noAnswer: 19,
  temporaryFailure: 41,
  recoveryOnTimer: 102,
  incompatible: 88,
} as const;

/** @see RFC 3398 section 8.2.6.1 */
const CAUSE_OF_STATUS: Readonly<Record<number, number>> = {
  400: 41,
  401: 21,
  402: 21,
  403: 21,
  404: 1,
  405: 63,
  406: 79,
  407: 21,
  408: 102,
  410: 22,
  413: 127,
  414: 127,
  415: 79,
  416: 127,
  420: 127,
  421: 127,
  423: 127,
  480: 18,
  481: 41,
  482: 25,
  483: 25,
  484: 28,
  485: 1,
  486: 17,
  488: 127,
  500: 41,
  501: 79,
  502: 38,
  503: 41,
  504: 102,
  505: 127,
  513: 127,
  600: 17,
  603: 21,
  604: 1,
  606: 127,
  607: 21,
  608: 21,
};

const INTERWORKING = 127;
const Q850_CAUSE = /(?:^|,)\s*Q\.850\s*(?:;[^,]*?)?;\s*cause\s*=\s*"?(\d{1,3})/i;

/** The Q.850 cause of a message's Reason headers. @returns Undefined when there is none in 1..127. */
export function q850CauseOf({ headers }: SipMessage): number | undefined {
  const match = Q850_CAUSE.exec(headers.all('reason').join(','));
  const cause = match ? Number(match[1]) : 0;
  return cause >= 1 && cause <= 127 ? cause : undefined;
}

/** The cause that stands for a final response without a Reason header. @param status - 300..699. */
export function q850OfStatus(status: number): number {
  return CAUSE_OF_STATUS[status] ?? INTERWORKING;
}

/** The value of a Reason header. */
export function formatQ850({ q850Cause, text }: HangupReason): string {
  return formatReason({ protocol: 'Q.850', cause: q850Cause, text });
}
