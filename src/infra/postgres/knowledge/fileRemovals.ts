import type { FileRemovalStore } from '../../../knowledge/stores.ts';
import type { Queryable } from '../connection/database.ts';

/** Rows are written by a trigger, so that every removed dataset is covered. */
export function fileRemovalStore(database: Queryable): FileRemovalStore {
  return {
    async list(limit) {
      const rows = await database.query<{ file_key: string }>(
        'SELECT file_key FROM file_removals ORDER BY at LIMIT $1',
        [limit],
      );
      return rows.map(({ file_key }) => file_key);
    },
    async markDone(fileKey) {
      await database.query('DELETE FROM file_removals WHERE file_key = $1', [fileKey]);
    },
  };
}
