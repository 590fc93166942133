import { Redis } from 'ioredis';
import { expect, onTestFinished, test, vi } from 'vitest';

import { openJobs } from '../../../src/app/node/stores.ts';
import { redisTestQueue, startTestWorker } from '../../../src/infra/redis/queues/testQueue.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { startRedis } from '../../support/redis.ts';

const WATCHED_MS = 2_500;

test('Workers whose Redis refuses writes log one line a second', async () => {
  const server = await startRedis();
  onTestFinished(() => server.close());
  const lines: string[] = [];
  const jobs = openJobs(server.url, createLogger('info', { write: (line) => void lines.push(line) }));
  const client = new Redis(server.url);
  onTestFinished(async () => {
    client.disconnect();
    await jobs.close();
  });
  startTestWorker(jobs, 'chat', async () => undefined, 1);
  startTestWorker(jobs, 'phone', async () => undefined, 1);
  await redisTestQueue(jobs).add({ runId: 'run', projectId: 'p', concurrency: 1, channels: ['chat'] });
  await client.config('SET', 'min-replicas-to-write', '1');
  await vi.waitFor(() => expect(lines.join('')).toContain('NOREPLICAS'), 10_000);
  lines.length = 0;
  await new Promise((resolve) => setTimeout(resolve, WATCHED_MS));
  expect(lines.length).toBeLessThanOrEqual(Math.ceil(WATCHED_MS / 1000));
  await client.config('SET', 'min-replicas-to-write', '0');
});
