import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import type { Database } from '../../../../src/infra/postgres/connection/database.ts';
import {
  type Migration,
  migrate,
  OtherBuildError,
  readMigrations,
} from '../../../../src/infra/postgres/connection/migrate.ts';
import { openPostgres } from '../../../../src/infra/postgres/connection/postgres.ts';
import { createTestDatabase } from '../../../support/postgres.ts';
import { tempDir } from '../../../support/tempDir.ts';
import { databases, MIGRATIONS, OPEN_TIMEOUT_MS } from '../support/databases.ts';

const migration = (version: number, sql: string): Migration => ({
  version,
  name: `number_${version}`,
  sql,
  checksum: createHash('sha256').update(sql).digest('hex'),
});
const FIRST = migration(1, 'CREATE TABLE one (id int); INSERT INTO one VALUES (1);');
const SECOND = migration(2, 'CREATE TABLE two (id int);');
const count = async (database: Database, table: string) =>
  (await database.query(`SELECT 1 FROM ${table}`)).length;

describe.each(databases)('Migrations on the $name database', { timeout: OPEN_TIMEOUT_MS }, ({ open }) => {
  let database: Database;
  let close: () => Promise<void>;
  beforeAll(async () => {
    ({ database, close } = await open());
  }, OPEN_TIMEOUT_MS);
  afterAll(() => close());
  beforeEach(async () => {
    await database.query('DROP SCHEMA public CASCADE');
    await database.query('CREATE SCHEMA public');
  });

  test('run once, in order, and later ones later', async () => {
    expect(await migrate(database, [FIRST])).toEqual(['number_1']);
    expect(await migrate(database, [FIRST])).toEqual([]);
    expect(await migrate(database, [FIRST, SECOND])).toEqual(['number_2']);
    expect(await count(database, 'one')).toBe(1);
  });

  test('that fail change nothing and can be fixed', async () => {
    const broken = migration(2, 'CREATE TABLE two (id int); SELECT nonsense;');

    await expect(migrate(database, [FIRST, broken])).rejects.toThrow('nonsense');

    await expect(count(database, 'two')).rejects.toThrow();
    expect(await migrate(database, [FIRST, SECOND])).toEqual(['number_2']);
  });

  test('of an unreleased build are refused, and nothing changes', async () => {
    await migrate(database, [FIRST]);

    const changed = migrate(database, [{ ...SECOND, version: 1 }, SECOND]);

    await expect(changed).rejects.toThrow(OtherBuildError);
    await expect(count(database, 'two')).rejects.toThrow();
    expect(await migrate(database, [FIRST])).toEqual([]);
  });

  test('of a newer release are left as they are', async () => {
    await migrate(database, [FIRST, SECOND]);

    expect(await migrate(database, [FIRST])).toEqual([]);
    expect(await count(database, 'schema_migrations')).toBe(2);
  });
});

test('run once when several nodes start on one server', async () => {
  const { url, drop } = await createTestDatabase();
  const nodes = Array.from({ length: 4 }, () => openPostgres({ url, onIdleError: () => undefined }));
  const migrations = await readMigrations(MIGRATIONS);

  const done = await Promise.all(nodes.map((node) => migrate(node, migrations)));

  expect(done.flat().sort()).toEqual(migrations.map(({ name }) => name).sort());
  await Promise.all(nodes.map((node) => node.close()));
  await drop();
});

describe('The migrations folder', () => {
  test.each([
    ['a gap', ['0001_a.sql', '0003_c.sql']],
    ['a duplicate number', ['0001_a.sql', '0001_b.sql']],
    ['no name', ['0001.sql']],
    ['another file', ['0001_a.sql', 'notes.sql']],
  ])('with %s is rejected', async (_, names) => {
    const folder = tempDir();
    for (const name of names) writeFileSync(join(folder, name), 'SELECT 1;');

    await expect(readMigrations(folder)).rejects.toThrow('a name like 0001_what_it_does.sql');
  });
});
