import { bareHost, classifyAddress } from './address.ts';
import { unlessAborted } from './deadline.ts';
import { HttpClientError } from './errors.ts';
import type { Lookup } from './lookup.ts';
import { mayReach, type TargetPolicy } from './target.ts';

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
