import { expect, onTestFinished, test, vi } from 'vitest';

import { systemClock } from '../../../../src/base/values/clock.ts';
import { connectRedis } from '../../../../src/infra/redis/connection/connection.ts';
import { startRedis } from '../../../support/redis.ts';

test('Commands to a silent server fail at once when it is known to be down, until it is back', async () => {
  const redis = await startRedis();
  onTestFinished(() => redis.close());
  const health = { clock: systemClock, onChange: () => undefined };
  const connection = connectRedis({ url: redis.url, onError: () => undefined, health });
  onTestFinished(() => connection.close());
  await connection.untilReady();

  redis.pause();
  await vi.waitFor(() => expect(connection.isReady()).toBe(false));
  await expect(connection.client.get('key')).rejects.toThrow('writeable');

  redis.resume();
  await vi.waitFor(() => expect(connection.isReady()).toBe(true));
  expect(await connection.client.get('key')).toBeNull();
});
