import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { systemClock } from '../../../../src/base/clock.ts';
import { connectRedis, type RedisConnection } from '../../../../src/infra/redis/connection/connection.ts';
import { redisTurnLock } from '../../../../src/infra/redis/locks/turnLock.ts';
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
  return redisTurnLock(node, systemClock);
};

describe('Turns of one session', () => {
  test('run one at a time over two nodes, each of them once', async () => {
    let running = 0;
    let most = 0;
    let done = 0;
    const turns = Array.from({ length: 40 }, (_, index) =>
      lockOf(index % 2).run('p', 'one-at-a-time', async () => {
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
    const first = lockOf(0).run(
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
      waiting.push(lockOf(index % 2).run('p', 'order', async () => void order.push(index)));
    }
    await delay(30);
    open();
    await Promise.all([first, ...waiting]);
    expect(order).toEqual([1, 2, 3]);
  });

  test('do not wait for turns of other sessions', async () => {
    let open = () => {};
    const held = lockOf(0).run(
      'p',
      'a',
      () =>
        new Promise<void>((resolve) => {
          open = resolve;
        }),
    );
    await lockOf(1).run('p', 'b', async () => undefined);
    await lockOf(1).run('q', 'a', async () => undefined);
    open();
    await held;
  });

  test('release the lock when they fail', async () => {
    await expect(
      lockOf(0).run('p', 'failing', async () => {
        throw new Error('no');
      }),
    ).rejects.toThrow('no');
    expect(await lockOf(1).run('p', 'failing', async () => 'free')).toBe('free');
  });

  test('do not wait for a waiter that died', async () => {
    const [node] = nodes;
    await node?.client.zadd('callway:turn:{p:dead}:queue', 1, 'a-token-of-nobody');
    expect(await lockOf(0).run('p', 'dead', async () => 'taken')).toBe('taken');
  });
});

describe('a state that was read while the lock was on its way', () => {
  const MARKS = [
    { title: 'is the newest where the last holder left its mark', left: 'b', read: 'b', newest: true },
    { title: 'is too old where the last holder left another', left: 'b', read: 'a', newest: false },
    { title: 'is in doubt where the last holder left none', left: undefined, read: 'a', newest: false },
  ];

  test.each(MARKS)('$title', async ({ title, left, read, newest }) => {
    await lockOf(0).run('p', title, async (held) => {
      if (left !== undefined) held.leave(left);
    });
    expect(await lockOf(1).run('p', title, async (held) => held.isNewest(read))).toBe(newest);
  });

  test('the mark itself is told also to who had to wait, and forgotten by a holder that leaves none', async () => {
    const lefts = async (index: number, leave?: string) =>
      await lockOf(index).run('p', 'left', async (held) => {
        if (leave !== undefined) held.leave(leave);
        return ['a', 'b'].filter((mark) => held.isLeft(mark));
      });
    expect(await lefts(0, 'a')).toEqual([]);
    expect(await Promise.all([lefts(1, 'b'), lefts(1)])).toEqual([['a'], ['b']]);
    expect(await lefts(0)).toEqual([]);
  });

  test('is the newest where nobody has held the lock lately', async () => {
    expect(await lockOf(0).run('p', 'long-free', async (held) => held.isNewest('a'))).toBe(true);
  });

  test('is in doubt after a failure, though the holder before that left its mark', async () => {
    await lockOf(0).run('p', 'failed', async (held) => held.leave('a'));
    const failing = lockOf(0).run('p', 'failed', () => Promise.reject(new Error('no')));
    await expect(failing).rejects.toThrow('no');
    expect(await lockOf(1).run('p', 'failed', async (held) => held.isNewest('a'))).toBe(false);
  });

  test('is in doubt for who had to wait, also where the marks are the same', async () => {
    let open = () => {};
    const first = lockOf(0).run('p', 'waited', async (held) => {
      await new Promise<void>((resolve) => {
        open = resolve;
      });
      held.leave('a');
    });
    await delay(20);
    const second = lockOf(1).run('p', 'waited', async (held) => held.isNewest('a'));
    await delay(20);
    open();
    await first;
    expect(await second).toBe(false);
  });
});
