import { Redis } from 'ioredis';
import { expect, onTestFinished, test, vi } from 'vitest';

import { openWakeups } from '../../../src/infra/redis/wakeups.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { startRedis } from '../../support/redis.ts';

const WATCHED_MS = 2_500;

test('Workers whose Redis refuses writes log one line a second', async () => {
  const server = await startRedis();
  onTestFinished(() => server.close());
  const lines: string[] = [];
  const logger = createLogger('info', { write: (line) => void lines.push(line) });
  const wakeups = openWakeups({ url: server.url, onError: (err) => logger.warn({ err }, 'failed') });
  const client = new Redis(server.url);
  onTestFinished(async () => {
    client.disconnect();
    await wakeups.close();
  });
  wakeups.listen('letters', () => undefined);
  wakeups.listen('parcels', () => undefined);
  await wakeups.announce('letters', 'a');
  await client.config('SET', 'min-replicas-to-write', '1');
  await vi.waitFor(() => expect(lines.join('')).toContain('NOREPLICAS'), 10_000);
  lines.length = 0;
  await new Promise((resolve) => setTimeout(resolve, WATCHED_MS));
  expect(lines.length).toBeLessThanOrEqual(Math.ceil(WATCHED_MS / 1000));
  await client.config('SET', 'min-replicas-to-write', '0');
});
