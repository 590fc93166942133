import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { requireSentinelMaster } from '../../../../src/infra/redis/connection/sentinel.ts';
import { type Child, startChild, waitUntilReady } from '../../../support/child.ts';
import { reservePort } from '../../../support/ports.ts';
import { makeTempDir } from '../../../support/tempDir.ts';

const READY_TIMEOUT_MS = 15_000;

/** A Redis Sentinel that monitors one master, `known`, which does not exist. */
async function startSentinel() {
  const folder = makeTempDir();
  const port = await reservePort();
  const file = join(folder.path, 'sentinel.conf');
  const settings = [
    `port ${port}`,
    'bind 127.0.0.1',
    `dir ${folder.path}`,
    'sentinel monitor known 127.0.0.1 9 1',
  ];
  writeFileSync(file, `${settings.join('\n')}\n`);
  const child: Child = await startChild('redis-server', [file, '--sentinel'], { folder: folder.path });
  const isReady = () => child.lines.some((line) => line.includes('Sentinel ID is'));
  await waitUntilReady('redis-server', child, isReady, READY_TIMEOUT_MS);
  return {
    address: `127.0.0.1:${port}`,
    async close() {
      child.kill('SIGKILL');
      await child.ended;
      folder.remove();
    },
  };
}

describe('a Sentinel', () => {
  let sentinel: Awaited<ReturnType<typeof startSentinel>>;
  let unreachable: string;
  beforeAll(async () => {
    sentinel = await startSentinel();
    unreachable = `127.0.0.1:${await reservePort()}`;
  });
  afterAll(() => sentinel.close());

  test('is enough when it knows the master; others may be unreachable', async () => {
    await requireSentinelMaster(`redis+sentinel://${unreachable},${sentinel.address}/known`);
  });

  test('that does not know the master is reported by the setting’s name', async () => {
    await expect(
      requireSentinelMaster(`redis+sentinel://${sentinel.address},${unreachable}/unknown`),
    ).rejects.toMatchObject({
      name: 'ConfigurationError',
      message: 'REDIS_URL: names the master unknown, which its Sentinels do not know',
    });
  });

  test('is ignored when it is unreachable, and so are other kinds of Redis', async () => {
    await requireSentinelMaster(`redis+sentinel://${unreachable}/unknown`);
    await requireSentinelMaster(`redis://${unreachable}/1`);
  });
});
