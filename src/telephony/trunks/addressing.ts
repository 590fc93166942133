import { bracketed, unbracketed } from '../../../sip/message/fields/uri.ts';
import { formatNumber } from '../../calls/numbers/number.ts';
import { DEFAULT_SIP_PORT, type Trunk } from '../../calls/trunks/trunk.ts';
import type { Credentials } from '../sip/authenticator.ts';
import { encodeUser, readUri } from '../sip/headerValues.ts';

/** The settings of a trunk that say where it is and how we identify ourselves there. */
export type TrunkAddress = Pick<
  Trunk,
  'host' | 'port' | 'transport' | 'outboundProxy' | 'fromDomain' | 'username' | 'numberFormat'
>;

export const USER_AGENT = 'Callway';

/**
 * `sip:user@host`, with port and transport unless they are the defaults. Without a port a host name is resolved by SRV
 * first. @see RFC 3263 section 4
 */
export function trunkUri(trunk: TrunkAddress, user = ''): string {
  const port = trunk.port === DEFAULT_SIP_PORT ? '' : `:${trunk.port}`;
  return `sip:${user === '' ? '' : `${encodeUser(user)}@`}${bracketed(trunk.host)}${port}${transportOf(trunk)}`;
}

/**
 * Returns the Request-URI for a number.
 *
 * @param callingNumber - The number in normal form, which determines the country of national numbers.
 * @param asGiven - The number as the API client wrote it, if known.
 */
export function dialledUri(
  trunk: TrunkAddress,
  number: string,
  callingNumber: string,
  asGiven?: string,
): string {
  return trunkUri(trunk, formatNumber(number, { format: trunk.numberFormat, callingNumber, asGiven }));
}

/** The URI of the outbound proxy, if any. */
export function routeOf(trunk: TrunkAddress): string | undefined {
  const { outboundProxy } = trunk;
  if (outboundProxy === null) return undefined;
  const plain = outboundProxy.trim().replace(/^<|>$/g, '');
  const uri = readUri(plain);
  if (uri && uri.scheme !== 'tel') return plain;
  const isBareIpv6 = (plain.match(/:/g) ?? []).length > 1 && !plain.startsWith('[');
  return `sip:${isBareIpv6 ? bracketed(plain) : plain}${transportOf(trunk)}`;
}

/** Our URI in From, in To of a registration, and in P-Asserted-Identity. */
export function identityUri(trunk: TrunkAddress, user: string): string {
  return `sip:${encodeUser(user)}@${bracketed(trunk.fromDomain ?? trunk.host)}`;
}

/** The SIP server replaces `localhost` by its own address. */
export function contactUri(trunk: TrunkAddress, user: string): string {
  return `sip:${encodeUser(user)}@localhost${transportOf(trunk)}`;
}

/** The hosts and ports that the trunk's own calls come from. */
export function sourcesOf(trunk: TrunkAddress): { readonly host: string; readonly port: number }[] {
  const own = { host: unbracketed(trunk.host), port: trunk.port };
  const proxy = readUri(routeOf(trunk) ?? '');
  if (!proxy || proxy.scheme === 'tel') return [own];
  return [own, { host: unbracketed(proxy.host), port: proxy.port ?? DEFAULT_SIP_PORT }];
}

/** Returns the trunk's credentials; undefined for a trunk that identifies us by our address. */
export function credentialsOf({ username, password, realm }: Trunk): Credentials | undefined {
  return username === null || password === null ? undefined : { username, password, realm };
}

function transportOf({ transport }: TrunkAddress): string {
  return transport === 'udp' ? '' : `;transport=${transport}`;
}
