import { DEFAULT_RETENTION_DAYS } from '../../agents/accounts/retention.ts';
import type { Queryable } from './connection/database.ts';

/** Rows per statement, to keep transactions short: a session has many rows of its own. */
const BATCH = 20;
/** The days for which usage is stored. The API shows a month; a year can be compared with the one before. */
const USAGE_DAYS = 400;
const EVENT_DELIVERY_DAYS = 3;
/** The days after the customer's last session. */
const MEMORY_DAYS = 365;

/** The days for which the progress of a job can be read. */
const JOB_DAYS = 30;

/** A node that was away for as long keeps the files that it should have removed. */
const REMOVAL_DAYS = 90;

/** The days of tests; null keeps them forever. */
const TEST_DAYS = `CASE WHEN retention_days ? 'tests' THEN ${daysOf('tests')} ELSE ${DEFAULT_RETENTION_DAYS} END`;

/**
 * The statements that remove expired rows. $1 is the time and $2 the most rows; each statement returns a row for each
 * that it removed.
 *
 * A LATERAL reads each project's index from its oldest entry, so that a statement with nothing to remove costs as much in
 * a large table as in a small one. Rows that another node is removing are skipped.
 */
export const EXPIRED = {
  // Unfinished webhooks keep a session that is not kept otherwise for a day at most; what insights have not counted, likewise.
  sessions: deleteFrom('session_history', 'instance_id', {
    where: `status = 'ended' AND NOT is_test AND ended_at <= ${daysAgo('history_retention_days')}
      AND (NOT to_count OR ended_at <= ${daysAgo('history_retention_days + 1')})
      AND (history_retention_days > 0 OR ended_at <= ${daysAgo('1')}
        OR NOT EXISTS (SELECT FROM webhook_outbox WHERE instance_id = session_history.instance_id))`,
    orderBy: 'ended_at',
  }),
  // The longest window of an alert.
  removedSessions: deleteFrom('insight_removed', 'id', {
    where: `ended_at <= ${daysAgo('1')}`,
    orderBy: 'ended_at',
  }),
  deliveries: deleteFrom('webhook_deliveries', 'id, attempt', {
    where: `at <= ${daysAgo(`CASE
      WHEN retention_days ? 'deliveries' THEN ${daysOf('deliveries')}
      WHEN history_retention_days = 0 THEN ${DEFAULT_RETENTION_DAYS}
      ELSE history_retention_days END`)}`,
    orderBy: 'at',
  }),
  // As many as the events of all sessions.
  eventDeliveries: deleteFrom('webhook_deliveries', 'id, attempt', {
    where: `webhook = 'eventWebhook' AND at <= ${daysAgo(String(EVENT_DELIVERY_DAYS))}`,
    orderBy: 'at',
  }),
  recordings: `
    UPDATE calls SET recording = NULL, recording_bytes = NULL, recording_peaks = NULL WHERE id IN (${endedCalls('recordings', `recording->>'key' IS NOT NULL AND NOT is_test`)})
    RETURNING 1`,
  traces: `
    WITH untraced AS (
      UPDATE calls SET is_trace_removed = true WHERE id IN (${endedCalls('traces', 'NOT is_trace_removed')})
      RETURNING id
    ), removed AS (
      DELETE FROM sip_trace USING untraced WHERE call_id = untraced.id
    )
    SELECT 1 FROM untraced`,
  // With their sessions.
  tests: deleteFrom('test_runs', 'id', {
    where: `created_at <= ${daysAgo(TEST_DAYS)}`,
    orderBy: 'created_at',
  }),
  // Of plays that were begun again after their node had failed.
  testSessions: deleteFrom('session_history', 'instance_id', {
    where: `is_test AND ended_at <= ${daysAgo(TEST_DAYS)}`,
    orderBy: 'ended_at',
  }),
  analysisJobs: deleteFrom('analysis_jobs', 'id', {
    where: `created_at <= ${daysAgo(String(JOB_DAYS))}`,
    orderBy: 'created_at',
  }),
  usage: deleteFrom('project_usage', 'project_id, day, kind', {
    where: `day <= ${daysAgo(String(USAGE_DAYS))}`,
    orderBy: 'day',
  }),
  legacyUsage: deleteFrom('legacy_usage', 'project_id, day, route', {
    where: `day <= ${daysAgo(String(USAGE_DAYS))}`,
    orderBy: 'day',
  }),
  memories: `
    DELETE FROM customer_memories WHERE (project_id, customer) IN (
      SELECT project_id, customer FROM customer_memories WHERE updated_at <= ${daysAgo(String(MEMORY_DAYS))}
      ORDER BY updated_at LIMIT $2 FOR UPDATE SKIP LOCKED
    ) RETURNING 1`,
  recordingRemovals: endRemovals('recording_removals', 'key', 'since'),
  fileRemovals: endRemovals('file_removals', 'file_key', 'at'),
  contacts: `
    WITH removed AS (
      DELETE FROM campaign_contacts WHERE id IN (
        SELECT found.id FROM campaign_removals, LATERAL (
          SELECT id FROM campaign_contacts WHERE campaign_id = campaign_removals.campaign_id
          LIMIT $2 FOR UPDATE SKIP LOCKED
        ) AS found WHERE since <= $1 LIMIT $2
      ) RETURNING 1
    ), emptied AS (
      DELETE FROM campaign_removals WHERE since <= $1
        AND NOT EXISTS (SELECT FROM campaign_contacts WHERE campaign_id = campaign_removals.campaign_id)
    )
    SELECT 1 FROM removed`,
  idempotencyKeys: `
    DELETE FROM idempotency_keys WHERE (scope, key) IN (
      SELECT scope, key FROM idempotency_keys WHERE created_at <= ${daysAgo('1')}
      ORDER BY created_at LIMIT $2 FOR UPDATE SKIP LOCKED
    ) RETURNING 1`,
};

export type Expired = keyof typeof EXPIRED;

/**
 * Removes what is past its time, in batches that several nodes may remove side by side.
 *
 * @param isStopping - Ends it before the next batch.
 * @returns The number of removed rows.
 */
export async function removeExpired(
  database: Queryable,
  what: Expired,
  now: Date,
  isStopping: () => boolean = () => false,
): Promise<number> {
  let removed = 0;
  while (!isStopping()) {
    const { length } = await database.query(EXPIRED[what], [now, BATCH]);
    removed += length;
    if (length < BATCH) break;
  }
  return removed;
}

interface Choice {
  /** The condition over the table and `projects`. */
  readonly where: string;
  /** The order of an index that begins with the project. */
  readonly orderBy: string;
}

function deleteFrom(table: string, key: string, choice: Choice): string {
  return `DELETE FROM ${table} WHERE (${key}) IN (${expired(table, key, choice)}) RETURNING 1`;
}

function endRemovals(table: string, key: string, since: string): string {
  return `
    DELETE FROM ${table} WHERE ${key} IN (
      SELECT ${key} FROM ${table} WHERE ${since} <= ${daysAgo(String(REMOVAL_DAYS))} LIMIT $2 FOR UPDATE SKIP LOCKED
    ) RETURNING 1`;
}

/** The expired rows of all projects. */
function expired(table: string, key: string, { where, orderBy }: Choice): string {
  return `
    SELECT found.* FROM projects, LATERAL (
      SELECT ${key} FROM ${table} WHERE project_id = projects.id AND ${where}
      ORDER BY ${orderBy} LIMIT $2 FOR UPDATE OF ${table} SKIP LOCKED
    ) AS found LIMIT $2`;
}

/** Calls that have one, and ended before its days. */
function endedCalls(field: 'recordings' | 'traces', has: string): string {
  const where = `${has} AND ended_at <= ${daysAgo(daysOf(field))}`;
  return expired('calls', 'calls.id', { where, orderBy: 'ended_at' });
}

/**
 * Returns the SQL for the time that many days ago. It is null when the days are null, and no row is older than null.
 */
function daysAgo(days: string): string {
  return `$1::timestamptz - make_interval(days => ${days})`;
}

/** Returns the SQL for the project's setting; null when it has none. @see retentionFrom */
function daysOf(field: 'recordings' | 'deliveries' | 'traces' | 'tests'): string {
  return `(retention_days->>'${field}')::integer`;
}
