import { formatNumber } from '../../calls/numbers/number.ts';
import { DEFAULT_SIP_PORT, type Trunk } from '../../calls/trunks/trunk.ts';
import { bracketed, encodeUser, readUri } from '../sip/address.ts';
import type { Credentials } from '../sip/digest.ts';

/** The parts of a trunk that say where it is and how we appear there. */
export type TrunkAddress = Pick<
  Trunk,
  'host' | 'port' | 'transport' | 'outboundProxy' | 'fromDomain' | 'username' | 'numberFormat'
>;

/**
 * `sip:user@host`, with port and transport where they are not the usual ones. The usual port is left out, so that a host
 * name is looked up by SRV first. @see RFC 3263 section 4
 */
export function trunkUri(trunk: TrunkAddress, user = ''): string {
  const port = trunk.port === DEFAULT_SIP_PORT ? '' : `:${trunk.port}`;
  return `sip:${user === '' ? '' : `${encodeUser(user)}@`}${bracketed(trunk.host)}${port}${transportOf(trunk)}`;
}

/**
 * The Request-URI for a number.
 *
 * @param callingNumber - In normal form; says what is national.
 * @param asGiven - The number as the API's caller wrote it, where it is known.
 */
export function dialledUri(
  trunk: TrunkAddress,
  number: string,
  callingNumber: string,
  asGiven?: string,
): string {
  return trunkUri(trunk, formatNumber(number, { format: trunk.numberFormat, callingNumber, asGiven }));
}

/** Where requests go first, when that is not the host. */
export function routeOf(trunk: TrunkAddress): string | undefined {
  const { outboundProxy } = trunk;
  if (outboundProxy === null) return undefined;
  const plain = outboundProxy.trim().replace(/^<|>$/g, '');
  if (readUri(plain)?.host) return plain;
  const isBareIpv6 = (plain.match(/:/g) ?? []).length > 1 && !plain.startsWith('[');
  return `sip:${isBareIpv6 ? bracketed(plain) : plain}${transportOf(trunk)}`;
}

/** Who we are in From, To of a registration, and P-Asserted-Identity. */
export function identityUri(trunk: TrunkAddress, user: string): string {
  return `sip:${encodeUser(user)}@${bracketed(trunk.fromDomain ?? trunk.host)}`;
}

/** The SIP server puts its own address in the place of `localhost`. */
export function contactUri(trunk: TrunkAddress, user: string): string {
  return `sip:${encodeUser(user)}@localhost${transportOf(trunk)}`;
}

/** Hosts whose addresses the trunk's own calls come from, and where they listen. */
export function sourcesOf(trunk: TrunkAddress): { readonly host: string; readonly port: number }[] {
  const own = { host: trunk.host.replace(/^\[|\]$/g, ''), port: trunk.port };
  const proxy = readUri(routeOf(trunk) ?? '');
  if (!proxy?.host) return [own];
  return [own, { host: proxy.host, port: proxy.port ?? DEFAULT_SIP_PORT }];
}

/** What we answer challenges with; undefined for a trunk that knows us by our address. */
export function credentialsOf({
  username,
  password,
  realm,
}: Pick<Trunk, 'username' | 'password' | 'realm'>): Credentials | undefined {
  return username === null || password === null ? undefined : { username, password, realm };
}

function transportOf({ transport }: TrunkAddress): string {
  return transport === 'udp' ? '' : `;transport=${transport}`;
}
