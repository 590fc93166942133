import { Resolver } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { unlessAborted } from '../base/async/unlessAborted.ts';
import { bareHost, classifyAddress, classifyHostname } from './address.ts';
import { HttpClientError } from './errors.ts';
import { mayReach, type TargetPolicy } from './target.ts';

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

/** What a user's address is held to. */
export interface TargetGuard {
  readonly policy: TargetPolicy;
  readonly lookup: Lookup;
}

/**
 * Resolves the addresses of a checked URL. One disallowed address rejects all of them: a name with public and private
 * addresses is an attack.
 *
 * @throws {HttpClientError} `dns_failed` or `target_private_address`; or the signal's reason.
 */
export async function resolveTarget(
  url: URL,
  deps: { readonly lookup: Lookup; readonly policy: TargetPolicy },
  signal: AbortSignal,
): Promise<readonly string[]> {
  const host = bareHost(url.hostname);
  const addresses = isAddress(host) ? [host] : await lookUp(host, deps.lookup, signal);
  for (const address of addresses) {
    const addressClass = classifyAddress(address);
    if (mayReach(url.protocol, addressClass, deps.policy)) continue;
    const why =
      url.protocol === 'http:' ? 'plain http is allowed for loopback only' : 'it must be publicly reachable';
    throw new HttpClientError('target_private_address', `${host} is at a ${addressClass} address; ${why}`);
  }
  return addresses;
}

/** Returns true when a bare host is an IP address. */
export function isAddress(host: string): boolean {
  return classifyAddress(host) !== 'invalid';
}

async function lookUp(host: string, lookup: Lookup, signal: AbortSignal): Promise<readonly string[]> {
  const addresses = await unlessAborted(lookup(host, signal), signal).catch((cause: unknown) => {
    const reason = cause instanceof Error && 'code' in cause ? ` (${cause.code})` : '';
    throw new HttpClientError('dns_failed', `${host} could not be resolved${reason}`, cause);
  });
  if (addresses.length === 0) throw new HttpClientError('dns_failed', `${host} has no address`);
  return addresses;
}

/** The timeout, longer than the resolver's own tries. */
const TIMEOUT_MS = 10_000;

/**
 * Resolves the host of a user's address for `net.connect`, to addresses that the guard allows. An address without a name
 * is not looked up: it is checked before it is stored.
 */
export function guardedLookup(url: URL, guard: TargetGuard): LookupFunction {
  return (hostname, options, callback) => {
    resolveTarget(url, guard, AbortSignal.timeout(TIMEOUT_MS)).then(
      (addresses) => answering(addresses)(hostname, options, callback),
      (error: Error) => callback(error, ''),
    );
  };
}

/** Answers each lookup of `net.connect` with addresses that are already checked. */
export function answering(addresses: readonly string[]): LookupFunction {
  const found = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_hostname, { all }, callback) => {
    const [first] = found;
    if (all) callback(null, found);
    else callback(null, first?.address ?? '', first?.family);
  };
}
