import type { Clock } from '../../../base/clock.ts';
import { repeat } from '../../../base/repeat.ts';
import type { Database } from '../connection/database.ts';
import { gramsOf } from './trigrams.ts';

const EVERY_MS = 15_000;
/** A session in which nobody has talked for so long is sorted in. */
const QUIET_MS = 30_000;
/** One that is talked in all the time is sorted in so often: a search looks at each that has changed since. */
const PATIENCE_MS = 300_000;
/** So many sessions are looked up at once. */
const DUE_AT_ONCE = 1_000;
/** So many are sorted in at once, which holds up this thread and those who end one of them. */
const SORTED_AT_ONCE = 20;

interface DueRow {
  instance_id: string;
  changes: readonly string[];
}

interface TextRow {
  instance_id: string;
  project_id: string;
  session_id: string;
  updated_at: string;
  data: string;
}

/**
 * Sorts what was said in sessions into the index of characters, some time after it was said: a turn costs no more than
 * a note that there was one, and a session that changes all the time is sorted in now and then. Searches miss nothing
 * meanwhile, since they look at the texts of those that are not sorted in. Harmless when several nodes do it.
 *
 * @returns A function that stops it, and waits for what it is at; idempotent.
 */
export function startSessionIndexing(
  database: Database,
  clock: Clock,
  logger: { warn(fields: object, message: string): void },
): () => Promise<void> {
  let isStopping = false;
  const stop = repeat(
    clock,
    EVERY_MS,
    () => indexSessions(database, { isStopping: () => isStopping }),
    (error) => logger.warn({ err: error }, 'sessions were not sorted in for searches; it is tried again'),
  );
  return () => {
    isStopping = true;
    return stop();
  };
}

export interface IndexingOptions {
  /** A session in which nobody has talked for so long is sorted in. */
  readonly quietMs?: number;
  /** As is one that has waited for so long. */
  readonly maxWaitMs?: number;
  /** Asked between a few sessions and the next few. */
  readonly isStopping?: () => boolean;
}

/** Sorts in all sessions that are due. */
export async function indexSessions(
  database: Database,
  { quietMs = QUIET_MS, maxWaitMs: patienceMs = PATIENCE_MS, isStopping = () => false }: IndexingOptions = {},
): Promise<void> {
  const { query } = database.background ?? database;
  for (;;) {
    const due = await query<DueRow>(DUE, [quietMs, patienceMs, DUE_AT_ONCE]);
    for (let from = 0; from < due.length; from += SORTED_AT_ONCE) {
      if (isStopping()) return;
      await sortIn(query, due.slice(from, from + SORTED_AT_ONCE));
    }
    if (due.length < DUE_AT_ONCE) return;
  }
}

async function sortIn(query: Database['query'], due: readonly DueRow[]): Promise<void> {
  const texts = await query<TextRow>(TEXTS, [due.map(({ instance_id }) => instance_id)]);
  await query(KEEP, [
    texts.map(({ instance_id }) => instance_id),
    texts.map(({ project_id }) => project_id),
    texts.map(({ session_id }) => session_id),
    texts.map(({ updated_at }) => updated_at),
    texts.map(({ project_id, data }) => `{${gramsOf(project_id, data).join()}}`),
    due.flatMap(({ changes }) => changes),
  ]);
}

const DUE = `
  SELECT instance_id, array_agg(id::text) AS changes FROM session_text_changes
  GROUP BY instance_id
  HAVING max(at) <= now() - make_interval(secs => $1::float / 1000)
    OR min(at) <= now() - make_interval(secs => $2::float / 1000)
  ORDER BY min(at) LIMIT $3`;

const TEXTS = `
  SELECT instance_id, project_id, session_id, updated_at::text, data FROM session_texts
  WHERE instance_id = ANY ($1::uuid[])`;

/**
 * Takes away only the changes that were seen, which the texts read after them have; what an earlier reader kept too late
 * does not replace what is newer. Sessions that have ended meanwhile are left out, and none ends before this is done.
 */
const KEEP = `
  WITH living AS (
    SELECT instance_id FROM session_texts WHERE instance_id = ANY ($1::uuid[]) FOR KEY SHARE
  ), kept AS (
    INSERT INTO session_grams (instance_id, project_id, session_id, updated_at, grams)
    SELECT instance_id, project_id, session_id, updated_at, grams::bigint[]
    FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::timestamptz[], $5::text[])
      AS sorted (instance_id, project_id, session_id, updated_at, grams)
    JOIN living USING (instance_id)
    ON CONFLICT (instance_id) DO UPDATE SET updated_at = EXCLUDED.updated_at, grams = EXCLUDED.grams
    WHERE session_grams.updated_at < EXCLUDED.updated_at
  )
  DELETE FROM session_text_changes WHERE id = ANY ($6::text[]::bigint[])`;
