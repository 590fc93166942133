import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

import { createSealer } from '../../src/base/sealer.ts';
import { migrate, readMigrations } from '../../src/infra/postgres/connection/migrate.ts';
import { openPostgres } from '../../src/infra/postgres/connection/postgres.ts';
import { requireSameSealer } from '../../src/infra/postgres/secrets/sealerFingerprint.ts';
import { MIGRATIONS } from '../infra/postgres/support/databases.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { tempDir } from '../support/tempDir.ts';
import { cli } from './support.ts';

const [OLD, NEW] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
const base64 = (key: Buffer) => key.toString('base64');

test('secrets reseal changes the key of a shared database', async () => {
  const { url, drop } = await createTestDatabase();
  onTestFinished(drop);
  const settings = { DATABASE_URL: url, DATA_DIR: tempDir() };
  const reseal = (more: Record<string, string>) => cli(['secrets', 'reseal'], { ...settings, ...more });

  const early = await reseal({ SECRETS_KEY: base64(NEW) });
  expect([early.code, early.err]).toEqual([1, 'The service has never been started with this database.\n']);
  const database = openPostgres({ url, onIdleError: () => undefined });
  onTestFinished(() => database.close());
  await migrate(database, await readMigrations(MIGRATIONS));
  await requireSameSealer(database, createSealer(OLD));

  const without = await reseal({});
  expect([without.code, without.err]).toEqual([78, expect.stringContaining('SECRETS_KEY is not set')]);
  const keys = { SECRETS_KEY: base64(NEW), SECRETS_KEY_PREVIOUS: `${base64(OLD)}, ${OLD.toString('hex')}` };
  const done = await reseal(keys);
  expect([done.code, done.err]).toEqual([0, '']);
  expect(done.out).toContain('All secrets are now encrypted with SECRETS_KEY');
  await requireSameSealer(database, createSealer(NEW));
});

test('secrets reseal refuses a folder that a running service uses', async () => {
  const folder = tempDir();
  mkdirSync(folder, { recursive: true });
  const holder = { token: 'theirs', pid: process.ppid, host: (await import('node:os')).hostname() };
  writeFileSync(join(folder, 'callway.lock'), JSON.stringify(holder));
  const { code, err } = await cli(['secrets', 'reseal'], { DATA_DIR: folder, SECRETS_KEY: base64(NEW) });
  expect([code, err]).toEqual([69, expect.stringContaining('is in use by another Callway')]);
});
