import type { Removals } from '../../../work/removals.ts';
import type { Queryable } from '../connection/database.ts';

/** Lists files to remove. Triggers add the rows, so that every removed row of a file is covered. */
export function removals(
  database: Queryable,
  table: 'file_removals' | 'recording_removals',
  key: 'file_key' | 'key',
): Removals {
  return {
    async due(limit, after = '') {
      const rows = await database.query<{ key: string }>(
        `SELECT ${key} AS key FROM ${table} WHERE ${key} > $2 ORDER BY ${key} LIMIT $1`,
        [limit, after],
      );
      return rows.map((row) => row.key);
    },
    async done(removed) {
      await database.query(`DELETE FROM ${table} WHERE ${key} = $1`, [removed]);
    },
  };
}
