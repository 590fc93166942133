export function recordingRemovals(database) {
  return {
    async due(limit) {
      const rows = await database.query('SELECT key FROM recording_removals ORDER BY since LIMIT $1', [
        limit,
      ]);
      return rows.map(({ key }) => key);
    },
    async done(key) {
      await database.query('DELETE FROM recording_removals WHERE key = $1', [key]);
    },
  };
}
