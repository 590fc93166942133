import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { type JobQueues, openJobQueues } from '../../../../src/infra/redis/queues/jobQueues.ts';
import { redisTestQueue, startTestWorker } from '../../../../src/infra/redis/queues/testQueue.ts';
import { redisServers, type TestRedis } from '../support/servers.ts';

let server: TestRedis;
let nodes: [JobQueues, JobQueues];
beforeAll(async () => {
  const [redis] = redisServers;
  if (!redis) throw new Error('there is no Redis to test with');
  server = await redis.open();
  nodes = [1, 2].map(() => openJobQueues({ url: server.url, onError: () => undefined })) as typeof nodes;
});
afterAll(async () => {
  await Promise.all(nodes.map((node) => node.close()));
  await server.close();
});

test('TestJobs with phone cases wait for a node that places calls, and are queued once', async () => {
  const taken: string[] = [];
  const work = (channel: 'chat' | 'phone') => async (job: { readonly lane: string }) => {
    taken.push(`${channel} took ${job.lane}`);
    return undefined;
  };
  const queue = redisTestQueue(nodes[0]);
  const jobs = { runId: 'run', projectId: 'p', concurrency: 2, channels: ['chat', 'phone'] } as const;
  await queue.add(jobs);
  await queue.add(jobs);
  const chats = startTestWorker(nodes[0], 'chat', work('chat'), 4);
  onTestFinished(() => chats.close());
  await vi.waitFor(() => expect(taken).toHaveLength(2));
  expect((await nodes[0].depths()).get('test-calls')).toMatchObject({ waiting: 2 });

  const calls = startTestWorker(nodes[1], 'phone', work('phone'), 4);
  onTestFinished(() => calls.close());
  await vi.waitFor(() => expect(taken).toHaveLength(4));

  expect(taken.toSorted()).toEqual([
    'chat took chat-0',
    'chat took chat-1',
    'phone took phone-0',
    'phone took phone-1',
  ]);
});

test('A job that is put off again and again runs once at a time, even where its last run outlasts its lock', async () => {
  const lockMs = 3_000;
  const again = 100;
  const jobs = openJobQueues({ url: server.url, lockMs, onError: () => undefined });
  onTestFinished(() => jobs.close());
  const runs = new Map<string, number>();
  const running = new Set<string>();
  const ended: string[] = [];
  const overlaps: string[] = [];
  const work = async ({ lane }: { readonly lane: string }) => {
    const run = (runs.get(lane) ?? 0) + 1;
    runs.set(lane, run);
    if (running.has(lane)) overlaps.push(`${lane} in run ${run}`);
    running.add(lane);
    if (run === again) await delay(2 * lockMs + 1_000);
    running.delete(lane);
    if (run < again) return { afterMs: 0 };
    ended.push(lane);
    return undefined;
  };
  startTestWorker(jobs, 'phone', work, 20);
  await redisTestQueue(jobs).add({ runId: 'long', projectId: 'p', concurrency: 10, channels: ['phone'] });
  await vi.waitFor(() => expect(ended).toHaveLength(10), { timeout: 50_000 });
  expect(overlaps).toEqual([]);
  expect([...runs.values()]).toEqual(Array(10).fill(again));
});
