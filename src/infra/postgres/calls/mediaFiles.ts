import { mapPage } from '../../../base/values/page.ts';
import type { MediaFile, MediaFileStore } from '../../../calls/holdMusic/mediaFile.ts';
import type { Queryable } from '../connection/database.ts';
import { projectRows } from '../sql/projectRows.ts';

/** The size is cast, since it would come as text. */
const COLUMNS = 'id, name, bytes::float8 AS bytes, duration_ms, file_key, created_at';

export function mediaFileStore(database: Queryable): MediaFileStore {
  const rows = projectRows<MediaFile & { fileKey: string }>(database, 'media_files', COLUMNS);
  return {
    find: rows.find,
    remove: rows.remove,
    async insert(projectId, { id, name, bytes, durationMs, createdAt }, fileKey) {
      const times = { duration_ms: durationMs, created_at: createdAt };
      await rows.insert({ id, project_id: projectId, name, bytes, file_key: fileKey, ...times });
    },
    async list(projectId, page) {
      return mapPage(await rows.list(projectId, page), ({ fileKey: _key, ...file }) => file);
    },
  };
}
