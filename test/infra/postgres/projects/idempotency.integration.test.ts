import { describe, expect, onTestFinished, test } from 'vitest';

import type { Database } from '../../../../src/infra/postgres/connection/database.ts';
import { idempotencyStore } from '../../../../src/infra/postgres/projects/idempotency.ts';
import { removeExpired } from '../../../../src/infra/postgres/retention.ts';
import { migrated, openServerDatabase, useDatabase } from '../support/databases.ts';

const NOON = new Date('2026-01-01T12:00:00.000Z');
const later = (hours: number) => new Date(NOON.getTime() + hours * 3_600_000);

describe('Stored responses', () => {
  const opened = useDatabase();
  const store = () => idempotencyStore(opened.database);

  test('are replayed for 24 hours, for the same scope and key only', async () => {
    expect(await store().claim('p', 'a', 'print', NOON)).toBeUndefined();
    await store().keep('p', 'a', { status: 201, body: { id: 1 } });

    const kept = { fingerprint: 'print', status: 201, body: { id: 1 } };
    expect(await store().claim('p', 'a', 'print', later(1))).toEqual(kept);
    expect(await store().claim('p', 'a', 'other', later(24))).toEqual(kept);
    expect(await store().claim('q', 'a', 'print', NOON)).toBeUndefined();
    expect(await store().claim('p', 'b', 'print', NOON)).toBeUndefined();
  });

  test('are forgotten after that', async () => {
    await store().claim('p', 'old', 'print', NOON);
    await store().keep('p', 'old', { status: 201, body: null });

    expect(await store().claim('p', 'old', 'new print', later(24.001))).toBeUndefined();
    await store().keep('p', 'old', { status: 200, body: 'second' });
    expect(await store().claim('p', 'old', 'x', later(25))).toEqual({
      fingerprint: 'new print',
      status: 200,
      body: 'second',
    });
    await removeExpired(opened.database, 'idempotencyKeys', later(49));
    const left = await opened.database.query(`SELECT 1 FROM idempotency_keys WHERE key = 'old'`);
    expect(left).toEqual([]);
  });

  test('of a failed attempt do not exist', async () => {
    const failed = opened.database.transaction(async (transaction) => {
      await idempotencyStore(transaction).claim('p', 'failed', 'print', NOON);
      throw new Error('no');
    });
    await expect(failed).rejects.toThrow('no');

    expect(await store().claim('p', 'failed', 'other', NOON)).toBeUndefined();
  });
});

test.each([
  ['the first one’s response', false, { fingerprint: 'first', status: 201, body: 'answer' }],
  ['nothing, when the first one failed', true, undefined],
])('wait for a concurrent claim, and then return %s', async (_, fails, expected) => {
  const { database, close } = await migrated(openServerDatabase);
  onTestFinished(close);
  const key = `race-${fails}`;
  const events: string[] = [];
  const claimed = resolvers();
  const goOn = resolvers();
  const first = database.transaction(async (transaction) => {
    const claims = idempotencyStore(transaction);
    await claims.claim('p', key, 'first', NOON);
    claimed.resolve();
    await goOn.promise;
    if (fails) throw new Error('no');
    await claims.keep('p', key, { status: 201, body: 'answer' });
    events.push('first done');
  });
  await claimed.promise;
  const second = database.transaction(async (transaction) => {
    const kept = await idempotencyStore(transaction).claim('p', key, 'second', NOON);
    events.push('second knows');
    return kept;
  });
  await untilBlocked(database);
  goOn.resolve();

  await (fails ? expect(first).rejects.toThrow('no') : first);
  expect(await second).toEqual(expected);
  expect(events.at(-1)).toBe('second knows');
});

/** Waits until a query waits for a lock. */
async function untilBlocked(database: Database) {
  const waiting = `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`;
  while ((await database.query(waiting)).length === 0);
}

function resolvers() {
  let resolve = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
