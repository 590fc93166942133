import type { Server } from 'node:http';

import type { Clock } from '../../base/clock.ts';

/** A client that keeps its connections busy has sent something over each by then, and was told to go. */
const LONGEST_MS = 1000;
const LOOK_MS = 25;

/**
 * Waits until no client has a connection any more, or those that are left have been quiet for a while: a request that
 * is sent over a connection at the moment it is closed is lost, and its client cannot know whether it was taken.
 *
 * @see RFC 9112 section 9.6
 */
export async function drainConnections(
  server: Pick<Server, 'getConnections'>,
  clock: Pick<Clock, 'monotonicMs' | 'setTimer'>,
): Promise<void> {
  const endMs = clock.monotonicMs() + LONGEST_MS;
  while (clock.monotonicMs() < endMs && (await connectionsOf(server)) > 0) {
    await new Promise<void>((resolve) => clock.setTimer(resolve, LOOK_MS));
  }
}

/** A server that does not listen has none. */
function connectionsOf(server: Pick<Server, 'getConnections'>): Promise<number> {
  return new Promise((resolve) => server.getConnections((error, count) => resolve(error ? 0 : count)));
}
