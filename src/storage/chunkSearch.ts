import { characterPairs } from '../knowledge/search/characterPairs.ts';
import type { ChunkQuery, ChunkSearch, FoundChunk } from '../knowledge/stores.ts';
import type { Database, Queryable } from './database.ts';
import { VECTOR_COLUMNS, vectorText } from './vectors.ts';

/** So few vectors are compared one by one: the index would not be faster, and might miss one. */
export const EXACT_LIMIT = 1_000;
/** Vectors that a search through the index keeps in view; more finds more of the true nearest and takes longer. */
export const EF_SEARCH = 100;
/** Where the index holds other projects' vectors too, so many are passed over before the search is made exact. */
const MAX_SCAN_TUPLES = 20_000;
/** A question's words; a longer one is cut. */
const MAX_LEXEMES = 64;

const FOUND = `chunks.id, content, start_offset AS "startOffset", end_offset AS "endOffset",
  chunks.is_enabled AS "isEnabled", dataset_id AS "datasetId",
  datasets.name AS "datasetName"`;

/**
 * Searches vectors and words. Left to itself the planner reads all rows, or sorts those of the knowledgebase, since
 * it thinks little of both indexes' worth: so the ways that are not wanted are made dear for the one transaction.
 */
export function chunkSearch(database: Database): ChunkSearch {
  return {
    nearest: (query) => database.transaction((transaction) => nearest(transaction, query)),
    nearestAndMatching: (query) =>
      database.transaction(async (transaction) => {
        const matching = await bestMatching(transaction, query);
        return { nearest: await nearest(transaction, query), matching };
      }),
  };
}

/** The statement of a search for the nearest; `exact` compares with each, else the index is gone through. */
export function nearestSql(encoder: ChunkQuery['knowledgebase']['encoder'], exact: boolean): string {
  const { name, type } = VECTOR_COLUMNS[encoder];
  const distance = `${name} <=> $2::${type}`;
  return `WITH nearest AS MATERIALIZED (
      SELECT chunk_id, ${distance} AS distance FROM chunk_embeddings
      WHERE knowledgebase_id = $1 AND encoder = '${encoder}' AND is_enabled
      -- The index serves no sum, which makes the exact search exact.
      ORDER BY ${exact ? `(${distance}) + 0` : distance} LIMIT $3
    )
    SELECT ${FOUND}, 1 - distance AS score
    FROM nearest JOIN chunks ON chunks.id = chunk_id JOIN datasets ON datasets.id = dataset_id
    ORDER BY distance, dataset_id, position`;
}

/**
 * Makes the planner go through an index in its order of distances, and on until enough rows fit the filter. What is
 * made dear looks like a query of hours, which Postgres would compile first, taking many times as long as the search.
 */
export const PREPARE_INDEX = `SELECT set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true),
  set_config('enable_sort', 'off', true), set_config('jit', 'off', true), set_config('hnsw.ef_search', $1, true),
  set_config('hnsw.iterative_scan', 'relaxed_order', true), set_config('hnsw.max_scan_tuples', $2, true)`;

async function nearest(transaction: Queryable, query: ChunkQuery): Promise<FoundChunk[]> {
  const { knowledgebase, vector, limit } = query;
  const parameters = [knowledgebase.id, vectorText(vector), limit];
  const compareAll = () =>
    transaction.query<FoundChunk>(nearestSql(knowledgebase.encoder, true), parameters).then(withLengths);
  if (knowledgebase.embeddedCount <= EXACT_LIMIT) return await compareAll();
  const view = Math.max(EF_SEARCH, 2 * limit);
  await transaction.query(PREPARE_INDEX, [String(view), String(MAX_SCAN_TUPLES)]);
  const found = await transaction.query<FoundChunk>(nearestSql(knowledgebase.encoder, false), parameters);
  if (found.length >= limit) return withLengths(found);
  // Few of very many: the index was gone through as far as it is allowed to be.
  await transaction.query(
    `SELECT set_config('enable_bitmapscan', 'on', true), set_config('enable_sort', 'on', true)`,
  );
  return await compareAll();
}

const MATCHING = `WITH asked AS (
    SELECT lexeme FROM unnest(tsvector_to_array(
      to_tsvector('english', $2) || array_to_tsvector(string_to_array($3, ' ')))) AS lexeme LIMIT ${MAX_LEXEMES}
  ), question AS (
    SELECT string_agg('''' || replace(replace(lexeme, '\\', '\\\\'), '''', '''''') || '''', ' | ')::tsquery AS words
    FROM asked
  ), matching AS MATERIALIZED (
    SELECT id AS chunk_id, ts_rank(chunks.words, question.words) AS rank FROM chunks, question
    WHERE knowledgebase_id = $1 AND is_enabled AND chunks.words @@ question.words
    ORDER BY rank DESC, id LIMIT $4
  )`;

async function bestMatching(
  transaction: Queryable,
  { knowledgebase, vector, text, limit }: ChunkQuery & { text: string },
): Promise<FoundChunk[]> {
  const { name, type } = VECTOR_COLUMNS[knowledgebase.encoder];
  const rows = await transaction.query<FoundChunk>(
    `${MATCHING}
     SELECT ${FOUND}, 1 - (${name} <=> $5::${type}) AS score
     FROM matching JOIN chunks ON chunks.id = matching.chunk_id JOIN datasets ON datasets.id = dataset_id
       JOIN chunk_embeddings ON chunk_embeddings.chunk_id = chunks.id
     ORDER BY rank DESC, matching.chunk_id`,
    [knowledgebase.id, text, characterPairs(text).join(' '), limit, vectorText(vector)],
  );
  return withLengths(rows);
}

/** The database counts characters otherwise than the API does. */
function withLengths(rows: readonly FoundChunk[]): FoundChunk[] {
  return rows.map((row) => ({ ...row, contentLength: row.content.length }));
}
