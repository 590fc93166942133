import { expect, test } from 'vitest';

import { drainConnections } from '../../../src/api/plugins/drainConnections.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';

/** Waiting time for a server that loses one connection every 100 ms, from `connections` down to `left`. */
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
  ['there are no connections', 0, 0, 0],
  ['the last of three connections is closed', 3, 0, 300],
  ['a second has passed', 3, 1, 1000],
])('drainConnections waits until %s', async (_what, connections, left, expected) => {
  expect(await waitedMs(connections, left)).toBe(expected);
});

test('drainConnections does not wait for a server that does not listen', async () => {
  const server = {
    getConnections(callback: (error: Error | null, count: number) => void) {
      callback(new Error('not running'), 0);
    },
  } as unknown as Parameters<typeof drainConnections>[0];
  await expect(drainConnections(server, createSimulatedClock())).resolves.toBeUndefined();
});
