import { expect, onTestFinished, test } from 'vitest';

import { connectRedis } from '../../../../src/infra/redis/connection/connection.ts';
import { reservePort } from '../../../support/ports.ts';

test('untilReady gives up without an error when Redis is unreachable; onError gets the reason', async () => {
  const errors: string[] = [];
  const url = `redis://127.0.0.1:${await reservePort()}`;
  const connection = connectRedis({ url, onError: ({ message }) => errors.push(message) });
  onTestFinished(() => connection.close());
  await connection.untilReady();
  expect(connection.isReady()).toBe(false);
  expect(errors[0]).toContain('ECONNREFUSED');
});
