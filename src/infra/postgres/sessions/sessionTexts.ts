import type { Database } from '../connection/database.ts';
import { sizeBatches } from '../sql/sizeBatches.ts';

/** A conversation pauses for less; indexing it with each turn would cost more than the turns. */
const QUIET_MS = 120_000;
/** The value of `index_after` while a session goes on. */
export const WHEN_QUIET = `now() + interval '${QUIET_MS / 1000} seconds'`;
/** Another node indexes a session whose node failed after this time. */
const LEASE_SECONDS = 300;
/** Sessions claimed at once. */
const BATCH_SIZE = 20;
/**
 * A longer text is in no index: searches read it. Also the most that one statement indexes, which takes the embedded
 * database about 0.1 s.
 */
export const MAX_INDEXED_BYTES = 65_536;
/** Of messages that an earlier release indexed, moved at once: it is no hurry, and the embedded database does little else. */
const MOVED_BYTES = 16_384;
const MOVED_MESSAGES = 200;

interface ClaimedRow {
  instance_id: string;
  /** As text: a Date has no microseconds. */
  index_after: string;
}

/** A message that is not indexed. */
interface MessageRow {
  id: string;
  /** Bytes of its text. */
  characters: number;
}

export interface RefreshOptions {
  /** A session is indexed when it was quiet for this long. */
  readonly quietMs?: number | undefined;
  /** Checked between two sessions. */
  readonly isStopping?: () => boolean;
}

/**
 * Brings the search indexes up to date with sessions that are quiet or have ended: the words of their messages in
 * `session_messages.content`, and while they are live the text of their data in `session_texts`. A turn that is stored
 * meanwhile makes the session due again. One with a text above {@link MAX_INDEXED_BYTES} stays in the list of sessions that
 * searches read. Several nodes may run it.
 */
export async function refreshTexts(
  query: Database['query'],
  { quietMs = QUIET_MS, isStopping = () => false }: RefreshOptions = {},
): Promise<void> {
  for (;;) {
    const claimed = await query<ClaimedRow>(CLAIM, [QUIET_MS - quietMs, LEASE_SECONDS, BATCH_SIZE]);
    for (const { instance_id, index_after } of claimed) {
      if (isStopping()) return;
      const isLong = [await refreshLive(query, instance_id), await fillMessages(query, instance_id)];
      await query(SETTLE, [instance_id, index_after, isLong.includes(true)]);
    }
    if (claimed.length < BATCH_SIZE) return;
  }
}

/** @returns Whether its text is too long. */
async function refreshLive(query: Database['query'], instanceId: string): Promise<boolean> {
  const [live] = await query<{ is_long: boolean }>(REFRESH_LIVE, [instanceId, MAX_INDEXED_BYTES]);
  return live?.is_long ?? false;
}

/** @returns Whether it has a message that is too long. */
async function fillMessages(query: Database['query'], instanceId: string): Promise<boolean> {
  const unfilled = await query<MessageRow>(UNFILLED, [instanceId]);
  const short = unfilled.filter(({ characters }) => characters <= MAX_INDEXED_BYTES);
  for (const batch of sizeBatches(short, { characters: MAX_INDEXED_BYTES }))
    await query(FILL, [instanceId, batch.map(({ id }) => id)]);
  return short.length < unfilled.length;
}

/**
 * Moves the words that an earlier release indexed for all projects together to the index by project, then drops the index
 * that they were in. Several nodes may run it.
 */
export async function moveWords(
  { query, sharesSession }: Database,
  isStopping: () => boolean = () => false,
): Promise<void> {
  // Searches on a shared session do not use it, and with two indexes a statement takes others twice the time.
  if (sharesSession) await dropOldIndex(query);
  while (!isStopping()) {
    const moved = await query(MOVE, [MAX_INDEXED_BYTES, MOVED_BYTES]);
    if (moved.length > 0) continue;
    // Another node may be moving the last ones.
    if (!(await hasWordsToMove(query))) await dropOldIndex(query);
    return;
  }
}

/** Whether words are indexed for all projects together. */
export async function hasWordsToMove(query: Database['query']): Promise<boolean> {
  return (await query(TO_MOVE)).length > 0;
}

async function dropOldIndex(query: Database['query']): Promise<void> {
  const [index] = await query<{ exists: boolean }>(OLD_INDEX);
  if (index?.exists) await query('DROP INDEX CONCURRENTLY IF EXISTS session_messages_trigrams');
}

const CLAIM = `
  UPDATE session_history SET index_after = now() + make_interval(secs => $2)
  WHERE instance_id IN (
    SELECT instance_id FROM session_history
    WHERE index_after <= now() + make_interval(secs => $1::float / 1000)
    ORDER BY index_after LIMIT $3 FOR NO KEY UPDATE SKIP LOCKED
  ) RETURNING instance_id, index_after::text`;

const REFRESH_LIVE = `
  WITH live AS MATERIALIZED (
    SELECT instance_id, project_id, session_id, live_session_text(instance_id) AS data, started_at,
      coalesce(updated_at, last_activity_at) AS updated_at
    FROM sessions WHERE instance_id = $1 AND state->'test' IS NULL FOR KEY SHARE
  ), refreshed AS (
    INSERT INTO session_texts (instance_id, project_id, session_id, data, created_at, updated_at)
    SELECT * FROM live WHERE octet_length(data) <= $2
    ON CONFLICT (instance_id) DO UPDATE SET data = excluded.data, updated_at = excluded.updated_at
    WHERE session_texts.updated_at <= excluded.updated_at
  )
  SELECT octet_length(data) > $2 AS is_long FROM live`;

const UNFILLED = `
  SELECT id::text, octet_length(message->>'content') AS characters FROM session_messages
  WHERE instance_id = $1 AND content IS NULL AND message->>'content' IS NOT NULL ORDER BY id`;

const FILL = `
  UPDATE session_messages SET content = message->>'content'
  WHERE instance_id = $1 AND id = ANY ($2::text[]::bigint[])`;

const SETTLE = `
  UPDATE session_history SET index_after = CASE WHEN $3 THEN timestamptz 'infinity' END
  WHERE instance_id = $1 AND index_after = $2::timestamptz`;

/** The order is the partial index's, so that the server reads it. */
const TO_MOVE = `
  SELECT FROM session_messages WHERE content IS NOT NULL AND project_id IS NULL ORDER BY instance_id LIMIT 1`;

/** A trigger sets the project. Sessions with a text that is too long join the list of those that searches read. */
const MOVE = `
  WITH next AS (
    SELECT instance_id, id, octet_length(content) > $1 AS is_long, octet_length(content) AS bytes
    FROM session_messages WHERE content IS NOT NULL AND project_id IS NULL
    ORDER BY instance_id LIMIT ${MOVED_MESSAGES} FOR NO KEY UPDATE SKIP LOCKED
  ), batch AS (
    SELECT instance_id, id, is_long, bytes,
      sum(bytes) FILTER (WHERE NOT is_long) OVER (ORDER BY instance_id, id) AS total
    FROM next
  ), long AS (
    UPDATE session_history SET index_after = coalesce(index_after, 'infinity')
    WHERE instance_id IN (SELECT instance_id FROM batch WHERE is_long)
  )
  UPDATE session_messages AS message SET content = CASE WHEN NOT is_long THEN content END FROM batch
  WHERE message.instance_id = batch.instance_id AND message.id = batch.id AND (is_long OR total <= $2 OR total = bytes)
  RETURNING message.id`;

const OLD_INDEX = `SELECT to_regclass('session_messages_trigrams') IS NOT NULL AS exists`;
