import { z } from 'zod';

import { NUMBER_SYNTAX, normalizeNumber } from '../base/e164.ts';

/** No character that could start another header. @see RFC 3261 section 19.1.1 */
const SIP_URI =
  /^(?<scheme>sips?):(?:(?<user>[^@\s<>"?]{1,200})@)?(?<host>\[[0-9a-f:.]+\]|[^\s<>"@:;?[\]]{1,253})(?::(?<port>\d{1,5}))?(?<parameters>;[^\s<>"?]*)?(?:\?[^\s<>"]*)?$/i;
/** The only parameters that name where to call; others change the request or its route, as `method` and `maddr` do. */
const HARMLESS_PARAMETER = /^(?:transport=(?:udp|tcp|tls)|user=phone)$/i;
const MAX_LENGTH = 255;
const MAX_PORT = 65_535;

export const TRANSFER_TARGET_SYNTAX = `${NUMBER_SYNTAX}, or a sip: URI`;

/**
 * Reads a transfer target: a number is normalized; a `sip:` URI loses its headers, such as `Replaces`, its password, and
 * the parameters that do not name where to call.
 *
 * @returns Undefined for anything else.
 */
export function readTransferTarget(text: string): string | undefined {
  if (text.length > MAX_LENGTH) return undefined;
  const { scheme, user = '', host, port = '', parameters = '' } = SIP_URI.exec(text)?.groups ?? {};
  if (scheme === undefined || host === undefined) return normalizeNumber(text);
  if (port !== '' && (Number(port) < 1 || Number(port) > MAX_PORT)) return undefined;
  const harmless = parameters.split(';').filter((one) => HARMLESS_PARAMETER.test(one));
  const [name] = user.split(':');
  return [
    `${scheme.toLowerCase()}:${name ? `${name}@` : ''}${host.toLowerCase()}${port && `:${port}`}`,
    ...harmless,
  ].join(';');
}

export const transferTarget = z
  .string()
  .max(MAX_LENGTH)
  .refine((text) => readTransferTarget(text) !== undefined, `must be ${TRANSFER_TARGET_SYNTAX}`);

/** Where a model may transfer to. */
export const transferTargets = z.array(transferTarget).max(100);

/** @param targets - Of the agent; null allows any. */
export function isTransferTargetAllowed(targets: readonly string[] | null | undefined, to: string): boolean {
  if (targets === null || targets === undefined) return true;
  const wanted = readTransferTarget(to);
  return wanted !== undefined && targets.some((target) => readTransferTarget(target) === wanted);
}
