import { isUuid } from '../../../base/values/ids.ts';
import type { Dataset } from '../../../knowledge/knowledgebase.ts';
import type { DatasetStore, IngestionTask } from '../../../knowledge/stores.ts';
import type { Queryable } from '../connection/database.ts';
import { fieldsOf } from '../sql/rows.ts';
import { REMOVAL_CHUNKS, removeChunks } from './chunks.ts';

/** Shown while a long document is removed, and after a crash during the removal. */
const REMOVAL_STARTED = 'Its removal has started; if it does not finish, delete the dataset again';

/** Selects datasets. The size is cast, since pg returns bigint as text. A running attempt is no next one. */
const SELECT = `SELECT datasets.id, datasets.name, mime_type, bytes::double precision AS bytes, status, error,
    CASE WHEN failing_since IS NOT NULL AND claim_id IS NULL THEN next_at END AS next_attempt_at, chunk_count, embedded_count, encoder, datasets.created_at
  FROM datasets JOIN knowledgebases ON knowledgebases.id = knowledgebase_id`;

export function datasetStore(database: Queryable): DatasetStore {
  return { ...records(database), ...ingestion(database) };
}

type Records = Pick<DatasetStore, 'insert' | 'list' | 'find' | 'exists' | 'remove' | 'removeAll'>;

function records(database: Queryable): Records {
  return {
    async insert(one) {
      await database.query(
        `INSERT INTO datasets
           (id, project_id, knowledgebase_id, name, mime_type, bytes, file_key, status, created_at, next_at)
         SELECT $1, project_id, $2, $3, $4, $5, $6, 'pending', $7, $7::timestamptz FROM knowledgebases WHERE id = $2`,
        [one.id, one.knowledgebaseId, one.name, one.mimeType, one.bytes, one.fileKey, one.createdAt],
      );
    },
    async list(knowledgebaseId) {
      const rows = await database.query<object>(
        `${SELECT} WHERE knowledgebase_id = $1 ORDER BY datasets.created_at, datasets.id`,
        [knowledgebaseId],
      );
      return rows.map(fromRow);
    },
    async find(knowledgebaseId, datasetId) {
      if (!isUuid(datasetId)) return undefined;
      const [row] = await database.query<object>(
        `${SELECT} WHERE knowledgebase_id = $1 AND datasets.id = $2`,
        [knowledgebaseId, datasetId],
      );
      return row && fromRow(row);
    },
    async exists(datasetId) {
      if (!isUuid(datasetId)) return false;
      return (await database.query('SELECT 1 FROM datasets WHERE id = $1', [datasetId])).length > 0;
    },
    remove: (knowledgebaseId, datasetId) => remove(database, knowledgebaseId, datasetId),
    async removeAll(projectId) {
      if (!isUuid(projectId)) return;
      const rows = await database.query<{ id: string; knowledgebase_id: string }>(
        'SELECT id, knowledgebase_id FROM datasets WHERE project_id = $1 ORDER BY id',
        [projectId],
      );
      for (const { id, knowledgebase_id } of rows) await remove(database, knowledgebase_id, id);
    },
  };
}

async function remove(database: Queryable, knowledgebaseId: string, datasetId: string): Promise<boolean> {
  if (!isUuid(datasetId)) return false;
  const [long] = await database.query(
    `UPDATE datasets SET status = 'failed', error = $3
     FROM (SELECT max(position) AS last FROM chunks WHERE dataset_id = $2) AS chunks
     WHERE knowledgebase_id = $1 AND id = $2 AND last >= $4 RETURNING id`,
    [knowledgebaseId, datasetId, REMOVAL_STARTED, REMOVAL_CHUNKS],
  );
  if (long) await removeChunks(database, datasetId);
  const rows = await database.query(
    'DELETE FROM datasets WHERE knowledgebase_id = $1 AND id = $2 RETURNING id',
    [knowledgebaseId, datasetId],
  );
  return rows.length > 0;
}

function ingestion(database: Queryable): Omit<DatasetStore, keyof Records> {
  return {
    async startIngestion(datasetId) {
      const [task] = await database.query<IngestionTask>(
        `UPDATE datasets SET status = 'processing', attempts = attempts + 1
         FROM knowledgebases
         WHERE datasets.id = $1 AND knowledgebases.id = knowledgebase_id AND status IN ('pending', 'processing')
         RETURNING datasets.id AS "datasetId", knowledgebase_id AS "knowledgebaseId", datasets.project_id AS "projectId",
           datasets.name, mime_type AS "mimeType", file_key AS "fileKey", encoder, chunk_size AS "chunkSize",
           chunk_overlap AS "chunkOverlap", attempts, failing_since AS "failingSince",
           parsed_at IS NOT NULL AS "isParsed"`,
        [datasetId],
      );
      return task;
    },
    async undoAttempt(datasetId) {
      await database.query(
        `UPDATE datasets SET attempts = attempts - 1 WHERE id = $1 AND status = 'processing' AND attempts > 0`,
        [datasetId],
      );
    },
    async markParsed(datasetId, at) {
      const rows = await database.query(
        `UPDATE datasets SET parsed_at = $2,
           chunk_count = (SELECT count(*) FROM chunks WHERE dataset_id = $1)
         WHERE id = $1 RETURNING id`,
        [datasetId, at],
      );
      return rows.length > 0;
    },
    async postpone(datasetId, { reason, failingSince }) {
      await database.query(
        `UPDATE datasets SET error = $2, failing_since = $3, attempts = attempts - 1
         WHERE id = $1 AND status = 'processing'`,
        [datasetId, reason, failingSince],
      );
    },
    async finish(datasetId) {
      await database.query(
        `UPDATE datasets SET status = 'ready', error = NULL, failing_since = NULL
         WHERE id = $1 AND status = 'processing'`,
        [datasetId],
      );
    },
    async restart(datasetId, at) {
      const rows = await database.query(
        `UPDATE datasets SET error = NULL, failing_since = NULL, attempts = 0,
           next_at = CASE WHEN claim_id IS NULL THEN $2 ELSE next_at END,
           status = CASE status WHEN 'failed' THEN 'pending' ELSE status END,
           parsed_at = CASE status WHEN 'failed' THEN NULL ELSE parsed_at END,
           chunk_count = CASE status WHEN 'failed' THEN 0 ELSE chunk_count END,
           embedded_count = CASE status WHEN 'failed' THEN 0 ELSE embedded_count END
         WHERE id = $1 AND status <> 'ready' RETURNING id`,
        [datasetId, at],
      );
      return rows.length > 0;
    },
    async fail(datasetId, reason) {
      // A retry after a crash must start over, not continue with the remaining chunks.
      const [begun] = await database.query(
        `UPDATE datasets SET parsed_at = NULL, chunk_count = 0, embedded_count = 0
         WHERE id = $1 AND status IN ('pending', 'processing') RETURNING id`,
        [datasetId],
      );
      if (!begun) return;
      await removeChunks(database, datasetId);
      await database.query(
        `UPDATE datasets SET status = 'failed', error = $2
         WHERE id = $1 AND status IN ('pending', 'processing')`,
        [datasetId, reason],
      );
    },
  };
}

function fromRow(row: object): Dataset {
  const { error, nextAttemptAt, ...rest } = fieldsOf<
    Dataset & { error: string | null; nextAttemptAt: string | null }
  >(row);
  return { ...rest, error: error ?? undefined, nextAttemptAt: nextAttemptAt ?? undefined };
}
