import type { RecordingRemovals } from '../../../calls/recording/recordingStore.ts';
import type { Queryable } from '../connection/database.ts';

export function recordingRemovals(database: Queryable): RecordingRemovals {
  return {
    async due(limit) {
      const rows = await database.query<{ key: string }>(
        'SELECT key FROM recording_removals ORDER BY since LIMIT $1',
        [limit],
      );
      return rows.map(({ key }) => key);
    },
    async done(key) {
      await database.query('DELETE FROM recording_removals WHERE key = $1', [key]);
    },
  };
}
