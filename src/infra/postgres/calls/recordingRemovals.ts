import type { RecordingRemovals } from '../../../calls/recording/recordingStore.ts';
import type { Queryable } from '../connection/database.ts';

export function recordingRemovals(database: Queryable): RecordingRemovals {
  return {
    async due(limit, after = '') {
      const rows = await database.query<{ key: string }>(
        'SELECT key FROM recording_removals WHERE key > $2 ORDER BY key LIMIT $1',
        [limit, after],
      );
      return rows.map(({ key }) => key);
    },
    async done(key) {
      await database.query('DELETE FROM recording_removals WHERE key = $1', [key]);
    },
  };
}
