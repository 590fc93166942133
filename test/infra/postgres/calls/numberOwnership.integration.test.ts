import { expect, onTestFinished, test } from 'vitest';

import { createSealer } from '../../../../src/base/sealer.ts';
import { migrate, readMigrations } from '../../../../src/infra/postgres/connection/migrate.ts';
import { createStorage } from '../../../../src/infra/postgres/storage.ts';
import { MIGRATIONS, openServerDatabase } from '../support/databases.ts';

const NUMBER = '+886223456789';
const OTHER = '+886912345678';
const AT = '2026-01-01T00:00:00.000Z';
const LATER = '2026-02-01T00:00:00.000Z';
const idOf = (kind: number, index: number) =>
  `0197a000-0000-7000-8000-${String(kind).padStart(6, '0')}${String(index).padStart(6, '0')}`;
const [FIRST, BUSY, IDLE] = [idOf(1, 1), idOf(1, 2), idOf(1, 3)];

/** Three projects of an older release that claim one number; the second has calls. */
async function contestedNumber() {
  const { database, close } = await openServerDatabase();
  onTestFinished(close);
  const migrations = await readMigrations(MIGRATIONS);
  const ownership = migrations.findIndex(({ name }) => name === 'number_ownership');
  await migrate(database, migrations.slice(0, ownership));
  const claims = [
    [FIRST, NUMBER, AT],
    [BUSY, NUMBER, LATER],
    [IDLE, NUMBER, LATER],
    [IDLE, OTHER, LATER],
  ] as const;
  for (const [index, [project, number, at]] of claims.entries()) {
    await database.query(
      `INSERT INTO projects (id, name, session_idle_minutes, history_retention_days, report_usage, created_at, updated_at)
       VALUES ($1, 'Old', 30, 30, false, $2, $2) ON CONFLICT DO NOTHING`,
      [project, AT],
    );
    await database.query(
      `INSERT INTO phone_numbers (id, project_id, number, outbound_status, inbound_enabled, created_at, updated_at)
       VALUES ($1, $2, $3, 'active', true, $4, $4)`,
      [idOf(2, index), project, number, at],
    );
  }
  await database.query(
    `INSERT INTO session_history
       (instance_id, project_id, session_id, channel, status, started_at)
     VALUES ($1, $2, 's', 'phone', 'ended', $3)`,
    [idOf(3, 1), BUSY, AT],
  );
  await database.query(
    `INSERT INTO calls (id, project_id, session_id, instance_id, direction, status, from_number, to_number, settings,
                        metadata, created_at, hangup_requested)
     VALUES ($1, $2, 's', $3, 'inbound', 'completed', $4, $5, '{}', '{}', $6, false)`,
    [idOf(4, 1), BUSY, idOf(3, 1), OTHER, NUMBER, AT],
  );
  await migrate(database, migrations);
  return createStorage(database, createSealer(Buffer.alloc(32, 7)));
}

test('A number that several projects claimed stays with the one that has calls; the others are pending', async () => {
  const { stores, transaction } = await contestedNumber();
  expect(await stores.phoneNumbers.findHolder(NUMBER)).toMatchObject({ projectId: BUSY, verified: true });
  expect(await stores.phoneNumbers.findHolder(OTHER)).toMatchObject({ projectId: IDLE, verified: true });
  const list = async () => (await stores.numberClaims.list({ limit: 9, offset: 0 })).items;
  expect((await list()).map(({ number, projectId, verified }) => [number, projectId, verified])).toEqual([
    [NUMBER, BUSY, true],
    [NUMBER, FIRST, false],
    [NUMBER, IDLE, false],
    [OTHER, IDLE, true],
  ]);
  // A pending claim keeps its settings when the operator decides for it.
  await transaction(({ numberClaims }) =>
    numberClaims.assign(NUMBER, { projectId: FIRST }, idOf(5, 1), LATER),
  );
  const held = await stores.phoneNumbers.findHolder(NUMBER);
  expect(held).toMatchObject({ id: idOf(2, 0), projectId: FIRST, verified: true, inboundEnabled: true });
  expect((await list()).filter(({ number }) => number === NUMBER)).toHaveLength(2);
});
