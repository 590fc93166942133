import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** The kind of an IP address. Only `public` is globally reachable unicast; `invalid` is not an IP address. */
export type AddressClass =
  | 'public'
  | 'unspecified'
  | 'loopback'
  | 'private'
  | 'shared'
  | 'link_local'
  | 'site_local'
  | 'multicast'
  | 'broadcast'
  | 'documentation'
  | 'benchmarking'
  | 'reserved'
  | 'invalid';

type Block = readonly [cidr: string, addressClass: AddressClass];

/**
 * The first matching block decides; an IPv4 address in no block is public.
 *
 * @see https://www.iana.org/assignments/iana-ipv4-special-registry
 */
const IPV4_BLOCKS: readonly Block[] = [
  ['0.0.0.0/8', 'unspecified'],
  ['10.0.0.0/8', 'private'],
  ['100.64.0.0/10', 'shared'],
  ['127.0.0.0/8', 'loopback'],
  ['169.254.0.0/16', 'link_local'],
  ['172.16.0.0/12', 'private'],
  ['192.0.0.0/24', 'reserved'],
  ['192.0.2.0/24', 'documentation'],
  ['192.88.99.0/24', 'reserved'],
  ['192.168.0.0/16', 'private'],
  ['198.18.0.0/15', 'benchmarking'],
  ['198.51.100.0/24', 'documentation'],
  ['203.0.113.0/24', 'documentation'],
  ['224.0.0.0/4', 'multicast'],
  ['255.255.255.255/32', 'broadcast'],
  ['240.0.0.0/4', 'reserved'],
  // Registered as unicast, but in Azure it is the host, which serves a machine's settings and secrets.
  ['168.63.129.16/32', 'reserved'],
];

/**
 * The IPv6 ranges that are not public, checked after embedded IPv4 addresses. Nothing outside 2000::/3 is public.
 *
 * @see https://www.iana.org/assignments/iana-ipv6-special-registry
 */
const IPV6_BLOCKS: readonly Block[] = [
  ['::/128', 'unspecified'],
  ['::1/128', 'loopback'],
  ['fc00::/7', 'private'],
  ['fe80::/10', 'link_local'],
  ['fec0::/10', 'site_local'],
  ['ff00::/8', 'multicast'],
  ['2001:2::/48', 'benchmarking'],
  ['2001:db8::/32', 'documentation'],
  ['3fff::/20', 'documentation'],
  ['2001::/23', 'reserved'],
  ['2000::/3', 'public'],
];

/** An IPv6 prefix that embeds IPv4 addresses: the first byte of each, and whether its bits are inverted. */
interface Embedding {
  readonly cidr: string;
  readonly ipv4At: readonly { readonly byte: number; readonly flipped?: true }[];
}

const EMBEDDINGS: readonly Embedding[] = [
  // IPv4-compatible, RFC 4291 section 2.5.5.1
  { cidr: '::/96', ipv4At: [{ byte: 12 }] },
  // IPv4-mapped, RFC 4291 section 2.5.5.2
  { cidr: '::ffff:0:0/96', ipv4At: [{ byte: 12 }] },
  // IPv4-translated, RFC 2765 section 2.1
  { cidr: '::ffff:0:0:0/96', ipv4At: [{ byte: 12 }] },
  // NAT64, RFC 6052 section 2.1
  { cidr: '64:ff9b::/96', ipv4At: [{ byte: 12 }] },
  // 6to4, RFC 3056 section 2
  { cidr: '2002::/16', ipv4At: [{ byte: 2 }] },
  // Teredo, RFC 4380 section 4: its server, and its client with inverted bits
  { cidr: '2001::/32', ipv4At: [{ byte: 4 }, { byte: 12, flipped: true }] },
];

/**
 * Classifies an IP address.
 *
 * An IPv6 address that embeds an IPv4 address has the class of that address: a gateway on the path would unpack it.
 * An address with a zone id is `link_local`, since a zone has no meaning beyond a link.
 *
 * @param ip - Canonical form, as resolvers and WHATWG URLs write it; `0177.0.0.1` is `invalid`. IPv6 without
 *   brackets.
 */
export function classifyAddress(ip: string): AddressClass {
  if (isIP(ip) === 0) return 'invalid';
  if (ip.includes('%')) return 'link_local';
  const address = ipaddr.parse(ip);
  return address instanceof ipaddr.IPv4 ? classifyIPv4(address) : classifyIPv6(address);
}

/**
 * Classifies a URL's host without DNS.
 *
 * @param hostname - The hostname as in `URL.hostname`: normalised, IPv6 in brackets.
 * @returns Undefined for a name that must be resolved.
 * @see RFC 6761 section 6.3 for `localhost` and all names below it
 */
export function classifyHostname(hostname: string): AddressClass | undefined {
  const host = bareHost(hostname);
  if (isIP(host) !== 0) return classifyAddress(host);
  return host === 'localhost' || host.endsWith('.localhost') ? 'loopback' : undefined;
}

/** Removes the brackets of an IPv6 literal and the trailing dot of the root, as resolvers and TLS require. */
export function bareHost(hostname: string): string {
  return hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
}

function classifyIPv4(address: ipaddr.IPv4): AddressClass {
  return IPV4_BLOCKS.find(([cidr]) => address.match(ipaddr.IPv4.parseCIDR(cidr)))?.[1] ?? 'public';
}

function classifyIPv6(address: ipaddr.IPv6): AddressClass {
  const isIn = (cidr: string) => address.match(ipaddr.IPv6.parseCIDR(cidr));
  if (isIn('::/127')) return isIn('::1/128') ? 'loopback' : 'unspecified';
  const embedding = EMBEDDINGS.find(({ cidr }) => isIn(cidr));
  if (embedding) return classifyEmbedded(address.toByteArray(), embedding);
  return IPV6_BLOCKS.find(([cidr]) => isIn(cidr))?.[1] ?? 'reserved';
}

function classifyEmbedded(bytes: readonly number[], { ipv4At }: Embedding): AddressClass {
  const classes = ipv4At.map(({ byte, flipped }) => {
    const octets = bytes.slice(byte, byte + 4);
    return classifyIPv4(new ipaddr.IPv4(flipped ? octets.map((octet) => octet ^ 0xff) : octets));
  });
  return classes.find((addressClass) => addressClass !== 'public') ?? 'public';
}
