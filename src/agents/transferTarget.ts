import { z } from 'zod';

import { NUMBER_SYNTAX, normalizeNumber } from '../base/values/e164.ts';

/** Matches a `sip:` URI without characters that could start another header. @see RFC 3261 section 19.1.1 */
const SIP_URI =
  /^(?<scheme>sips?):(?:(?<user>[^@\s<>"?]{1,200})@)?(?<host>\[[0-9a-f:.]+\]|[^\s<>"@:;?[\]]{1,253})(?::(?<port>\d{1,5}))?(?<parameters>;[^\s<>"?]*)?(?:\?[^\s<>"]*)?$/i;
/** The only parameters that name where to call; others change the request or its route, as `method` and `maddr` do. */
const HARMLESS_PARAMETER = /^(?:transport=(?:udp|tcp|tls)|user=phone)$/i;
const HOST_NAME = /^(?:[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?\.)*[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?\.?$/i;
const MAX_LENGTH = 255;
const MAX_PORT = 65_535;

export const TRANSFER_TARGET_SYNTAX = `${NUMBER_SYNTAX}, or a sip: URI`;

/** Whom a call is transferred to. */
export interface TransferTarget {
  /** A number, or a `sip:` URI. */
  readonly to: string;
  /** The trunk that calls it; undefined for those of the call's number. */
  readonly trunkId?: string | undefined;
}

/** A transfer target as users and models write it. */
export type TransferTargetInput = string | TransferTarget;

/**
 * Reads a transfer target: a number is normalized; a `sip:` URI loses its headers, such as `Replaces`, its password, and
 * the parameters that do not name where to call.
 *
 * @returns The target; undefined for text that is neither a number nor a `sip:` URI.
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

/**
 * Reads the host that a `sip:` URI leads to.
 *
 * @returns The host as {@link sipHost} writes it, and the port if the URI names one; undefined for a number, and for a host
 *   that is neither a name nor an address.
 */
export function readSipHost(
  to: string,
): { readonly host: string; readonly port: number | undefined } | undefined {
  const { host: text = '', port } = SIP_URI.exec(to)?.groups ?? {};
  const host = sipHost(text);
  return host === undefined ? undefined : { host, port: port === undefined ? undefined : Number(port) };
}

/** A host name or an IP address in lower case, without brackets and final dot; undefined for anything else. */
export function sipHost(text: string): string | undefined {
  const plain = text.replace(/^\[(.*)\]$/, '$1');
  const isHost = plain.includes(':') ? z.ipv6().safeParse(plain).success : HOST_NAME.test(plain);
  return isHost ? plain.toLowerCase().replace(/\.$/, '') : undefined;
}

export const transferTrunkId = z
  .uuid()
  .describe('The trunk that calls the target, or lends its identity and codecs to a call to another host.');

/** A target as a string, or with the trunk that calls it. @param to - The schema of the string. */
export function targetWithTrunk<To extends z.ZodType<string>>(to: To) {
  return z.union([
    to.describe('A number or a SIP URI.'),
    z.strictObject({ to, trunkId: transferTrunkId.optional() }).describe('With the trunk that calls it.'),
  ]);
}

export const transferTarget = targetWithTrunk(
  z
    .string()
    .max(MAX_LENGTH)
    .refine((text) => readTransferTarget(text) !== undefined, `must be ${TRANSFER_TARGET_SYNTAX}`),
);

/** The targets that a model may transfer to. */
export const transferTargets = z.array(transferTarget).max(100);

export function toTransferTarget(given: TransferTargetInput): TransferTarget {
  return typeof given === 'string' ? { to: given } : given;
}

/**
 * Finds a target among the only ones that are allowed.
 *
 * @param allowed - The agent's targets; null allows any.
 * @returns The target, with the trunk of its entry where it names none; undefined where it is not allowed, or only over
 *   another trunk.
 */
export function allowedTarget(
  allowed: readonly TransferTargetInput[] | null | undefined,
  target: TransferTarget,
): TransferTarget | undefined {
  if (allowed === null || allowed === undefined) return target;
  const wanted = readTransferTarget(target.to);
  if (wanted === undefined) return undefined;
  const entry = allowed
    .map(toTransferTarget)
    .find(
      ({ to, trunkId }) =>
        readTransferTarget(to) === wanted &&
        (trunkId === undefined || target.trunkId === undefined || trunkId === target.trunkId),
    );
  return entry && { to: target.to, trunkId: target.trunkId ?? entry.trunkId };
}
