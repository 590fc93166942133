import { afterAll, beforeAll, expect, test } from 'vitest';

import { migrated, type OpenDatabase, openServerDatabase } from '../support/databases.ts';

let opened: OpenDatabase;
beforeAll(async () => {
  opened = await migrated(openServerDatabase);
});
afterAll(() => opened.close());

test.each(['count_session_texts', 'find_session_texts'])(
  '%s scans with all parallel workers that the server has',
  async (name) => {
    const plan = await opened.database.transaction(async (transaction) => {
      const [row] = await transaction.query<{ settings: readonly string[] }>(
        'SELECT proconfig AS settings FROM pg_proc WHERE proname = $1',
        [name],
      );
      // Without these settings an empty table is read by its index.
      const settings = [...(row?.settings ?? []), 'enable_indexscan=off', 'enable_bitmapscan=off'];
      for (const setting of settings) await transaction.query(`SET LOCAL ${setting}`);
      const rows = await transaction.query<Record<string, string>>(
        `EXPLAIN SELECT count(*) FROM session_texts
       WHERE octet_length(split_part(data, 'a', 1)) < octet_length(data)`,
      );
      return rows.flatMap((line) => Object.values(line)).join('\n');
    });
    expect(plan).toContain('Workers Planned: 4');
  },
);
