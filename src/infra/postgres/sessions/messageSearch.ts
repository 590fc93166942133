import type { Queryable } from '../connection/database.ts';
import { asInJson, containing } from '../sql/like.ts';
import { isSelective, nextBatch, scan, withSearchTimeout } from './textSearch.ts';

/** A query of the sessions in which something was said. */
export interface Said {
  /** The LIKE patterns: as in JSON, for the index, and as it was said. */
  readonly patterns: readonly string[];
  /** Returns a query whose first parameter is the project. @param patterns - The parameter of the patterns. */
  query(patterns: string): string;
}

/**
 * Reads a list of which a text that was said, in any case, may select the sessions.
 *
 * @throws {CallwayError} 503 `search_timeout`.
 */
export function listSaying<Result>(
  database: Queryable,
  projectId: string,
  text: string | undefined,
  list: (database: Queryable, said: Said | undefined) => Promise<Result>,
): Promise<Result> {
  if (text === undefined) return list(database, undefined);
  return withSearchTimeout(database, async (limited) =>
    list(limited, await instancesSaying(limited, projectId, text)),
  );
}

/**
 * The embedded database finds the sessions before the list, where its index does not help. They are no parameters of the
 * query, since those of a list tell its cursors apart.
 */
async function instancesSaying(database: Queryable, projectId: string, text: string): Promise<Said> {
  const patterns = [containing(asInJson(text)), containing(text)];
  if (!database.sharesSession || (await isSelective(database, projectId, text)))
    return {
      patterns,
      query: (place) => `SELECT instance_id FROM session_messages WHERE project_id = $1 AND ${saying(place)}`,
    };
  const found: string[] = [];
  const batches = scan<{ last: string | null; found: string[] }>(database, BATCH, [projectId, patterns]);
  for await (const batch of batches) found.push(...batch.found);
  return {
    patterns,
    query: (place) => `SELECT unnest('{${found.join()}}'::uuid[]) WHERE ${place}::text[] IS NOT NULL`,
  };
}

const saying = (patterns: string): string =>
  `text ILIKE (${patterns}::text[])[1] AND message->>'content' ILIKE (${patterns}::text[])[2]`;

/** OFFSET 0 has each session's messages read by its id, up to the first one that matches. */
const BATCH = `
  WITH ${nextBatch('session_history', 'message_characters', 3)}
  SELECT max(session_id) AS last, coalesce(array_agg(instance_id) FILTER (WHERE EXISTS (
    SELECT FROM session_messages WHERE instance_id = batch.instance_id AND ${saying('$2')} OFFSET 0
  )), '{}') AS found FROM batch`;
