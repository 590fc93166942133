import type { Database } from '../connection/database.ts';

/** A conversation pauses for less; indexing it with each turn would cost more than the turns. */
const QUIET_MS = 120_000;
/** The value of `index_after` while a session goes on. */
export const WHEN_QUIET = `now() + interval '${QUIET_MS / 1000} seconds'`;
/** Another node indexes a session whose node failed after this time. */
const LEASE_SECONDS = 300;
/** Sessions claimed at once. */
const BATCH_SIZE = 20;

interface ClaimedRow {
  instance_id: string;
  /** As text: a Date has no microseconds. */
  index_after: string;
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
 * meanwhile makes the session due again. Several nodes may run it.
 */
export async function refreshTexts(
  query: Database['query'],
  { quietMs = QUIET_MS, isStopping = () => false }: RefreshOptions = {},
): Promise<void> {
  for (;;) {
    const claimed = await query<ClaimedRow>(CLAIM, [QUIET_MS - quietMs, LEASE_SECONDS, BATCH_SIZE]);
    for (const { instance_id, index_after } of claimed) {
      if (isStopping()) return;
      await query(REFRESH_LIVE, [instance_id]);
      await query(FILL, [instance_id]);
      await query(SETTLE, [instance_id, index_after]);
    }
    if (claimed.length < BATCH_SIZE) return;
  }
}

const CLAIM = `
  UPDATE session_history SET index_after = now() + make_interval(secs => $2)
  WHERE instance_id IN (
    SELECT instance_id FROM session_history
    WHERE index_after <= now() + make_interval(secs => $1::float / 1000)
    ORDER BY index_after LIMIT $3 FOR NO KEY UPDATE SKIP LOCKED
  ) RETURNING instance_id, index_after::text`;

const REFRESH_LIVE = `
  INSERT INTO session_texts (instance_id, project_id, session_id, data, created_at, updated_at)
  SELECT instance_id, project_id, session_id, live_session_text(instance_id), started_at,
    coalesce(updated_at, last_activity_at)
  FROM sessions WHERE instance_id = $1 AND state->'test' IS NULL FOR KEY SHARE
  ON CONFLICT (instance_id) DO UPDATE SET data = excluded.data, updated_at = excluded.updated_at
  WHERE session_texts.updated_at <= excluded.updated_at`;

const FILL = `
  UPDATE session_messages SET content = message->>'content'
  WHERE instance_id = $1 AND content IS NULL AND message->>'content' IS NOT NULL`;

const SETTLE = `
  UPDATE session_history SET index_after = NULL WHERE instance_id = $1 AND index_after = $2::timestamptz`;

/**
 * A query of the sessions in which something was said. Messages that are not indexed yet are read.
 *
 * @param pattern - Parameter of a LIKE pattern; `$1` is the project.
 */
export const instancesSaying = (pattern: string): string => `
  SELECT instance_id FROM session_messages WHERE content ILIKE ${pattern}
  UNION ALL
  SELECT instance_id FROM session_messages JOIN session_history AS changed USING (instance_id)
  WHERE changed.project_id = $1 AND changed.index_after IS NOT NULL
    AND content IS NULL AND message->>'content' ILIKE ${pattern}`;
