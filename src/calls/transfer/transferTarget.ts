import { readTransferTarget, TRANSFER_TARGET_SYNTAX } from '../../agents/transferTarget.ts';
import { invalid } from '../../base/errors.ts';

/**
 * Reads the target of a transfer that a user sent.
 *
 * @returns A normalized number, or a `sip:` URI without headers.
 * @throws {CallwayError} 400 `invalid_transfer_target`
 */
export function requireTransferTarget(to: string): string {
  const target = readTransferTarget(to);
  if (target !== undefined) return target;
  const message = `to must be ${TRANSFER_TARGET_SYNTAX}`;
  throw invalid('invalid_transfer_target', message, [{ path: '/to', message }]);
}
