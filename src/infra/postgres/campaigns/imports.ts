import { isUuid } from '../../../base/values/ids.ts';
import { mapPage } from '../../../base/values/page.ts';
import type {
  ContactImportStore,
  ImportError,
  ImportTask,
} from '../../../campaigns/imports/contactImport.ts';
import type { Queryable } from '../connection/database.ts';
import { queryPage } from '../sql/pages.ts';
import { BY_CREATION } from '../sql/projectRows.ts';
import { fieldsOf, insertRow } from '../sql/rows.ts';
import { storableText } from '../sql/storable.ts';

const IMPORT_COLUMNS = `id, project_id, campaign_id, file_key, file_type, mapping, status, reason, rows, accepted, skipped,
  attempts, missing_since, created_at, ended_at`;
/** Ends a running import; its file is removed as those of removed datasets are. $1 is the reason, $2 the time, $3 the id. */
const END = `
  WITH ended AS (
    UPDATE contact_imports SET status = CASE WHEN $1::text IS NULL THEN 'done' ELSE 'failed' END, reason = $1, ended_at = $2,
      next_at = NULL
    WHERE id = $3 AND status = 'running' RETURNING file_key
  )
  INSERT INTO file_removals (file_key) SELECT file_key FROM ended ON CONFLICT DO NOTHING`;

export function contactImportStore(database: Queryable): ContactImportStore {
  return {
    async insert({ id, projectId, campaignId, fileKey, fileType, mapping, createdAt }) {
      await insertRow(database, 'contact_imports', {
        id,
        project_id: projectId,
        campaign_id: campaignId,
        file_key: fileKey,
        file_type: fileType,
        mapping: JSON.stringify(mapping),
        status: 'running',
        created_at: createdAt,
        next_at: createdAt,
      });
    },
    async find(projectId, id) {
      if (!isUuid(id)) return undefined;
      const [row] = await database.query<object>(
        `SELECT ${IMPORT_COLUMNS} FROM contact_imports WHERE id = $1 AND project_id IS NOT DISTINCT FROM $2`,
        [id, projectId],
      );
      return row && fieldsOf<ImportTask>(row);
    },
    async list(campaignId, page) {
      const list = {
        name: 'contact_imports',
        columns: IMPORT_COLUMNS,
        from: 'contact_imports',
        where: 'campaign_id = $1',
        parameters: [campaignId],
        order: BY_CREATION,
        direction: 'DESC',
      } as const;
      return mapPage(await queryPage<object>(database, list, page), (row) => fieldsOf<ImportTask>(row));
    },
    async errors(id, after, limit) {
      return await database.query<ImportError>(
        'SELECT row, code, message FROM contact_import_errors WHERE import_id = $1 AND row > $2 ORDER BY row LIMIT $3',
        [id, after, limit],
      );
    },
    async begin(id) {
      const [row] = await database.query<object>(
        `UPDATE contact_imports SET attempts = attempts + 1 WHERE id = $1 AND status = 'running' RETURNING ${IMPORT_COLUMNS}`,
        [id],
      );
      return row && fieldsOf<ImportTask>(row);
    },
    async undoAttempt(id, missingSince) {
      await database.query(
        'UPDATE contact_imports SET attempts = attempts - 1, missing_since = $2 WHERE id = $1',
        [id, missingSince],
      );
    },
    async advance(id, { before, rows: count, errors }) {
      const [row] = await database.query(
        `UPDATE contact_imports SET rows = rows + $3, accepted = accepted + $3 - $4, skipped = skipped + $4,
           attempts = 0, missing_since = NULL
         WHERE id = $1 AND rows = $2 AND status = 'running' RETURNING id`,
        [id, before, count, errors.length],
      );
      if (!row) return false;
      await database.query(
        `INSERT INTO contact_import_errors (import_id, row, code, message)
         SELECT $1, * FROM unnest($2::integer[], $3::text[], $4::text[])`,
        [
          id,
          errors.map((error) => error.row),
          errors.map(({ code }) => code),
          errors.map(({ message }) => storableText(message)),
        ],
      );
      return true;
    },
    async end(id, reason, at) {
      await database.query(END, [reason, at, id]);
    },
  };
}
