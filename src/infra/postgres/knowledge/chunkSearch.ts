import { characterPairs } from '../../../knowledge/search/characterPairs.ts';
import type { ChunkQuery, ChunkSearch, FoundChunk, MatchingChunk } from '../../../knowledge/stores.ts';
import type { EmbeddingModelName } from '../../../models/ports/embedder.ts';
import type { Database, Queryable } from '../connection/database.ts';
import { VECTOR_COLUMNS, vectorText } from './vectors.ts';

/**
 * Up to this many vectors are compared exactly, in about 50 ms. The approximate index is faster but may miss the best
 * passage: its graph misses outliers, such as one page of answers in a long product list.
 */
export const EXACT_LIMIT = 5_000;
/** Size of the index search's candidate list; larger is more accurate and slower. */
export const EF_SEARCH = 100;
/** Rows of other projects that the index search skips before it becomes exact. */
const MAX_SCAN_TUPLES = 20_000;
/** Maximum number of words of a question. */
const MAX_LEXEMES = 64;
/** Upper bound of the count of chunks with a word; a more frequent word is not selective. */
const MANY_CHUNKS = 1_000;

const FOUND = `chunks.id, content, start_offset AS "startOffset", end_offset AS "endOffset",
  chunks.is_enabled AS "isEnabled", dataset_id AS "datasetId",
  datasets.name AS "datasetName"`;

/**
 * Vector search and full-text search. The planner underestimates both indexes and would scan all rows, so the other
 * plans are made expensive for the transaction.
 */
export function chunkSearch(database: Database): ChunkSearch {
  return {
    nearest: (query) => database.transaction((transaction) => nearest(transaction, query)),
    nearestAndMatching: (query) =>
      database.transaction(async (transaction) => {
        const near = await nearest(transaction, query);
        return { nearest: near, matching: await bestMatching(transaction, query, near) };
      }),
  };
}

/**
 * The statement for the nearest chunks: `$1` is the knowledgebase, `$2` the vector, `$3` the number of chunks. `exact`
 * compares all vectors. Otherwise the index selects the candidates by their own vectors, and more than are wanted where
 * their sentences are compared as well.
 */
export function nearestSql(encoder: EmbeddingModelName, exact: boolean): string {
  const { name, type, sentenceType } = VECTOR_COLUMNS[encoder];
  const all = `SELECT chunk_id, ${name} FROM chunk_embeddings
      WHERE knowledgebase_id = $1 AND encoder = '${encoder}' AND is_enabled`;
  const limit = sentenceType ? `greatest($3::integer, ${EF_SEARCH})` : '$3';
  const compared = exact ? all : `${all} ORDER BY ${name} <=> $2::${type} LIMIT ${limit}`;
  return `WITH nearest AS MATERIALIZED (
      -- The index serves no sum, which makes the exact search exact.
      SELECT chunk_id, (${distanceSql(encoder, '$2')}) + 0 AS distance FROM (${compared}) AS chunk_embeddings
      ORDER BY distance LIMIT $3
    )
    SELECT ${FOUND}, 1 - distance AS score
    FROM nearest JOIN chunks ON chunks.id = chunk_id JOIN datasets ON datasets.id = dataset_id
    ORDER BY distance, dataset_id, position`;
}

/**
 * Distance of a row of `chunk_embeddings`: where a sentence is nearer, the mean of its distance and the row's own. The
 * nearest sentence alone finds more, also for questions that no chunk answers.
 */
function distanceSql(encoder: EmbeddingModelName, vector: string): string {
  const { name, type, sentenceType } = VECTOR_COLUMNS[encoder];
  const own = `${name} <=> ${vector}::${type}`;
  if (sentenceType === undefined) return own;
  return `((${own}) + least(${own}, (SELECT min(sentence.vector <=> ${vector}::${sentenceType})
        FROM sentence_embeddings AS sentence WHERE sentence.chunk_id = chunk_embeddings.chunk_id))) / 2`;
}

/**
 * Makes the planner use the vector index, and continue until enough rows match the filter. JIT is off: the penalized
 * plans look expensive enough to be compiled, which would take much longer than the search.
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
  // With few matches among many rows, the index scan stopped at its limit.
  await transaction.query(
    `SELECT set_config('enable_bitmapscan', 'on', true), set_config('enable_sort', 'on', true)`,
  );
  return await compareAll();
}

/** The planner underestimates the full-text index, too; see {@link PREPARE_INDEX}. */
export const PREPARE_WORDS = `SELECT set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'on', true),
  set_config('enable_sort', 'on', true), set_config('jit', 'off', true)`;

/**
 * A word weighs as much as it distinguishes chunks (inverse document frequency of BM25). A word in no chunk weighs
 * most, since the best answer lacks it; but an unknown run of characters of a script without spaces is not a word and
 * has no weight. Very frequent words do not select chunks.
 */
export const MATCHING = `WITH lexemes AS (
    SELECT lexeme, EXISTS (SELECT FROM unnest(string_to_array($3, ' ')) AS pair WHERE strpos(lexeme, pair) > 0) AS is_run
    FROM unnest(tsvector_to_array(
      to_tsvector('english', $2) || array_to_tsvector(string_to_array($3, ' ')))) AS lexeme LIMIT ${MAX_LEXEMES}
  ), quoted AS (
    SELECT is_run, '''' || replace(replace(lexeme, '\\', '\\\\'), '''', '''''') || '''' AS word FROM lexemes
  ), counted AS MATERIALIZED (
    SELECT is_run, word::tsquery AS word, (
      SELECT count(*) FROM (
        SELECT FROM chunks WHERE knowledgebase_id = $1 AND is_enabled AND words @@ word::tsquery LIMIT ${MANY_CHUNKS}
      ) AS having_it
    ) AS chunk_count FROM quoted
  ), weighed AS MATERIALIZED (
    SELECT word, chunk_count < ${MANY_CHUNKS} AS is_telling,
      ln(1 + greatest($4 - chunk_count, 0) / (chunk_count + 0.5)) + 0.01 AS weight
    FROM counted WHERE chunk_count > 0 OR NOT is_run
  ), question AS MATERIALIZED (
    SELECT sum(weight) AS weight,
      coalesce(string_agg(word::text, ' | ') FILTER (WHERE is_telling), string_agg(word::text, ' | '))::tsquery AS words
    FROM weighed
  ), matching AS MATERIALIZED (
    SELECT id AS chunk_id, (SELECT sum(weight) FROM weighed WHERE chunks.words @@ word) / question.weight AS word_share
    FROM chunks, question
    WHERE knowledgebase_id = $1 AND is_enabled AND chunks.words @@ question.words
    ORDER BY word_share DESC, id LIMIT $5
  ), candidates AS (
    SELECT chunk_id, word_share FROM matching
    UNION
    SELECT id, (SELECT sum(weight) FROM weighed WHERE chunks.words @@ word) / question.weight
    FROM chunks, question WHERE id = ANY ($6::uuid[]) AND chunks.words @@ question.words
  )`;

/** @param near - Chunks found by their vectors; they are ranked by words as well. */
async function bestMatching(
  transaction: Queryable,
  { knowledgebase, vector, text, limit }: ChunkQuery & { text: string },
  near: readonly FoundChunk[],
): Promise<MatchingChunk[]> {
  await transaction.query(PREPARE_WORDS);
  const rows = await transaction.query<MatchingChunk>(
    `${MATCHING}
     SELECT ${FOUND}, 1 - (${distanceSql(knowledgebase.encoder, '$7')}) AS score, word_share::double precision AS "wordShare"
     FROM candidates JOIN chunks ON chunks.id = candidates.chunk_id JOIN datasets ON datasets.id = dataset_id
       JOIN chunk_embeddings ON chunk_embeddings.chunk_id = chunks.id
     ORDER BY word_share DESC, score DESC, candidates.chunk_id`,
    [
      knowledgebase.id,
      text,
      characterPairs(text).join(' '),
      knowledgebase.embeddedCount,
      limit,
      near.map(({ id }) => id),
      vectorText(vector),
    ],
  );
  return withLengths(rows);
}

/** The database counts characters differently from the API. */
function withLengths<Row extends FoundChunk>(rows: readonly Row[]): Row[] {
  return rows.map((row) => ({ ...row, contentLength: row.content.length }));
}
