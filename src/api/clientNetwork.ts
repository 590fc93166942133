import ipaddr from 'ipaddr.js';

/** The prefix of a client's IPv6 network, within which it may choose addresses. */
const IPV6_CLIENT_BITS = 64;
/** Matches a client address with the port of its connection, as some proxies write it. */
const WITH_PORT = /^(?:\[(?<ipv6>.+)\]|(?<ipv4>[^:]+))(?::\d+)?$/;

/**
 * The network whose failed authentications are counted together: an IPv4 address, also in IPv6's spelling, or an IPv6
 * network of 64 bits.
 *
 * @param address - The address of the connection, or the one that a trusted proxy wrote.
 * @returns `unknown` for what is no address, such as a name that hides one.
 */
export function clientNetwork(address: string): string {
  const { ipv6, ipv4 } = WITH_PORT.exec(address)?.groups ?? {};
  const host = ipv6 ?? ipv4 ?? address;
  if (!ipaddr.isValid(host)) return 'unknown';
  const parsed = ipaddr.process(host);
  if (parsed instanceof ipaddr.IPv4) return parsed.toString();
  return ipaddr.IPv6.networkAddressFromCIDR(`${parsed}/${IPV6_CLIENT_BITS}`).toString();
}
