import { invalid } from '../../base/errors.ts';
import { NUMBER_SYNTAX, normalizeNumber } from '../numbers/number.ts';

/** No character that could start another header. @see RFC 3261 section 19.1.1 */
const SIP_URI = /^sips?:[^\s<>"]{1,250}$/i;

/**
 * Reads the target of a transfer that a user sent.
 *
 * @returns A normalized number, or a `sip:` URI.
 * @throws {CallwayError} 400 `invalid_transfer_target`
 */
export function requireTransferTarget(to: string): string {
  const target = SIP_URI.test(to) ? to : normalizeNumber(to);
  if (target !== undefined) return target;
  const message = `to must be ${NUMBER_SYNTAX}, or a sip: URI`;
  throw invalid('invalid_transfer_target', message, [{ path: '/to', message }]);
}
