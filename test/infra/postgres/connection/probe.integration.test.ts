import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';

import { createSealer } from '../../../../src/base/sealer.ts';
import { migrate, readMigrations } from '../../../../src/infra/postgres/connection/migrate.ts';
import { openPostgres } from '../../../../src/infra/postgres/connection/postgres.ts';
import { probePostgres } from '../../../../src/infra/postgres/connection/probe.ts';
import { requireSameSealer } from '../../../../src/infra/postgres/secrets/sealerFingerprint.ts';
import { reservePort } from '../../../support/ports.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/postgres.ts';

let server: TestDatabase;

beforeAll(async () => {
  server = await createTestDatabase();
});
afterAll(() => server.drop());

it('describes an empty database, and one that Callway has used', async () => {
  expect(await probePostgres(server.url)).toEqual({
    version: expect.stringMatching(/^\d+\.\d+$/),
    majorVersion: expect.any(Number),
    vector: 'installed',
    isSuperuser: expect.any(Boolean),
    migrations: undefined,
    sealerFingerprint: undefined,
  });

  const migrations = await readMigrations(fileURLToPath(new URL('../../../../migrations/', import.meta.url)));
  const sealer = createSealer(Buffer.alloc(32, 7));
  const database = openPostgres({ url: server.url, onIdleError: () => undefined });
  await migrate(database, migrations);
  await requireSameSealer(database, sealer);
  await database.query('DROP EXTENSION vector CASCADE');
  await database.close();

  const facts = await probePostgres(server.url);
  expect(facts.migrations).toEqual(new Map(migrations.map(({ version, checksum }) => [version, checksum])));
  expect(facts.sealerFingerprint).toBe(sealer.fingerprint);
  expect(facts.vector).toBe('available');
  expect(facts.majorVersion).toBe(Number(facts.version.split('.')[0]));
});

it('rejects when the server is unreachable', async () => {
  const url = `postgres://127.0.0.1:${await reservePort()}/x`;
  await expect(probePostgres(url)).rejects.toMatchObject({ code: 'database_unavailable' });
});
