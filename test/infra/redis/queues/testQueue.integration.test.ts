import { afterAll, beforeAll, expect, test, vi } from 'vitest';
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

test('Lanes with phone cases wait for a node that places calls, and are queued once', async () => {
  const taken: string[] = [];
  const work = (channel: 'chat' | 'phone') => async (lane: { readonly lane: string }) => {
    taken.push(`${channel} took ${lane.lane}`);
    return undefined;
  };
  const queue = redisTestQueue(nodes[0]);
  const lanes = { runId: 'run', projectId: 'p', concurrency: 2, channels: ['chat', 'phone'] } as const;
  await queue.add(lanes);
  await queue.add(lanes);
  startTestWorker(nodes[0], 'chat', work('chat'), 4);
  await vi.waitFor(() => expect(taken).toHaveLength(2));
  expect((await nodes[0].depths()).get('test-calls')).toMatchObject({ waiting: 2 });

  startTestWorker(nodes[1], 'phone', work('phone'), 4);
  await vi.waitFor(() => expect(taken).toHaveLength(4));

  expect(taken.toSorted()).toEqual([
    'chat took chat-0',
    'chat took chat-1',
    'phone took phone-0',
    'phone took phone-1',
  ]);
});
