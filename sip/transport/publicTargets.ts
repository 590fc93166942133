import ipaddr from 'ipaddr.js';
import type { Locate, Target } from './resolver.ts';

/** Public by its range, but in Azure the host, which serves a machine's settings and secrets. */
const AZURE_HOST = '168.63.129.16';

/**
 * Drops targets that are no public addresses, after DNS, so that a name cannot be pointed elsewhere after a check.
 *
 * @param isAllowed - Returns true for addresses that are allowed although they are not public.
 */
export function publicTargetsOnly(locate: Locate, isAllowed: (address: string) => boolean): Locate {
  const allowed = (targets: Target[]) =>
    targets.filter(({ address }) => isPublicAddress(address) || isAllowed(address));
  return (uri) => {
    const found = locate(uri);
    return Array.isArray(found) ? allowed(found) : found.then(allowed);
  };
}

/** Addresses that embed another one, such as NAT64, are not public: a gateway on the path would unpack them. */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.process(address);
  return parsed.range() === 'unicast' && parsed.toString() !== AZURE_HOST;
}
