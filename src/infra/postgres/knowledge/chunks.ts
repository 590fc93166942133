import { isUuid } from '../../../base/values/ids.ts';
import type { Chunk } from '../../../knowledge/knowledgebase.ts';
import { characterPairs } from '../../../knowledge/search/characterPairs.ts';
import type { ChunkStore, NewChunk } from '../../../knowledge/stores.ts';
import type { EmbeddingModelName } from '../../../models/ports/embedder.ts';
import type { Parameter, Queryable } from '../connection/database.ts';
import { fieldsOf } from '../sql/rows.ts';
import { VECTOR_COLUMNS, vectorText } from './vectors.ts';

/** Characters that one statement reads. The embedded database runs one statement at a time, for all projects. */
const BATCH_CHARACTERS = 1_000_000;

/** Chunks removed by one statement; all chunks of a long document would exceed the statement timeout. */
export const REMOVAL_CHUNKS = 10_000;
/** Text that one statement stores with its words, which takes the embedded database about 0.1 s. */
const APPENDED_CHARACTERS = 65_536;

const ALL_ROWS = Number.MAX_SAFE_INTEGER;
const COLUMNS = 'id, content, is_enabled, start_offset, end_offset';

/**
 * A lateral lookup for each chunk. With a plain join the planner may read the whole document again for each page,
 * which makes the cost quadratic in its length.
 */
export function pageWithoutSql(table: 'chunk_embeddings' | 'sentence_embeddings'): string {
  return `SELECT id, CASE WHEN vector.is_there THEN NULL ELSE content END AS content
    FROM chunks LEFT JOIN LATERAL (
      SELECT true AS is_there FROM ${table} WHERE chunk_id = chunks.id LIMIT 1
    ) AS vector ON true
    WHERE dataset_id = $1 AND position >= $2 AND position < $3 ORDER BY position`;
}

/** Chunk by chunk as well; see {@link pageWithoutSql}. */
export function keepVectorsSql(encoder: EmbeddingModelName): string {
  const { name, type } = VECTOR_COLUMNS[encoder];
  return `WITH added AS (
      INSERT INTO chunk_embeddings (chunk_id, knowledgebase_id, encoder, is_enabled, ${name})
      SELECT chunk.id, chunk.knowledgebase_id, $2, chunk.is_enabled, made.vector::${type}
      FROM unnest($3::uuid[], $4::text[]) AS made (chunk_id, vector)
        CROSS JOIN LATERAL (
          SELECT id, knowledgebase_id, is_enabled FROM chunks
          WHERE id = made.chunk_id AND dataset_id = $1 LIMIT 1
        ) AS chunk
      ON CONFLICT (chunk_id) DO NOTHING
      RETURNING chunk_id
    )
    UPDATE datasets SET embedded_count = embedded_count + (SELECT count(*) FROM added),
      error = NULL, failing_since = NULL
    WHERE id = $1 RETURNING id`;
}

export function chunkStore(database: Queryable): ChunkStore {
  return { ...preview(database), ...ingestion(database) };
}

type Preview = Pick<ChunkStore, 'list' | 'setEnabled'>;

function preview(database: Queryable): Preview {
  return {
    async list(datasetId, { limit, offset }) {
      const rows = await database.query<object>(
        // Positions are consecutive from 0, so no rows before the page are read.
        `SELECT ${COLUMNS} FROM chunks WHERE dataset_id = $1 AND position >= $2 AND position < $3 ORDER BY position`,
        [datasetId, offset, offset + limit],
      );
      return rows.map(toChunk);
    },
    async setEnabled(datasetId, chunkId, isEnabled) {
      if (!isUuid(chunkId)) return undefined;
      const [row] = await database.query<object>(
        `WITH vector AS (
           UPDATE chunk_embeddings SET is_enabled = $3
           FROM chunks WHERE chunks.id = chunk_id AND chunk_id = $2 AND dataset_id = $1
         )
         UPDATE chunks SET is_enabled = $3 WHERE dataset_id = $1 AND id = $2 RETURNING ${COLUMNS}`,
        [datasetId, chunkId, isEnabled],
      );
      return row && toChunk(row);
    },
  };
}

function ingestion(database: Queryable): Omit<ChunkStore, keyof Preview> {
  const { query, expensiveRowsAtOnce: rowsAtOnce = ALL_ROWS } = database;
  const pageWithout =
    (table: Parameters<typeof pageWithoutSql>[0]): ChunkStore['listWithoutVector'] =>
    async (datasetId, { limit, offset }) => {
      const rows = await query<{ id: string; content: string | null }>(pageWithoutSql(table), [
        datasetId,
        offset,
        offset + limit,
      ]);
      const missing = rows.flatMap(({ id, content }) => (content === null ? [] : [{ id, content }]));
      return { missing, pageLength: rows.length };
    };
  return {
    clear: (datasetId) => removeChunks(database, datasetId),
    async append(dataset, chunks) {
      const sized = chunks.map((chunk) => ({ ...chunk, characters: chunk.content.length }));
      for (const batch of sizeBatches(sized, { characters: APPENDED_CHARACTERS })) {
        const rows = await query(APPEND, appendParameters(dataset, batch));
        if (rows.length === 0) return false;
      }
      return true;
    },
    listWithoutVector: pageWithout('chunk_embeddings'),
    listWithoutSentences: pageWithout('sentence_embeddings'),
    async storeVectors({ datasetId, encoder }, vectors) {
      for (let from = 0; from < vectors.length; from += rowsAtOnce) {
        const part = vectors.slice(from, from + rowsAtOnce);
        const rows = await query(keepVectorsSql(encoder), [
          datasetId,
          encoder,
          part.map(({ chunkId }) => chunkId),
          part.map(({ vector }) => vectorText(vector)),
        ]);
        if (rows.length === 0) return false;
      }
      return true;
    },
    async storeSentences(datasetId, chunkId, vectors) {
      await query(
        `INSERT INTO sentence_embeddings (chunk_id, position, knowledgebase_id, vector)
         SELECT id, made.position, knowledgebase_id, made.vector::halfvec(512)
         FROM chunks, unnest($3::text[]) WITH ORDINALITY AS made (vector, position)
         WHERE id = $2 AND dataset_id = $1
         ON CONFLICT DO NOTHING`,
        [datasetId, chunkId, vectors.map(vectorText)],
      );
    },
  };
}

const APPEND = `
  WITH dataset AS (SELECT id FROM datasets WHERE id = $1 FOR KEY SHARE),
  added AS (
    INSERT INTO chunks
      (id, dataset_id, knowledgebase_id, position, content, start_offset, end_offset, words)
    SELECT chunk.id, dataset.id, $2, position, content, start_offset, end_offset,
      to_tsvector('english', content) || array_to_tsvector(string_to_array(pairs, ' '))
    FROM dataset, unnest($3::uuid[], $4::integer[], $5::text[], $6::integer[], $7::integer[], $8::text[])
      AS chunk (id, position, content, start_offset, end_offset, pairs)
    ON CONFLICT (dataset_id, position) DO NOTHING
  )
  SELECT id FROM dataset`;

function appendParameters(
  { datasetId, knowledgebaseId }: Parameters<ChunkStore['append']>[0],
  chunks: readonly NewChunk[],
): Parameter[] {
  return [
    datasetId,
    knowledgebaseId,
    chunks.map(({ id }) => id),
    chunks.map(({ position }) => position),
    chunks.map(({ content }) => content),
    chunks.map(({ startOffset }) => startOffset),
    chunks.map(({ endOffset }) => endOffset),
    chunks.map(({ content }) => characterPairs(content).join(' ')),
  ];
}

function toChunk(row: object): Chunk {
  const chunk = fieldsOf<Omit<Chunk, 'contentLength'>>(row);
  return { ...chunk, contentLength: chunk.content.length };
}

/** Removes a document's chunks with their vectors, in batches. An interrupted removal leaves the rest. */
export async function removeChunks(database: Queryable, datasetId: string): Promise<void> {
  const [{ last } = { last: null }] = await database.query<{ last: number | null }>(
    'SELECT max(position) AS last FROM chunks WHERE dataset_id = $1',
    [datasetId],
  );
  for (let from = 0; last !== null && from <= last; from += REMOVAL_CHUNKS) {
    await database.query('DELETE FROM chunks WHERE dataset_id = $1 AND position >= $2 AND position < $3', [
      datasetId,
      from,
      from + REMOVAL_CHUNKS,
    ]);
  }
}

interface BatchLimits {
  readonly rows?: number;
  readonly characters?: number;
}

/** Divides rows into batches of at most a million characters; a longer row is a batch of its own. */
function sizeBatches<Row extends { readonly characters: number }>(
  rows: readonly Row[],
  {
    rows: mostRows = Number.POSITIVE_INFINITY,
    characters: mostCharacters = BATCH_CHARACTERS,
  }: BatchLimits = {},
): Row[][] {
  const batches: Row[][] = [];
  let left = 0;
  for (const row of rows) {
    left -= row.characters;
    const batch = batches.at(-1);
    if (batch && batch.length < mostRows && left >= 0) batch.push(row);
    else {
      batches.push([row]);
      left = mostCharacters - row.characters;
    }
  }
  return batches;
}
