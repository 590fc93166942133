import { CallwayError } from '../../../base/errors.ts';
import type { Parameter, Queryable } from '../connection/database.ts';
import { containing } from '../sql/like.ts';

/** Timeout of a search: of each statement, and on the embedded database of its batches together. */
const TIMEOUT_MS = 5_000;
/**
 * The share of sampled sessions up to which the trigram index is used. It must find more than it is quick for, one
 * session in twenty, since a sample errs.
 */
const SELECTIVE_SHARE = 0.1;
/** More of a long text's trigrams make no difference. */
const MAX_SAMPLED_TRIGRAMS = 50;
/** What one statement reads. The embedded database runs one statement at a time, for all projects. */
const EMBEDDED_BATCH = { sessions: 1_000, characters: 1_000_000 };
const WHOLE = { sessions: 1_000_000_000, characters: 1_000_000_000_000 };

/** Runs a search with a timeout. @throws {CallwayError} 503 `search_timeout`. */
export async function withSearchTimeout<Result>(
  database: Queryable,
  search: (limited: Queryable) => Promise<Result>,
): Promise<Result> {
  try {
    return await search(database.within?.(TIMEOUT_MS) ?? database);
  } catch (error) {
    throw error instanceof CallwayError && error.code === 'database_busy' ? searchTimeout(error) : error;
  }
}

/**
 * Whether the trigram index leaves few messages to read, in the latest sessions: those that have all trigrams of the
 * text, whose order the index does not know. Which characters form trigrams depends on the database's locale.
 */
export async function isSelective(database: Queryable, projectId: string, text: string): Promise<boolean> {
  const trigrams = text.matchAll(/(?=([\p{L}\p{N}]{3}))/gu);
  const patterns = [...new Set(Array.from(trigrams, ([, trigram = '']) => containing(trigram)))];
  if (patterns.length === 0) return false;
  const sampled = [projectId, patterns.slice(0, MAX_SAMPLED_TRIGRAMS), text];
  const [sample] = await database.query<{ is_selective: boolean }>(SAMPLE, sampled);
  return sample?.is_selective ?? false;
}

/** The window stops at the limits: Postgres reads no further sessions. */
const SAMPLE = `
  WITH latest AS (
    SELECT instance_id, sum(message_characters) OVER (ORDER BY started_at DESC, instance_id DESC) AS characters
    FROM session_history WHERE project_id = $1 ORDER BY started_at DESC, instance_id DESC LIMIT 200
  )
  SELECT $3::text ~ '[[:alnum:]]{3}' AND ${SELECTIVE_SHARE} * count(*) >= count(*) FILTER (WHERE
    EXISTS (SELECT FROM sessions WHERE instance_id = latest.instance_id AND data ILIKE ALL ($2::text[]))
    OR EXISTS (
      SELECT FROM session_messages WHERE instance_id = latest.instance_id AND text ILIKE ALL ($2::text[]) OFFSET 0
    )
  ) AS is_selective
  FROM latest WHERE characters <= ${EMBEDDED_BATCH.characters}`;

/**
 * Parts of a `WITH` that list the next sessions of the project $1 as `batch`: as many as one statement may read, and at
 * least one.
 *
 * @param table - The table with the sessions.
 * @param size - The characters of the session `next`.
 * @param parameter - The number of the first parameter that {@link scan} adds.
 */
export function nextBatch(table: string, size: string, parameter: number): string {
  return `
    listed AS MATERIALIZED (
      SELECT instance_id, session_id, sum(${size}) OVER (ORDER BY session_id) AS characters
      FROM (
        SELECT * FROM ${table} WHERE project_id = $1 AND session_id > $${parameter}::text
        ORDER BY session_id FETCH FIRST ($${parameter + 1}::bigint) ROWS WITH TIES
      ) AS next
    ), batch AS MATERIALIZED (
      SELECT instance_id, session_id FROM listed
      WHERE characters <= $${parameter + 2}::bigint OR session_id = (SELECT min(session_id) FROM listed)
    )`;
}

/**
 * Reads sessions one after another: on a server in one statement, on the embedded database in batches, between which
 * others have their turn.
 *
 * @param sql - Returns a row for {@link nextBatch}, with the `last` session id; null when there is none.
 */
export async function* scan<Row extends { readonly last: string | null }>(
  database: Queryable,
  sql: string,
  parameters: readonly Parameter[],
): AsyncGenerator<Row> {
  const limits = database.sharesSession ? EMBEDDED_BATCH : WHOLE;
  const endsAtMs = performance.now() + TIMEOUT_MS;
  for (let last: string | null = ''; last !== null; ) {
    if (performance.now() > endsAtMs) throw searchTimeout();
    const next: Parameter[] = [last, limits.sessions, limits.characters];
    const [row]: Row[] = await database.query<Row>(sql, [...parameters, ...next]);
    if (row) yield row;
    last = (database.sharesSession && row?.last) || null;
  }
}

function searchTimeout(cause?: unknown): CallwayError {
  const message = `The search took longer than ${TIMEOUT_MS / 1000} s; search for a longer or a rarer text`;
  return new CallwayError('unavailable', 'search_timeout', message, { cause, retryAfterSeconds: 2 });
}
