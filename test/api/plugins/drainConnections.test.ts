import { expect, test } from 'vitest';

import { drainConnections } from '../../../src/api/plugins/drainConnections.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';

/** How long it waits for a server with so many connections, of which one leaves every 100 ms down to so many. */
async function waitedMs(connections: number, left: number): Promise<number> {
  const clock = createSimulatedClock();
  const getConnections = (callback: (error: Error | null, count: number) => void) => {
    callback(null, Math.max(left, connections - Math.floor(clock.monotonicMs() / 100)));
    return server;
  };
  const server = { getConnections } as unknown as Parameters<typeof drainConnections>[0];
  let isOver = false;
  const waiting = drainConnections(server, clock).then(() => {
    isOver = true;
  });
  for (let turn = 0; turn < 200 && !isOver; turn += 1) {
    await new Promise(setImmediate);
    if (!isOver) clock.advance(25);
  }
  await waiting;
  expect(clock.pendingTimers()).toBe(0);
  return clock.monotonicMs();
}

test.each([
  ['nobody is connected', 0, 0, 0],
  ['the last of three has gone', 3, 0, 300],
  ['those that stay have been quiet for a second', 3, 1, 1000],
])('waits until %s', async (_what, connections, left, expected) => {
  expect(await waitedMs(connections, left)).toBe(expected);
});

test('a server that listens nowhere is waited for no longer', async () => {
  const server = {
    getConnections(callback: (error: Error | null, count: number) => void) {
      callback(new Error('not running'), 0);
    },
  } as unknown as Parameters<typeof drainConnections>[0];
  await expect(drainConnections(server, createSimulatedClock())).resolves.toBeUndefined();
});
