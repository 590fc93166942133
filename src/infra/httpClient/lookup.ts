import { Resolver } from 'node:dns/promises';
import { classifyHostname } from './address.ts';

/** How long one name server may take over one question; doubled by the resolver for the second try. */
const NAME_SERVER_TIMEOUT_MS = 1_500;
const NAME_SERVER_TRIES = 2;

/**
 * All addresses of a name, in the order in which they should be tried.
 *
 * @throws When the name has none or no server answers, or when `signal` is aborted.
 */
export type Lookup = (hostname: string, signal: AbortSignal) => Promise<readonly string[]>;

/**
 * Asks name servers directly, and not by way of the system's `getaddrinfo`: that one blocks a thread of the pool
 * that file access shares, so that a few users whose name servers never answer could stall every recording.
 * The price is that `/etc/hosts` is not read; `localhost` and the names below it are known without asking.
 *
 * IPv4 addresses come first: where IPv6 is half configured, trying it first costs a timeout.
 *
 * @param options.servers - `address:port` of the name servers; by default the system's.
 */
export function createDnsLookup(options: { readonly servers?: readonly string[] } = {}): Lookup {
  return async (hostname, signal) => {
    if (classifyHostname(hostname) === 'loopback') return ['127.0.0.1', '::1'];
    signal.throwIfAborted();
    const resolver = new Resolver({ timeout: NAME_SERVER_TIMEOUT_MS, tries: NAME_SERVER_TRIES });
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
