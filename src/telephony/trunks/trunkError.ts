import type { SipResponse } from '../../../sip/message/message.ts';
import { asLine } from '../../calls/trunks/trunkHeaders.ts';
import { RequestRefusedError } from '../control/connection.ts';

/**
 * The reason for which a trunk is not reachable or not registered; a SIP response may stand behind it, as in `PHRASE:
 * 403 Forbidden`.
 */
export const TRUNK_ERRORS = {
  /**
   * The message for hosts that the installation forbids. A reason would tell tenants which private hosts and names
   * exist.
   */
  hidden: 'The trunk does not respond as it should; check its settings',
  unresolved: 'The host cannot be resolved; check its name',
  unreachable: 'The host cannot be reached; check host, port and transport',
  unanswered: 'No answer; check host, port and transport',
  loginRefused: 'Registration refused; check username, password and realm',
  registrationFailed: 'Registration failed',
  unavailable: 'The peer takes no calls now',
  notKept: 'The registrar did not keep the registration',
  noUsername: 'The trunk has no username to register',
} as const;

export interface TrunkError {
  /** The message for the trunk's project. */
  readonly shown: string;
  /** The message for the operator. */
  readonly logged: string;
  /** True when there was no address to send the request to. */
  readonly isUnsent: boolean;
}

const MAX_REASON_CHARACTERS = 100;
const LOGIN_STATUSES = new Set([401, 403, 407]);
const REQUEST_TIMEOUT = 408;

export function trunkError(shown: string, logged = shown): TrunkError {
  return { shown, logged, isUnsent: false };
}

/** @param phrase - The error, one of `TRUNK_ERRORS`. */
export function answeredError(phrase: string, { status, reason }: SipResponse): TrunkError {
  return trunkError(`${phrase}: ${status} ${asLine(reason, MAX_REASON_CHARACTERS)}`);
}

/** A REGISTER that its registrar rejected. */
export function registrationError(response: SipResponse): TrunkError {
  const isLogin = LOGIN_STATUSES.has(response.status);
  return answeredError(isLogin ? TRUNK_ERRORS.loginRefused : TRUNK_ERRORS.registrationFailed, response);
}

/** The SIP server's own response to a request that had none. @see RFC 3261 section 8.1.3.1 */
export function unansweredError({ status }: SipResponse): TrunkError {
  return trunkError(status === REQUEST_TIMEOUT ? TRUNK_ERRORS.unanswered : TRUNK_ERRORS.unreachable);
}

/** A request that was not sent. */
export function sendError(error: unknown): TrunkError {
  const logged = error instanceof Error ? error.message : String(error);
  const isUnsent = error instanceof RequestRefusedError;
  return { shown: isUnsent ? TRUNK_ERRORS.unresolved : TRUNK_ERRORS.hidden, logged, isUnsent };
}
