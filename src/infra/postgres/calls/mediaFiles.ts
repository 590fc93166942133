import { mapPage } from '../../../base/values/page.ts';
import type { MediaFile, MediaFileStore } from '../../../calls/holdMusic/mediaFile.ts';
import type { Queryable } from '../connection/database.ts';
import { projectRows } from '../sql/projectRows.ts';
import { isoTime } from '../sql/rows.ts';

interface Row {
  id: string;
  name: string;
  /** The size as text, since it is a bigint. */
  bytes: string;
  duration_ms: number;
  file_key: string;
  created_at: Date;
}

const COLUMNS = 'id, name, bytes, duration_ms, file_key, created_at';

export function mediaFileStore(database: Queryable): MediaFileStore {
  const rows = projectRows<Row>(database, 'media_files', COLUMNS);
  return {
    async insert(projectId, { id, name, bytes, durationMs, createdAt }, fileKey) {
      await database.query(
        `INSERT INTO media_files (project_id, ${COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
        [projectId, id, name, bytes, durationMs, fileKey, createdAt],
      );
    },
    async find(projectId, id) {
      const row = await rows.find(projectId, id);
      return row && { ...fromRow(row), fileKey: row.file_key };
    },
    async list(projectId, page) {
      return mapPage(await rows.list(projectId, page), fromRow);
    },
    remove: (projectId, id) => rows.remove(projectId, id),
  };
}

function fromRow({ id, name, bytes, duration_ms, created_at }: Row): MediaFile {
  return { id, name, bytes: Number(bytes), durationMs: duration_ms, createdAt: isoTime(created_at) };
}
