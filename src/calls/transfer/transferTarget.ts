import { type GivenTargets, targetsOf } from '../../agents/transferOptions.ts';
import {
  readTransferTarget,
  TRANSFER_TARGET_SYNTAX,
  type TransferTarget,
} from '../../agents/transferTarget.ts';
import { invalid } from '../../base/errors.ts';

/**
 * Reads the targets of a transfer that a user sent: `to`, or `targets`.
 *
 * @returns Normalized numbers, or `sip:` URIs without headers.
 * @throws {CallwayError} 400 `invalid_transfer_target`
 */
export function requireTransferTargets(request: GivenTargets): readonly TransferTarget[] {
  const given = targetsOf(request);
  if (!given) throw wrong('/to', 'give either to, or targets');
  return given.map(({ to: text, trunkId }, index) => {
    const to = readTransferTarget(text);
    if (to !== undefined) return { to, trunkId };
    const path = request.to === undefined ? `/targets/${index}` : '/to';
    throw wrong(path, `${path.slice(1).replace('/', ' ')} must be ${TRANSFER_TARGET_SYNTAX}`);
  });
}

function wrong(path: string, message: string) {
  return invalid('invalid_transfer_target', message, [{ path, message }]);
}
