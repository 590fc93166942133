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
   * Accepts and counts a connection, or closes it. Known peers have only the limit per source.
   *
   * @param present - The number of open connections.
   */
  accept(remote: Endpoint, socket: Socket, present: number): boolean;
  /** Reports that an accepted connection is closed. */
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
      const { address, port } = remote;
      const isCrowded = present >= limits.maxConnections && !guard.isTrusted(address, port);
      const isGreedy = fromSource >= limits.maxConnectionsPerSource && !guard.isUnlimited(address, port);
      if (isCrowded || isGreedy || !guard.admit(address, port)) {
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
