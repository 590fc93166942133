import type { Socket } from 'node:net';
import type { Counters } from '../stats.ts';
import type { Guard } from './guard.ts';
import type { Endpoint } from './types.ts';

export interface ConnectionLimits {
  readonly maxConnections: number;
  readonly maxConnectionsPerSource: number;
}

/** Limits the inbound connections, in total and per source. */
export interface ConnectionLimiter {
  /**
   * Accepts and counts a connection, or closes it. Trusted sources are always accepted.
   *
   * @param present - The number of open connections.
   */
  accept(remote: Endpoint, socket: Socket, present: number): boolean;
  /** An accepted connection is closed. */
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
