import { beforeAll, describe, expect, test } from 'vitest';

import type { Page, PageOf } from '../../../../src/base/values/page.ts';
import { callStore } from '../../../../src/infra/postgres/calls/calls.ts';
import type { Queryable } from '../../../../src/infra/postgres/connection/database.ts';
import { historyStore } from '../../../../src/infra/postgres/sessions/history.ts';
import { webhookDeliveryStore } from '../../../../src/infra/postgres/webhooks/webhookDeliveries.ts';
import { OPEN_TIMEOUT_MS, useDatabase } from '../support/databases.ts';
import { countRowsRead } from '../support/rowsRead.ts';
import { BEGIN, type SessionWorld, sessionWorld } from '../support/sessions.ts';

const ROWS = 3_000;

type Read = (queries: Queryable, page: Page) => Promise<PageOf<object>>;

describe('Pages', () => {
  const opened = useDatabase();
  let world: SessionWorld;
  beforeAll(async () => {
    world = await sessionWorld(opened.database);
    await sessionWorld(opened.database).then((other) => fill(other, 50));
    await fill(world, ROWS);
    await opened.database.query('ANALYZE calls, session_history, webhook_deliveries');
  }, OPEN_TIMEOUT_MS);

  /** Three rows have the same time, and times differ by a microsecond. */
  async function fill({ projectId }: SessionWorld, count: number): Promise<void> {
    const at = `$2::timestamptz + n / 3 * interval '1 microsecond'`;
    const run = (sql: string) => opened.database.query(sql, [projectId, BEGIN, count]);
    await run(
      `INSERT INTO session_history (instance_id, project_id, session_id, channel, status, started_at)
       SELECT gen_random_uuid(), $1, 's' || n, 'phone', 'ended', ${at} FROM generate_series(1, $3::integer) AS n`,
    );
    await run(
      `INSERT INTO calls (id, project_id, session_id, instance_id, direction, status, from_number, to_number, settings,
         metadata, created_at, hangup_requested, priority)
       SELECT gen_random_uuid(), project_id, session_id, instance_id, 'outbound', 'completed', '', '', '{}', '{}',
         started_at, false, 0
       FROM session_history WHERE project_id = $1 AND started_at >= $2 LIMIT $3`,
    );
    await run(
      `INSERT INTO webhook_deliveries (id, attempt, project_id, session_id, event, url, duration_ms, at)
       SELECT gen_random_uuid(), 1 + n % 2, $1, 's', 'session.ended', '', 1, ${at}
       FROM generate_series(1, $3::integer) AS n`,
    );
  }

  const lists: [string, Read][] = [
    ['calls', (queries, page) => callStore(queries).list(world.projectId, {}, page)],
    ['session history', (queries, page) => historyStore(queries).list(world.projectId, {}, page)],
    ['webhook deliveries', (queries, page) => webhookDeliveryStore(queries).list(world.projectId, {}, page)],
  ];

  test.each(lists)('of %s by cursor are the list, also where times are equal', async (_name, read) => {
    const all = await Promise.all([0, 1500].map((offset) => read(opened.database, { limit: 1500, offset })));
    const seen: object[] = [];
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page: PageOf<object> = await read(opened.database, {
        limit: 1000,
        offset: 0,
        ...(cursor === undefined ? {} : { cursor }),
      });
      expect(page.total).toBe(ROWS);
      seen.push(...page.items);
      cursor = page.nextCursor;
    }
    expect(seen).toEqual(all.flatMap(({ items }) => items));
    expect(all.at(-1)?.nextCursor).toBeNull();
  });

  test.each(lists)('of %s read no row of the pages before', async (_name, read) => {
    const { nextCursor } = await read(opened.database, { limit: 1, offset: ROWS / 2 });
    const counting = countRowsRead(opened.database);
    const page = await read(counting, { limit: 10, offset: 0, cursor: nextCursor ?? '' });
    expect(page.items).toHaveLength(10);
    // One more tells whether there is another page; some of the same time may be read and left out.
    expect(counting.rowsRead).toBeLessThanOrEqual(15);
  });

  test('are not shifted by what is added meanwhile', async () => {
    const other = await sessionWorld(opened.database);
    await fill(other, 6);
    const read = (page: Page) => other.stores.webhookDeliveries.list(other.projectId, {}, page);
    const all = (await read({ limit: 9, offset: 0 })).items;
    const first = await read({ limit: 3, offset: 0 });
    await opened.database.query(
      `INSERT INTO webhook_deliveries (id, attempt, project_id, session_id, event, url, duration_ms, at)
       SELECT gen_random_uuid(), 1, $1, 's', 'session.ended', '', 1, now() FROM generate_series(1, 4)`,
      [other.projectId],
    );
    const second = await read({ limit: 3, offset: 0, cursor: first.nextCursor ?? '' });
    expect([...first.items, ...second.items]).toEqual(all);
    expect(second).toMatchObject({ total: 6, nextCursor: null });
  });
});
