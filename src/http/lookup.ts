import { Resolver } from 'node:dns/promises';
import { classifyHostname } from './address.ts';

/** Timeout of a query; the resolver doubles it for the second try. */
const DNS_TIMEOUT_MS = 1_500;
const DNS_TRIES = 2;

/**
 * Resolves a name to all of its addresses, in the order in which they are tried.
 *
 * @throws When the name has no address, no server answers, or `signal` is aborted.
 */
export type Lookup = (hostname: string, signal: AbortSignal) => Promise<readonly string[]>;

/**
 * Queries DNS servers directly instead of `getaddrinfo`, which blocks a thread of the pool that file access shares: a
 * few names with unreachable DNS servers could stall all recordings. Ignores `/etc/hosts`; `localhost` and names
 * below it are resolved without DNS.
 *
 * IPv4 addresses come first: with a broken IPv6 configuration, IPv6 first would cost a timeout.
 *
 * @param options.servers - `address:port` of the DNS servers; default the system's.
 */
export function createDnsLookup(options: { readonly servers?: readonly string[] } = {}): Lookup {
  return async (hostname, signal) => {
    if (classifyHostname(hostname) === 'loopback') return ['127.0.0.1', '::1'];
    signal.throwIfAborted();
    const resolver = new Resolver({ timeout: DNS_TIMEOUT_MS, tries: DNS_TRIES });
    if (options.servers) resolver.setServers(options.servers);
    const cancel = () => resolver.cancel();
    signal.addEventListener('abort', cancel, { once: true });
    try {
      const [ipv4, ipv6] = await Promise.allSettled([
        resolver.resolve4(hostname),
        resolver.resolve6(hostname),
      ]);
      const addresses = [ipv4, ipv6].flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
      if (addresses.length === 0 && ipv4.status === 'rejected') throw ipv4.reason;
      return addresses;
    } finally {
      signal.removeEventListener('abort', cancel);
    }
  };
}
