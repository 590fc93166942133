import { uuidV7 } from '../../../base/values/ids.ts';
import type { DeliveredEvent, WebhookDelivery, WebhookKind } from '../../../webhooks/deliveryStore.ts';
import { type EventQueueStore, type QueuedEvent, SETTLING_MS } from '../../../webhooks/eventQueue.ts';
import type { Database, Queryable } from '../connection/database.ts';
import { storableJson } from '../sql/storable.ts';
import { claimer } from '../work/claims.ts';

/** An hour of a busy project whose receiver is away: some 20 MB. */
const MAX_QUEUED_PER_PROJECT = 50_000;

interface QueuedRow {
  delivery_id: string;
  session_id: string | null;
  event: DeliveredEvent;
  webhook: WebhookKind;
  alert_id: string | null;
  body: string;
  attempt: number;
  queued_at: Date;
}

/** @param maxQueued - Events of a project that wait at once. */
export function eventQueueStore(
  database: Database,
  maxQueued: number = MAX_QUEUED_PER_PROJECT,
): EventQueueStore {
  return {
    claimDue: claimer(database, { name: 'event_queues' }),
    async append(events, now) {
      const rows = await database.query<{ project_id: string; count: number }>(APPEND, [
        events.map(({ deliveryId }) => deliveryId),
        events.map(({ projectId }) => projectId),
        events.map(({ sessionId }) => sessionId),
        events.map(({ type }) => type),
        events.map(({ place }) => place.atMs),
        events.map(({ place }) => place.number),
        events.map(({ body }) => body),
        now,
        new Date(now.getTime() + SETTLING_MS),
        maxQueued,
        events.map(({ alertId }) => alertId),
      ]);
      return rows.map(({ project_id, count }) => ({ projectId: project_id, count }));
    },
    next: (queueId, now, until) =>
      database.transaction((transaction) => nextOf(transaction, queueId, now, until)),
    settle: (queueId, delivery, retryAt) =>
      database.transaction((transaction) => settle(transaction, queueId, delivery, retryAt)),
    async release(queueId, now) {
      const sql = 'UPDATE event_queues SET next_at = least(next_at, $2) WHERE id = $1';
      await database.query(sql, [queueId, now]);
    },
    repeat: (projectId, deliveryId, now) => repeatDelivery(database, projectId, deliveryId, now),
  };
}

/**
 * $1 to $7 and $11 are the events. The result has those that were refused. Queues are locked in one order, so that nodes that add to the same ones do not wait for each
 * other in a circle. A queue that waits for its next attempt goes on waiting.
 */
const APPEND = `
  WITH happened AS (
    SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::bigint[], $6::bigint[], $7::text[], $11::uuid[])
      AS happened (delivery_id, project_id, session_id, event, at_ms, number, body, alert_id)
  ), given AS (
    SELECT happened.*, 'eventWebhook' AS webhook, coalesce('session ' || session_id, 'project') AS lane FROM happened
    JOIN agents ON agents.project_id = happened.project_id AND event = ANY (agents.event_types)
    UNION ALL
    SELECT gen_random_uuid(), happened.project_id, session_id, event, at_ms, number, body, alert_id, 'alertWebhook',
      'alert ' || alert_id FROM happened JOIN alerts ON alerts.id = alert_id AND alerts.webhook IS NOT NULL
  ), projects AS (
    SELECT project_id, (
      SELECT count(*) < $10 FROM (
        SELECT FROM queued_events WHERE queued_events.project_id = subscribed.project_id LIMIT $10
      ) AS counted
    ) AS has_room
    FROM (SELECT DISTINCT project_id FROM given) AS subscribed
  ), wanted AS (
    SELECT given.* FROM given JOIN projects USING (project_id) WHERE has_room
  ), queues AS (
    INSERT INTO event_queues AS queue (id, project_id, lane, next_at)
    SELECT gen_random_uuid(), project_id, lane, $9::timestamptz FROM wanted
    GROUP BY project_id, lane ORDER BY project_id, lane
    ON CONFLICT (project_id, lane) DO UPDATE SET next_at = queue.next_at
    RETURNING id, project_id, lane
  ), added AS (
    INSERT INTO queued_events
      (delivery_id, queue_id, project_id, session_id, at_ms, number, event, webhook, alert_id, body, attempt, queued_at)
    SELECT delivery_id, queues.id, project_id, session_id, at_ms, number, event, webhook,
      CASE webhook WHEN 'alertWebhook' THEN alert_id END, body, 0, $8::timestamptz
    FROM wanted JOIN queues USING (project_id, lane)
  )
  SELECT project_id, count(*)::integer AS count FROM given JOIN projects USING (project_id)
  WHERE NOT has_room GROUP BY project_id`;

const FIRST = `
  SELECT delivery_id, session_id, event, webhook, alert_id, body, attempt, queued_at FROM queued_events
  WHERE queue_id = $1 ORDER BY at_ms, number LIMIT 1`;

async function nextOf(
  transaction: Queryable,
  queueId: string,
  now: Date,
  until: Date,
): Promise<QueuedEvent | undefined> {
  const look = async (at: Date) => await transaction.query(LOOK_AT, [queueId, at]);
  if ((await look(until)).length === 0) return undefined;
  // After the lock was granted, so that no event is missed.
  const [first] = await transaction.query<QueuedRow>(FIRST, [queueId]);
  if (!first) {
    await transaction.query('DELETE FROM event_queues WHERE id = $1', [queueId]);
    return undefined;
  }
  const event = toQueued(first);
  const dueMs = event.attempt === 0 ? event.queuedAtMs + SETTLING_MS : 0;
  if (dueMs <= now.getTime()) return event;
  await look(new Date(dueMs));
  return undefined;
}

const LOOK_AT = 'UPDATE event_queues SET next_at = $2 WHERE id = $1 RETURNING id';

async function settle(
  transaction: Queryable,
  queueId: string,
  delivery: WebhookDelivery,
  retryAt: Date | null,
): Promise<boolean> {
  const { id, attempt } = delivery;
  const sql = retryAt
    ? 'UPDATE queued_events SET attempt = $2 WHERE delivery_id = $1 AND attempt = $2 - 1 RETURNING webhook, project_id, session_id, alert_id'
    : 'DELETE FROM queued_events WHERE delivery_id = $1 AND attempt = $2 - 1 RETURNING webhook, project_id, session_id, alert_id';
  const [queued] = await transaction.query<{
    webhook: WebhookKind;
    project_id: string;
    session_id: string | null;
    alert_id: string | null;
  }>(sql, [id, attempt]);
  if (!queued) return false;
  const { url, event, status, durationMs, error, at, body, answer } = delivery;
  await transaction.query(LOG, [
    id,
    attempt,
    queued.project_id,
    queued.session_id,
    queued.webhook,
    event,
    url,
    status,
    durationMs,
    error && storableJson(error),
    at,
    body,
    answer,
    queued.alert_id,
  ]);
  if (retryAt) await transaction.query(LOOK_AT, [queueId, retryAt]);
  return true;
}

const LOG = `
  INSERT INTO webhook_deliveries
    (id, attempt, project_id, session_id, webhook, event, url, status, duration_ms, error, at, body, answer, alert_id)
  SELECT $1, $2, id, $4, $5, $6, $7, $8, $9, $10::json, $11,
    CASE WHEN history_retention_days IS DISTINCT FROM 0 THEN $12 END,
    CASE WHEN history_retention_days IS DISTINCT FROM 0 THEN $13 END, $14
  FROM projects WHERE id = $3`;

async function repeatDelivery(
  database: Database,
  projectId: string,
  deliveryId: string,
  now: Date,
): ReturnType<EventQueueStore['repeat']> {
  const [waiting] = await database.query(DUE_NOW, [projectId, deliveryId, now]);
  if (waiting) return 'queued';
  const [logged] = await database.query<{ body: string | null }>(
    'SELECT body FROM webhook_deliveries WHERE project_id = $1 AND id = $2 ORDER BY attempt DESC LIMIT 1',
    [projectId, deliveryId],
  );
  if (!logged) return undefined;
  if (logged.body === null) return 'without_body';
  await database.query(REPEAT, [projectId, deliveryId, now, uuidV7()]);
  return 'queued';
}

/** It waits for its next attempt, or for those before it. */
const DUE_NOW = `
  UPDATE event_queues SET next_at = least(next_at, $3) FROM queued_events
  WHERE queue_id = event_queues.id AND queued_events.project_id = $1 AND delivery_id = $2 RETURNING delivery_id`;

/** Puts the event into its own queue, so that it does not wait for the session's other events. */
const REPEAT = `
  WITH logged AS (
    SELECT * FROM webhook_deliveries WHERE project_id = $1 AND id = $2 ORDER BY attempt DESC LIMIT 1
  ), queue AS (
    INSERT INTO event_queues (id, project_id, lane, next_at)
    SELECT $4, project_id, 'delivery ' || id, $3::timestamptz FROM logged
    ON CONFLICT (project_id, lane) DO NOTHING RETURNING id
  )
  INSERT INTO queued_events
    (delivery_id, queue_id, project_id, session_id, at_ms, number, event, webhook, alert_id, body, attempt, queued_at)
  SELECT logged.id, queue.id, project_id, session_id, 0, 0, event, webhook, alert_id, body, attempt, $3
  FROM logged, queue ON CONFLICT (delivery_id) DO NOTHING`;

function toQueued(row: QueuedRow): QueuedEvent {
  const { delivery_id, session_id, event, webhook, alert_id, body, attempt, queued_at } = row;
  return {
    deliveryId: delivery_id,
    sessionId: session_id,
    type: event,
    webhook,
    alertId: alert_id,
    body,
    attempt,
    queuedAtMs: new Date(queued_at).getTime(),
  };
}
