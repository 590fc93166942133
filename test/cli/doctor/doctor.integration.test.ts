import { expect, it } from 'vitest';

import { reservePort } from '../../support/ports.ts';
import { createTestDatabase } from '../../support/postgres.ts';
import { redisDatabase } from '../../support/redis.ts';
import { tempDir } from '../../support/tempDir.ts';
import { cli } from '../support.ts';

/** Ports that nothing else binds. Those of the default RTP range may be taken for outgoing connections at any moment. */
async function ports(): Promise<Record<string, string>> {
  const rtp = await reservePort();
  return {
    PORT: String(await reservePort()),
    SIP_PORT: String(await reservePort()),
    RTP_PORT_MIN: String(rtp),
    RTP_PORT_MAX: String(rtp + 1),
  };
}

it('callway doctor warns of nothing but offline speech on a working machine', async () => {
  const [database, redis] = await Promise.all([createTestDatabase(), redisDatabase()]);
  const { code, out } = await cli(['doctor'], {
    ...(await ports()),
    DATA_DIR: tempDir(),
    DATABASE_URL: database.url,
    REDIS_URL: redis.url,
    SECRETS_KEY: '0'.repeat(64),
  });
  await Promise.all([database.drop(), redis.drop()]);

  expect(out).toMatch(/^\d+ ok, 1 warnings, 0 failed$/m);
  expect(out).toMatch(/^WARN +speech recognition/m);
  expect(out).toMatch(/^ok +database +postgres:\/\/.*, Postgres \d+/m);
  expect(out).toMatch(/^ok +migrations +\d+ of \d+ will run at the next start$/m);
  expect(out).toMatch(/^ok +Redis +redis:\/\/\S+, version \d/m);
  expect(code).toBe(0);
});

it('callway doctor exits with 1 when a check fails; --json prints the findings', async () => {
  const url = `redis://:hidden@127.0.0.1:${await reservePort()}`;
  const { code, out } = await cli(['doctor', '--json'], {
    ...(await ports()),
    DATA_DIR: tempDir(),
    REDIS_URL: url,
  });

  expect(code).toBe(1);
  expect(JSON.parse(out)).toContainEqual(
    expect.objectContaining({
      name: 'Redis',
      status: 'fail',
      message: expect.stringContaining('connection refused'),
    }),
  );
  expect(out).not.toContain('hidden');
});

it('callway doctor lists all invalid settings and runs no other checks', async () => {
  const { code, out } = await cli(['doctor'], { PORT: 'http', RTP_PORT_MIN: '70000' });

  expect(code).toBe(1);
  expect(out).toMatch(/^FAIL +settings +PORT must be a whole number/m);
  expect(out).toMatch(/^FAIL +settings +RTP_PORT_MIN must be a whole number/m);
  expect(out).not.toContain('Redis');
});
