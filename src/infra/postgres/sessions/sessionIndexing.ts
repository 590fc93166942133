import { repeat } from '../../../base/async/repeat.ts';
import type { Clock } from '../../../base/values/clock.ts';
import type { Database } from '../connection/database.ts';
import { sizeBatches } from '../sql/sizeBatches.ts';
import { ngramsOf } from './ngrams.ts';
import { MAX_INDEXED_BYTES, refreshTexts } from './sessionTexts.ts';

const EVERY_MS = 15_000;
/** A text is indexed when it has not changed for this long. */
const QUIET_MS = 30_000;
/** A busy session is indexed this often: a search scans all sessions that changed since. */
const MAX_WAIT_MS = 300_000;
/** The most sessions that are read at once. */
const MAX_DUE = 1_000;
/** Sessions indexed at once; this blocks the end of these sessions. */
const BATCH_SIZE = 20;

interface DueRow {
  instance_id: string;
  characters: number;
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
 * Indexes the texts of sessions some time after they change: a turn only records that the session has changed. Searches
 * are complete meanwhile, since they read sessions that are not indexed. Several nodes may run it.
 *
 * @returns A function that stops it and waits for the running pass; idempotent.
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
    (error) => logger.warn({ err: error }, 'session search indexing failed, will be retried'),
  );
  return () => {
    isStopping = true;
    return stop();
  };
}

export interface IndexingOptions {
  /** A session is indexed when it was quiet for this long, */
  readonly quietMs?: number;
  /** or has waited for this long. */
  readonly maxWaitMs?: number;
  /** Returns true when the process stops. It is called between two batches. */
  readonly isStopping?: () => boolean;
}

/** Indexes all sessions that are due: first their texts, then the texts' characters. */
export async function indexSessions(
  database: Database,
  { quietMs, maxWaitMs = MAX_WAIT_MS, isStopping = () => false }: IndexingOptions = {},
): Promise<void> {
  const { query } = database;
  await refreshTexts(query, { quietMs, isStopping });
  for (;;) {
    const due = await query<DueRow>(DUE, [quietMs ?? QUIET_MS, maxWaitMs, MAX_DUE]);
    for (const batch of sizeBatches(due, { rows: BATCH_SIZE, characters: MAX_INDEXED_BYTES })) {
      if (isStopping()) return;
      await indexBatch(query, batch);
    }
    if (due.length < MAX_DUE) return;
  }
}

async function indexBatch(query: Database['query'], due: readonly DueRow[]): Promise<void> {
  const texts = await query<TextRow>(TEXTS, [due.map(({ instance_id }) => instance_id)]);
  const grams: string[] = [];
  for (const { project_id, data } of texts) grams.push(`{${(await ngramsOf(project_id, data)).join()}}`);
  await query(KEEP, [
    texts.map(({ instance_id }) => instance_id),
    texts.map(({ project_id }) => project_id),
    texts.map(({ session_id }) => session_id),
    texts.map(({ updated_at }) => updated_at),
    grams,
    due.flatMap(({ changes }) => changes),
  ]);
}

const DUE = `
  SELECT instance_id, array_agg(id::text) AS changes, coalesce(
    (SELECT octet_length(data) FROM session_texts WHERE session_texts.instance_id = changed.instance_id), 0
  ) AS characters
  FROM session_text_changes AS changed GROUP BY instance_id
  HAVING max(at) <= now() - make_interval(secs => $1::float / 1000)
    OR min(at) <= now() - make_interval(secs => $2::float / 1000)
  ORDER BY min(at) LIMIT $3`;

const TEXTS = `
  SELECT instance_id, project_id, session_id, updated_at::text, data FROM session_texts
  WHERE instance_id = ANY ($1::uuid[])`;

/**
 * Deletes only the changes that were read before the texts. An older result does not replace a newer one. Sessions
 * that have ended meanwhile are skipped, and none can end before this commits.
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
