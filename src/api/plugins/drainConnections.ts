import type { Server } from 'node:http';

import { sleep } from '../../base/async/sleep.ts';
import type { Clock } from '../../base/values/clock.ts';

/** A busy connection carries a response within this time, which tells its client to close it. */
const MAX_WAIT_MS = 1000;
const POLL_INTERVAL_MS = 25;

/**
 * Waits until all clients have closed their connections, at most a second. A request sent while its connection is being
 * closed is lost, and its client cannot know whether it was processed.
 *
 * @see RFC 9112 section 9.6
 */
export async function drainConnections(server: Server, clock: Clock): Promise<void> {
  const deadlineMs = clock.monotonicMs() + MAX_WAIT_MS;
  while (clock.monotonicMs() < deadlineMs && (await countConnections(server)) > 0) {
    await sleep(clock, POLL_INTERVAL_MS);
  }
}

/** 0 for a server that does not listen. */
function countConnections(server: Server): Promise<number> {
  return new Promise((resolve) => server.getConnections((error, count) => resolve(error ? 0 : count)));
}
