import type { LookupFunction } from 'node:net';
import { resolveTarget } from './resolveTarget.ts';
import type { WebSocketGuard } from './webSocket.ts';

/** The timeout, longer than the resolver's own tries. */
const TIMEOUT_MS = 10_000;

/**
 * Resolves the host of a user's address for `net.connect`, to addresses that the guard allows. An address without a name
 * is not looked up: it is checked before it is stored.
 */
export function guardedLookup(url: URL, guard: WebSocketGuard): LookupFunction {
  return (_hostname, options, callback) => {
    resolveTarget(url, guard, AbortSignal.timeout(TIMEOUT_MS)).then(
      (addresses) => {
        const found = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
        const [first] = found;
        if (options.all) callback(null, found);
        else callback(null, first?.address ?? '', first?.family);
      },
      (error: Error) => callback(error, ''),
    );
  };
}
