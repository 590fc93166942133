import type { Database } from '../connection/database.ts';
import { sizeBatches } from '../sql/sizeBatches.ts';

/** A conversation pauses for less; indexing it with each turn would cost more than the turns. */
const QUIET_MS = 120_000;
/** The value of `index_after` during a session. */
export const WHEN_QUIET = `now() + interval '${QUIET_MS / 1000} seconds'`;
/** The lease of a session. Another node indexes a session whose node failed after this time. */
const LEASE_SECONDS = 300;
/** The number of sessions that are claimed at once. */
const BATCH_SIZE = 20;
/**
 * A longer text is in no index: searches read it. Also the most that one statement indexes, which takes the embedded
 * database about 0.1 s.
 */
export const MAX_INDEXED_BYTES = 65_536;

interface ClaimedRow {
  instance_id: string;
  /** The time as text, since a Date has no microseconds. */
  index_after: string;
}

/** A message that is not indexed. */
interface MessageRow {
  id: string;
  /** The number of bytes of its text. */
  characters: number;
}

export interface RefreshOptions {
  /** A session is indexed when it was quiet for this long. */
  readonly quietMs?: number | undefined;
  /** Returns true when the process stops. It is called between two sessions. */
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

/** @returns True when its text is too long. */
async function refreshLive(query: Database['query'], instanceId: string): Promise<boolean> {
  const [live] = await query<{ is_long: boolean }>(REFRESH_LIVE, [instanceId, MAX_INDEXED_BYTES]);
  return live?.is_long ?? false;
}

/** @returns True when it has a message that is too long. */
async function fillMessages(query: Database['query'], instanceId: string): Promise<boolean> {
  const unfilled = await query<MessageRow>(UNFILLED, [instanceId]);
  const short = unfilled.filter(({ characters }) => characters <= MAX_INDEXED_BYTES);
  for (const batch of sizeBatches(short, { characters: MAX_INDEXED_BYTES }))
    await query(FILL, [instanceId, batch.map(({ id }) => id)]);
  return short.length < unfilled.length;
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
      updated_at
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
  UPDATE session_messages AS message SET content = message->>'content', project_id = history.project_id
  FROM session_history AS history
  WHERE history.instance_id = $1 AND message.instance_id = $1 AND id = ANY ($2::text[]::bigint[])`;

const SETTLE = `
  UPDATE session_history SET index_after = CASE WHEN $3 THEN timestamptz 'infinity' END
  WHERE instance_id = $1 AND index_after = $2::timestamptz`;
