import { setTimeout as delay } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { systemClock } from '../../../src/base/values/clock.ts';
import { uuidV7 } from '../../../src/base/values/ids.ts';
import type { SlotHolders } from '../../../src/calls/limits/slotHolders.ts';
import type { NodeMessage } from '../../../src/calls/nodes/nodeBus.ts';
import { type Trunk, trunkInput } from '../../../src/calls/trunks/trunk.ts';
import type { StreamedEvent } from '../../../src/events/eventFeed.ts';
import { connectRedis, type RedisConnection } from '../../../src/infra/redis/connection/connection.ts';
import { RedisEventFeed } from '../../../src/infra/redis/events/eventFeed.ts';
import { redisEventLog } from '../../../src/infra/redis/events/eventLog.ts';
import { LiveEventPublisher } from '../../../src/infra/redis/events/publisher.ts';
import { redisTrunkSlots } from '../../../src/infra/redis/limits/leasedSlots.ts';
import { redisLeases } from '../../../src/infra/redis/locks/leases.ts';
import { redisNumberLock } from '../../../src/infra/redis/locks/numberLock.ts';
import { redisNodeBus } from '../../../src/infra/redis/nodes/nodeBus.ts';
import { redisTrunkHealth } from '../../../src/infra/redis/nodes/trunkHealth.ts';
import { redisTurnCheckpoints } from '../../../src/infra/redis/nodes/turnCheckpoints.ts';
import { unused } from '../../support/unused.ts';
import { useCluster } from './support/servers.ts';

const NUMBER = '+886912345678';
/** No call is stored. */
const NO_CALLS = unused<SlotHolders>('slotHolders', { ofTrunk: async () => [] });

const makeTrunk = (change: Partial<Trunk> = {}): Trunk => ({
  ...trunkInput.parse({ name: 't', host: 'h' }),
  id: uuidV7(),
  projectId: 'p',
  createdAt: '',
  updatedAt: '',
  ...change,
});

describe('On a cluster', () => {
  const cluster = useCluster();
  let here: RedisConnection;
  let there: RedisConnection;
  beforeAll(() => {
    [here, there] = cluster.nodes;
  });

  test('A turn checkpoint is read on another node with its age, replaced, and dropped', async () => {
    const instanceId = uuidV7();
    const checkpoint = { turn: 3, at: '2026-01-01T00:00:00.000Z', nodeId: null, said: 'Yes', heard: '' };
    expect(await redisTurnCheckpoints(there).find(instanceId)).toBeUndefined();
    await redisTurnCheckpoints(here).put(instanceId, checkpoint);
    await redisTurnCheckpoints(here).put(instanceId, { ...checkpoint, heard: 'Well' });
    await delay(30);
    const found = await redisTurnCheckpoints(there).find(instanceId);
    expect(found?.checkpoint).toEqual({ ...checkpoint, heard: 'Well' });
    expect(found?.ageMs).toBeGreaterThanOrEqual(20);
    await redisTurnCheckpoints(there).drop(instanceId);
    expect(await redisTurnCheckpoints(here).find(instanceId)).toBeUndefined();
  });

  describe('A number lock', () => {
    const keysOf = async (projectId: string) =>
      (await here.client.keys(`callway:number:{${projectId}:*`)).sort();

    test('goes to one of many calls of two nodes, with a growing token', async () => {
      const locks = [redisNumberLock(here), redisNumberLock(there)];
      const projectId = uuidV7();
      const tokens: number[] = [];
      for (let round = 0; round < 5; round += 1) {
        const takes = await Promise.all(
          Array.from({ length: 10 }, async (_, index) => ({
            call: `call-${index}`,
            token: await locks[index % 2]?.acquire(projectId, NUMBER, `call-${index}`),
          })),
        );
        const [taken, ...others] = takes.filter(({ token }) => token !== undefined);
        expect(others).toEqual([]);
        tokens.push(taken?.token ?? 0);
        await locks[0]?.release(projectId, NUMBER, taken?.call ?? '');
      }
      expect(tokens).toEqual([1, 2, 3, 4, 5]);
    });

    test('can be taken again by its holder, and is independent of other numbers and projects', async () => {
      const lock = redisNumberLock(here);
      const projectId = uuidV7();
      expect(await lock.acquire(projectId, NUMBER, 'one')).toBe(1);
      expect(await lock.acquire(projectId, NUMBER, 'one')).toBe(2);
      expect(await lock.acquire(projectId, NUMBER, 'two')).toBeUndefined();
      expect(await lock.acquire(projectId, '+886900000000', 'two')).toBe(1);
      expect(await lock.acquire(uuidV7(), NUMBER, 'two')).toBe(1);
    });

    test('leaves a token counter that expires a week after the last call', async () => {
      const lock = redisNumberLock(here);
      const projectId = uuidV7();
      const weekMs = 7 * 24 * 3_600_000;
      for (const call of ['one', 'two']) {
        await lock.acquire(projectId, NUMBER, call);
        await lock.release(projectId, NUMBER, call);
        const [counter = ''] = await keysOf(projectId);
        expect(counter).toMatch(/:token$/);
        expect(counter).not.toContain(NUMBER);
        expect(await here.client.pttl(counter)).toBeGreaterThan(weekMs - 60_000);
        expect(await here.client.pttl(counter)).toBeLessThanOrEqual(weekMs);
        await here.client.pexpire(counter, 5_000);
      }
    });

    test('is freed and renewed by its holder only', async () => {
      const lock = redisNumberLock(here);
      const projectId = uuidV7();
      await lock.acquire(projectId, NUMBER, 'one');
      expect(await lock.renew(projectId, NUMBER, 'two')).toBe(false);
      await lock.release(projectId, NUMBER, 'two');
      expect(await lock.acquire(projectId, NUMBER, 'two')).toBeUndefined();
      expect(await lock.renew(projectId, NUMBER, 'one')).toBe(true);
      await lock.release(projectId, NUMBER, 'one');
      expect(await lock.renew(projectId, NUMBER, 'one')).toBe(false);
    });

    test('of a call that is not stored expires after seconds', async () => {
      const lock = redisNumberLock(here);
      const projectId = uuidV7();
      await lock.acquire(projectId, NUMBER, 'never kept');
      const [key = ''] = await keysOf(projectId);
      const leftMs = await here.client.pttl(key);
      expect(leftMs).toBeGreaterThan(10_000);
      expect(leftMs).toBeLessThanOrEqual(15_000);
    });

    test('expires a minute after the last renewal', async () => {
      const lock = redisNumberLock(here);
      const projectId = uuidV7();
      await lock.acquire(projectId, NUMBER, 'dead');
      const [key = ''] = await keysOf(projectId);
      await here.client.pexpire(key, 5_000);
      await lock.renew(projectId, NUMBER, 'dead');
      const leftMs = await here.client.pttl(key);
      expect(leftMs).toBeGreaterThan(55_000);
      expect(leftMs).toBeLessThanOrEqual(60_000);
      await here.client.pexpire(key, 1);
      await delay(20);
      expect(await redisNumberLock(there).acquire(projectId, NUMBER, 'next')).toBe(2);
      expect(await lock.renew(projectId, NUMBER, 'dead')).toBe(false);
    });
  });

  describe('Trunk channels', () => {
    test('are limited over two nodes', async () => {
      const slots = [redisTrunkSlots(here, NO_CALLS), redisTrunkSlots(there, NO_CALLS)];
      const trunk = makeTrunk({ maxChannels: 5 });
      const waits = await Promise.all(
        Array.from({ length: 20 }, (_, index) =>
          slots[index % 2]?.acquire(trunk, `call-${index}`, 'inbound'),
        ),
      );
      expect(waits.filter((wait) => wait === 0)).toHaveLength(5);
      expect(new Set(waits)).toEqual(new Set([0, 1500]));
      expect(await slots[0]?.inUse(trunk.id)).toBe(5);
    });

    test('are free when their calls end or stop renewing', async () => {
      const slots = redisTrunkSlots(here, NO_CALLS);
      const trunk = makeTrunk({ maxChannels: 2 });
      const key = `callway:trunk:{${trunk.id}}:channels`;
      await slots.acquire(trunk, 'ends', 'inbound');
      await slots.acquire(trunk, 'dies', 'inbound');
      expect(await slots.acquire(trunk, 'waits', 'inbound')).toBe(1500);
      expect(await slots.acquire(trunk, 'dies', 'inbound')).toBe(0);
      await slots.release(trunk.id, 'ends');
      expect(await slots.inUse(trunk.id)).toBe(1);
      await here.client.zadd(key, 'XX', 1, 'dies');
      expect(await slots.inUse(trunk.id)).toBe(0);
      await slots.acquire(trunk, 'lives', 'inbound');
      await here.client.zadd(key, 'XX', Date.now() + 500, 'lives');
      await slots.renew(trunk.id, 'lives');
      const leaseMs = Number(await here.client.zscore(key, 'lives')) - Date.now();
      expect(leaseMs).toBeGreaterThan(55_000);
      expect(leaseMs).toBeLessThanOrEqual(61_000);
      expect(await slots.inUse(uuidV7())).toBe(0);
    });

    test('that Redis has lost are taken again by the renewals of their calls', async () => {
      const slots = redisTrunkSlots(here, NO_CALLS);
      const trunk = makeTrunk({ maxChannels: 2 });
      await slots.acquire(trunk, 'one', 'inbound');
      await slots.acquire(trunk, 'two', 'inbound');
      await here.client.del(`callway:trunk:{${trunk.id}}:channels`);
      await slots.renew(trunk.id, 'one');
      await slots.renew(trunk.id, 'two');
      expect(await slots.acquire(trunk, 'three', 'inbound')).toBe(1500);
      expect(await slots.inUse(trunk.id)).toBe(2);
    });

    test.each([
      ['Redis was emptied', async (redis: Redis) => redis.flushdb()],
      [
        'a lease expired and was not released',
        async (redis: Redis, name: string) => redis.zadd(name, 'XX', 1, 'one'),
      ],
      [
        'another server took over, without the latest entries',
        async (redis: Redis, name: string) => {
          await redis.zrem(name, 'one');
          await redis.set(`${name}:trust`, 'the server that failed', 'KEEPTTL');
        },
      ],
    ])('are counted from the stored calls where %s', async (_what, lose) => {
      const stored: string[] = [];
      const asked: string[][] = [];
      const holders = unused<SlotHolders>('slotHolders', {
        async ofTrunk(...which: string[]) {
          asked.push(which);
          return stored;
        },
      });
      const slots = [redisTrunkSlots(here, holders), redisTrunkSlots(there, holders)];
      const trunk = makeTrunk({ maxChannels: 3 });
      for (const call of ['one', 'two']) {
        await slots[0]?.acquire(trunk, call, 'inbound');
        stored.push(call);
      }
      asked.length = 0;
      await lose(here.client as Redis, `callway:trunk:{${trunk.id}}:channels`);
      const waits = await Promise.all(
        [0, 1, 0, 1].map((node, index) => slots[node]?.acquire(trunk, `next-${index}`, 'inbound')),
      );
      expect(waits.filter((wait) => wait === 0)).toHaveLength(1);
      expect(asked[0]).toEqual(['p', trunk.id]);
      const asks = asked.length;
      await slots[1]?.acquire(trunk, 'last', 'inbound');
      expect(asked).toHaveLength(asks);
      expect(await slots[0]?.inUse(trunk.id)).toBe(3);
    });

    test('are refused to new calls while lost ones cannot be counted', async () => {
      const slots = redisTrunkSlots(
        here,
        unused<SlotHolders>('slotHolders', {
          ofTrunk: () => Promise.reject(new Error('the database is away')),
        }),
      );
      await expect(slots.acquire(makeTrunk(), 'call', 'inbound')).rejects.toThrow('the database is away');
    });

    test('start new outbound calls evenly at the calls per second of the trunk, over two nodes', async () => {
      const slots = [redisTrunkSlots(here, NO_CALLS), redisTrunkSlots(there, NO_CALLS)];
      const trunk = makeTrunk({ callsPerSecond: 4 });
      const waits = await Promise.all(
        Array.from({ length: 6 }, (_, index) =>
          slots[index % 2]?.acquire(trunk, `call-${index}`, 'outbound'),
        ),
      );
      expect(waits.filter((wait) => wait === 0)).toHaveLength(1);
      for (const wait of waits) expect(wait).toBeLessThanOrEqual(253);
      const [wait = 0] = waits.filter((one) => one !== 0);
      expect(wait).toBeGreaterThan(0);
      expect(await slots[0]?.acquire(trunk, 'in', 'inbound')).toBe(0);
      // 1 % more than a quarter of a second, so that no second has a fifth call.
      const key = `callway:trunk:{${trunk.id}}:channels`;
      const [, leaseEnd] = await here.client.zrange(key, 0, 0, 'WITHSCORES');
      const next = await here.client.hget(`${key}:turns`, 'next');
      expect(Number(next) - (Number(leaseEnd) - 60_000)).toBeCloseTo(252.5);
      await delay(wait + 10);
      expect(await slots[1]?.acquire(trunk, 'later', 'outbound')).toBe(0);
      expect(await slots[0]?.acquire(makeTrunk({ callsPerSecond: 0.1 }), 'slow', 'outbound')).toBe(0);
    });

    test.each([
      ['a call that waited and came late does not delay the next', { awaited: 1 }, 2],
      ['a call that did not wait does', {}, 1],
    ])('%s', async (_, awaited, atOnce) => {
      const slots = redisTrunkSlots(here, NO_CALLS);
      const trunk = makeTrunk({ callsPerSecond: 2 });
      const [seconds, microseconds] = await here.client.time();
      const next = Number(seconds) * 1000 + Number(microseconds) / 1000 - 550;
      await here.client.hset(`callway:trunk:{${trunk.id}}:channels:turns`, { next, ...awaited });
      const waits = await Promise.all(['a', 'b', 'c'].map((id) => slots.acquire(trunk, id, 'outbound')));
      expect(waits.filter((wait) => wait === 0)).toHaveLength(atOnce);
      expect(waits.at(-1)).toBeGreaterThan(0);
    });
  });

  test('A trunk’s health is read by all nodes, and unknown before the first check', async () => {
    const serviceRoute = ['sip:orig@192.0.2.1;lr'];
    const seen = { reachable: false, registered: true, lastOptionsMs: 12, error: 'no answer', serviceRoute };
    const [known, unknown, foreign] = [uuidV7(), uuidV7(), uuidV7()];
    await redisTrunkHealth(here).publish(known, seen);
    await here.client.set(`callway:trunk:{${foreign}}:health`, '{"reachable":"yes"}');
    const nothing = {
      ...seen,
      reachable: null,
      registered: null,
      lastOptionsMs: null,
      error: null,
      serviceRoute: [],
    };
    expect(await redisTrunkHealth(there).read([known, unknown, foreign])).toEqual(
      new Map<string, object>([
        [known, seen],
        [unknown, nothing],
        [foreign, nothing],
      ]),
    );
  });

  test('A lease is held by one node until it is released or expires', async () => {
    const [one, two] = [redisLeases(here, 'one'), redisLeases(there, 'two')];
    const name = uuidV7();
    const held = await Promise.all([one.hold(name, 5_000), two.hold(name, 5_000)]);
    expect(held.filter(Boolean)).toHaveLength(1);
    const [holder, other] = held[0] ? [one, two] : [two, one];
    expect(await holder.hold(name, 5_000)).toBe(true);
    await other.release(name);
    expect(await other.hold(name, 5_000)).toBe(false);
    await holder.release(name);
    expect(await other.hold(name, 20)).toBe(true);
    await delay(40);
    expect(await holder.hold(name, 5_000)).toBe(true);
  });

  test('Nodes receive each other’s messages and their own, and ignore unknown ones', async () => {
    const connect = () => connectRedis({ url: cluster.url, onError: () => undefined });
    const [first, second] = [connect(), connect()];
    const onError = vi.fn();
    const buses = [
      redisNodeBus({ publisher: here, subscriber: first, onError }),
      redisNodeBus({ publisher: there, subscriber: second, onError }),
    ];
    const heard: [number, NodeMessage][] = [];
    const leave = buses.map((bus, index) => bus.subscribe((message) => heard.push([index, message])));
    await Promise.all([first.untilReady(), second.untilReady()]);
    await vi.waitFor(async () => {
      await buses[0]?.publish({ kind: 'trunks' });
      expect(new Set(heard.map(([index]) => index))).toEqual(new Set([0, 1]));
    });
    heard.length = 0;
    await here.client.publish('callway:nodes:0', '{"kind":"of tomorrow"}');
    const request = { name: 'transfer', argument: { to: '+886912345678' } } as const;
    await buses[1]?.publish({ kind: 'call_request', callId: 'c', requestId: 'r', request });
    await vi.waitFor(() => expect(heard.filter(([, { kind }]) => kind === 'call_request')).toHaveLength(2));
    leave[0]?.();
    heard.length = 0;
    await buses[0]?.publish({ kind: 'hangup', callId: 'c' });
    await vi.waitFor(() => expect(heard).toEqual([[1, { kind: 'hangup', callId: 'c' }]]));
    expect(onError).not.toHaveBeenCalled();
    leave[1]?.();
    await Promise.all([first.close(), second.close()]);
  });

  test('Events are kept in order for those who come back, and interim ones are not', async () => {
    const log = redisEventLog(here);
    const projectId = uuidV7();
    expect(await log.newest(projectId)).toBe('0-0');
    const lost: unknown[] = [];
    const published: string[] = [];
    const publisher = new LiveEventPublisher({
      log,
      clock: systemClock,
      onPublished: ({ id }) => published.push(id),
      onError: (error) => lost.push(error),
    });
    const said = (text: string) => ({ turn: 1, text, input: 'words' as const });
    for (const text of ['one', 'two', 'three'])
      publisher.publish({ type: 'turn.user', projectId, sessionId: 's', data: said(text) });
    publisher.publish({ type: 'transcript.interim', projectId, sessionId: 's', data: { text: 'fo' } });
    await publisher.close();
    const kept = await redisEventLog(there).after(projectId, '0-0', 10);
    expect(kept.map(({ text }) => JSON.parse(text).data.text)).toEqual(['one', 'two', 'three']);
    expect(kept.map(({ id }) => id)).toEqual(published);
    const [first = { id: '' }, , third = { id: '' }] = kept;
    expect(await log.after(projectId, first.id, 1)).toEqual(kept.slice(1, 2));
    expect(await log.newest(projectId)).toBe(third.id);
    expect([await log.has(projectId, first.id), await log.has(projectId, '1-0')]).toEqual([true, false]);
    expect(await log.after(uuidV7(), '0-0', 10)).toEqual([]);
    expect(lost).toEqual([]);
  });

  test('Streams of another node hear events as they happen, and know when they may have missed some', async () => {
    const subscriber = connectRedis({ url: cluster.url, onError: () => undefined });
    await subscriber.untilReady();
    const feed = new RedisEventFeed({ log: redisEventLog(there), subscriber, onError: () => undefined });
    const projectId = uuidV7();
    const heard: string[] = [];
    const onGap = vi.fn();
    const listener = { onEvent: ({ id, type }: StreamedEvent) => void heard.push(`${type} ${id}`), onGap };
    const stop = await feed.listen(projectId, listener);
    const log = redisEventLog(here);
    const id = await log.append(projectId, '{"type":"call.ended"}');
    await log.append(uuidV7(), '{"type":"call.queued"}');
    await log.announce(projectId, '{"type":"transcript.interim"}');
    await vi.waitFor(() => expect(heard).toHaveLength(2));
    expect(heard[0]).toBe(`call.ended ${id}`);
    expect(heard[1]).toMatch(new RegExp(`^transcript.interim ${id}\\.\\d+$`));

    subscriber.client.disconnect(true);
    await vi.waitFor(() => expect(onGap).toHaveBeenCalled());
    await log.append(projectId, '{"type":"call.queued"}');
    await vi.waitFor(() => expect(heard).toHaveLength(3));
    stop();
    await log.append(projectId, '{"type":"call.ringing"}');
    expect(await feed.newest(projectId)).not.toBe(id);
    expect(heard).toHaveLength(3);
    await subscriber.close();
  });
});
