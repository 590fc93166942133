import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { systemClock } from '../../../../src/base/values/clock.ts';
import type { HeldLock } from '../../../../src/engine/session/sessionLock.ts';
import { connectRedis, type RedisConnection } from '../../../../src/infra/redis/connection/connection.ts';
import { redisSessionLock } from '../../../../src/infra/redis/locks/sessionLock.ts';
import { redisDatabase } from '../../../support/redis.ts';

let database: Awaited<ReturnType<typeof redisDatabase>>;
let nodes: RedisConnection[] = [];

beforeAll(async () => {
  database = await redisDatabase();
  nodes = [1, 2].map(() => connectRedis({ url: database.url, onError: () => undefined }));
  await Promise.all(nodes.map((node) => node.untilReady()));
});

afterAll(async () => {
  await Promise.all(nodes.map((node) => node.close()));
  await database.drop();
});

const lockOf = (index: number) => {
  const node = nodes[index];
  if (!node) throw new Error('no such node');
  return redisSessionLock(node, systemClock);
};

/** Runs work under the lock of a session, on one of the nodes. */
async function locked<Result>(
  index: number,
  projectId: string,
  sessionId: string,
  work: (held: HeldLock) => Promise<Result>,
): Promise<Result> {
  const held = await lockOf(index).acquire(projectId, sessionId);
  try {
    return await work(held);
  } finally {
    await held.release();
  }
}

describe('Turns of one session', () => {
  test('are held one at a time across two nodes', async () => {
    let running = 0;
    let most = 0;
    let done = 0;
    const turns = Array.from({ length: 40 }, (_, index) =>
      locked(index % 2, 'p', 'one-at-a-time', async () => {
        running += 1;
        most = Math.max(most, running);
        await delay(1);
        running -= 1;
        done += 1;
      }),
    );
    await Promise.all(turns);
    expect({ most, done }).toEqual({ most: 1, done: 40 });
  });

  test('run in the order of arrival', async () => {
    const order: number[] = [];
    let open = () => {};
    const first = locked(
      0,
      'p',
      'order',
      () =>
        new Promise<void>((resolve) => {
          open = resolve;
        }),
    );
    const waiting: Promise<void>[] = [];
    for (const index of [1, 2, 3]) {
      await delay(30);
      waiting.push(locked(index % 2, 'p', 'order', async () => void order.push(index)));
    }
    await delay(30);
    open();
    await Promise.all([first, ...waiting]);
    expect(order).toEqual([1, 2, 3]);
  });

  test('do not wait for turns of other sessions', async () => {
    let open = () => {};
    const held = locked(
      0,
      'p',
      'a',
      () =>
        new Promise<void>((resolve) => {
          open = resolve;
        }),
    );
    await locked(1, 'p', 'b', async () => undefined);
    await locked(1, 'q', 'a', async () => undefined);
    open();
    await held;
  });

  test('release the lock when they fail', async () => {
    await expect(
      locked(0, 'p', 'failing', async () => {
        throw new Error('no');
      }),
    ).rejects.toThrow('no');
    expect(await locked(1, 'p', 'failing', async () => 'free')).toBe('free');
  });

  test('do not wait for a waiter that died', async () => {
    const [node] = nodes;
    await node?.client.zadd('callway:turn:{p:dead}:queue', 1, 'an-unknown-token');
    expect(await locked(0, 'p', 'dead', async () => 'taken')).toBe('taken');
  });
});

describe('wasContended', () => {
  const wasContended = async ({ wasContended }: HeldLock) => wasContended;

  test('is false for a lock that was free', async () => {
    expect(await locked(0, 'p', 'free', wasContended)).toBe(false);
  });

  test('is true for a lock that another node released a moment before', async () => {
    await locked(0, 'p', 'released', async () => undefined);
    expect(await locked(1, 'p', 'released', wasContended)).toBe(true);
  });

  test('is true for a turn that waited', async () => {
    const first = await lockOf(0).acquire('p', 'waited');
    const second = locked(1, 'p', 'waited', wasContended);
    await first.release();
    expect(await second).toBe(true);
  });
});

describe('A lock that is remembered', () => {
  test('tells whether its node was the last to hold it', async () => {
    const [own, other] = [lockOf(0), lockOf(1)];
    const wasOwn = async (lock: typeof own, remembers = true) => {
      const held = await lock.acquire('p', 'remembered', remembers);
      await held.release();
      return held.wasOwn;
    };
    expect([await wasOwn(own), await wasOwn(own)]).toEqual([false, true]);
    expect([await wasOwn(other), await wasOwn(own)]).toEqual([false, false]);
    expect([await wasOwn(own), await wasOwn(other, false), await wasOwn(own)]).toEqual([true, false, false]);
  });
});
