import { targetsOf } from '../../agents/transferOptions.ts';
import { readTransferTarget, TRANSFER_TARGET_SYNTAX } from '../../agents/transferTarget.ts';
import { invalid } from '../../base/errors.ts';

/**
 * Reads the targets of a transfer that a user sent: `to`, or `targets`.
 *
 * @returns Normalized numbers, or `sip:` URIs without headers.
 * @throws {CallwayError} 400 `invalid_transfer_target`
 */
export function requireTransferTargets(request: {
  readonly to?: string | undefined;
  readonly targets?: readonly string[] | undefined;
}): readonly string[] {
  const given = targetsOf(request);
  if (!given) throw wrong('/to', 'give either to, or targets');
  return given.map((text, index) => {
    const target = readTransferTarget(text);
    if (target !== undefined) return target;
    const path = request.to === undefined ? `/targets/${index}` : '/to';
    throw wrong(path, `${path.slice(1).replace('/', ' ')} must be ${TRANSFER_TARGET_SYNTAX}`);
  });
}

function wrong(path: string, message: string) {
  return invalid('invalid_transfer_target', message, [{ path, message }]);
}
