import type { Socket } from 'node:net';
import type { Counters } from '../stats.ts';
import type { Guard } from './guard.ts';
import type { Endpoint } from './types.ts';

export interface ConnectionLimits {
  readonly maxConnections: number;
  readonly maxConnectionsPerSource: number;
}

/** Decides which connections may stay, before a byte of them is read. */
export interface ConnectionLimiter {
  /**
   * Counts a connection for its source, or cuts it off. Whoever is trusted finds room whatever the others do.
   *
   * @param present - How many connections there are.
   */
  accept(remote: Endpoint, socket: Socket, present: number): boolean;
  /** One that was let in is gone. */
  release(remote: Endpoint): void;
}

export function createConnectionLimiter(
  limits: ConnectionLimits,
  guard: Guard,
  counters: Counters,
): ConnectionLimiter {
  const perSource = new Map<string, number>();
  return {
    accept(remote, socket, present) {
      const fromSource = perSource.get(remote.address) ?? 0;
      const isCrowded = present >= limits.maxConnections || fromSource >= limits.maxConnectionsPerSource;
      const isTrusted = guard.isTrusted(remote.address, remote.port);
      if (!isTrusted && (isCrowded || !guard.admit(remote.address, remote.port))) {
        counters.count('connections.refused');
        socket.on('error', () => counters.count('connections.failed'));
        socket.destroy();
        return false;
      }
      perSource.set(remote.address, fromSource + 1);
      return true;
    },
    release({ address }) {
      const left = (perSource.get(address) ?? 1) - 1;
      if (left > 0) perSource.set(address, left);
      else perSource.delete(address);
    },
  };
}
