import ipaddr from 'ipaddr.js';
import { CallwayError } from '../../base/errors.ts';

/** An address, or a network in CIDR notation. IPv4-mapped IPv6 counts as its IPv4. */
interface Network {
  readonly address: ipaddr.IPv4 | ipaddr.IPv6;
  readonly bits: number;
}

/** Wider networks than these are the operator's to grant: most of their addresses are no carrier's. */
const MIN_BITS = { ipv4: 16, ipv6: 32 } as const;
/** The length of `::ffff:0:0/96`. */
const MAPPED_PREFIX_BITS = 96;

/** Returns true when an address is in a network. Invalid addresses are in none. */
export function isInNetwork(address: string, network: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  return contains(parseNetwork(network), ipaddr.process(address));
}

/** @param network - An address or a CIDR range. */
export function isWideNetwork(network: string): boolean {
  const { address, bits } = parseNetwork(network);
  return bits < MIN_BITS[address.kind()];
}

/** Formats a network in its normal form. IPv4-mapped networks become IPv4. */
export function formatNetwork(network: string): string {
  const { address, bits } = parseNetwork(network);
  return `${address}/${bits}`;
}

/**
 * Checks the networks that a tenant adds to a trunk.
 *
 * @param others - The networks of other projects.
 * @throws {CallwayError} 403 `cidr_needs_operator` for a wide one, and for one that overlaps another project's.
 */
export function requireOwnNetworks(added: readonly string[], others: readonly string[]): void {
  const taken = others.map(parseNetwork);
  for (const text of added) {
    const network = parseNetwork(text);
    if (isWideNetwork(text)) throw needsOperator(`${text} is wider than /16 (IPv4) or /32 (IPv6)`);
    if (taken.some((other) => overlap(network, other))) throw needsOperator(`${text} is in use already`);
  }
}

function parseNetwork(text: string): Network {
  const [host = '', length] = text.split('/');
  const parsed = ipaddr.parse(host);
  const bits = length === undefined ? parsed.toByteArray().length * 8 : Number(length);
  if (!(parsed instanceof ipaddr.IPv6) || !parsed.isIPv4MappedAddress() || bits < MAPPED_PREFIX_BITS) {
    return { address: parsed, bits };
  }
  return { address: parsed.toIPv4Address(), bits: bits - MAPPED_PREFIX_BITS };
}

function contains(network: Network, address: Network['address']): boolean {
  return network.address.kind() === address.kind() && address.match(network.address, network.bits);
}

function overlap(one: Network, other: Network): boolean {
  return one.bits < other.bits ? contains(one, other.address) : contains(other, one.address);
}

function needsOperator(why: string): CallwayError {
  const message = `${why}; the operator of this installation can add it to inboundCidrs`;
  return new CallwayError('forbidden', 'cidr_needs_operator', message);
}
