import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

import { sleep } from '../../base/async/sleep.ts';
import type { Clock } from '../../base/values/clock.ts';
import type { App } from '../ports.ts';

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

/**
 * Closes the connections without a request in progress when the server closes. Node would wait without end for those that
 * have sent nothing yet, which browsers open ahead, or a part of a request's head: its timeouts end with the server.
 */
export function closeUnusedConnections(app: App): void {
  const unused = new Set<Socket>();
  const latest = new WeakMap<Socket, ServerResponse>();
  app.server.on('connection', (socket: Socket) => {
    unused.add(socket);
    socket.once('close', () => unused.delete(socket));
  });
  app.server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    unused.delete(socket);
    latest.set(socket, response);
    response.once('close', () => {
      if (latest.get(socket) === response && !socket.destroyed) unused.add(socket);
    });
  });
  app.server.on('upgrade', ({ socket }: IncomingMessage) => unused.delete(socket));
  app.addHook('preClose', async () => {
    for (const socket of unused) socket.destroy();
  });
}

/** 0 for a server that does not listen. */
function countConnections(server: Server): Promise<number> {
  return new Promise((resolve) => server.getConnections((error, count) => resolve(error ? 0 : count)));
}
