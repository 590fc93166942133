import type { WebhookEventName } from '../../../agents/agentConfig.ts';
import type { SessionCost } from '../../../agents/cost/rates.ts';
import { type Amounts, type SessionUsage, toSessionUsage } from '../../../agents/cost/usage.ts';
import { createEmitter, type EventSource } from '../../../base/emitter.ts';
import type { Analysis } from '../../../engine/history/sessionResults.ts';
import type { Channel } from '../../../engine/session/session.ts';
import { type GateOutcome, type GateStatus, isGateDone } from '../../../webhooks/deliveryGate.ts';
import type { WebhookDelivery } from '../../../webhooks/deliveryStore.ts';
import type { Outbox, OutboxEvent, OutboxSession, OutboxStore } from '../../../webhooks/outboxStore.ts';
import type { Database, Queryable } from '../connection/database.ts';
import { countBeforeRemoval } from '../results/countSessions.ts';
import { resultParameters, setResults } from '../sessions/sessionResults.ts';
import { fieldsOf, isoTime } from '../sql/rows.ts';
import { storableJson } from '../sql/storable.ts';
import { claimer } from '../work/claims.ts';

interface Row {
  finalize_by: Date;
  evaluating: boolean;
  tasks_at: Date | null;
  task_attempts: number;
  facts: WebhookEventName[];
}

interface EventRow {
  event: WebhookEventName;
  subscribed: boolean;
  status: GateStatus;
  outcome: GateOutcome | null;
  attempt: number;
  delivery_id: string | null;
  lease_until: Date | null;
}

type StoredSession = Omit<OutboxSession, 'analysis' | 'missingVariables' | 'factsAt' | 'usage'> & {
  readonly analysis: Analysis | null;
  readonly usage: Amounts | null;
  readonly missingVariables: readonly string[] | null;
  readonly facts: Partial<Record<WebhookEventName, string>> | null;
};

/** A session whose events are settled. */
interface FinalizedSession {
  readonly projectId: string;
  readonly sessionId: string;
  readonly callId: string | null;
  readonly release: number | null;
  readonly channel: Channel;
  readonly startedAt: string;
  readonly endedAt: string;
  readonly endReason: string;
  readonly evaluation: unknown;
  readonly analysis: Analysis | undefined;
  readonly usage: SessionUsage;
  readonly cost: SessionCost | null;
}

export interface WebhookOutbox extends OutboxStore {
  /** `finalized` once for each session, after its last event was settled. */
  readonly events: EventSource<{ readonly finalized: FinalizedSession }>;
}

export function webhookOutbox(database: Database): WebhookOutbox {
  const events = createEmitter<{ readonly finalized: FinalizedSession }>(() => undefined);
  return {
    events,
    claimDue: claimer(database, { name: 'webhook_outbox', key: 'instance_id' }),
    async advance(instanceId, step) {
      let finalized: FinalizedSession | undefined;
      const done = await database.transaction(async (transaction) => {
        finalized = undefined;
        const before = await load(transaction, instanceId);
        if (!before) return undefined;
        const { outbox, nextAtMs, delivery, result } = step(before);
        if (delivery) await keepDelivery(transaction, instanceId, delivery);
        if (isWaiting(before) && !isWaiting(outbox)) await transaction.query(SKIP_ANALYSIS, [instanceId]);
        if (isGateDone(outbox.events) && !isGateDone(before.events))
          finalized = await findFinalized(transaction, instanceId);
        if (nextAtMs === null) await remove(transaction, instanceId);
        else await save(transaction, instanceId, before, outbox, nextAtMs);
        return result;
      });
      if (finalized) events.emit('finalized', finalized);
      return done;
    },
    async release(instanceId, now) {
      const sql = 'UPDATE webhook_outbox SET next_at = least(next_at, $2) WHERE instance_id = $1';
      await database.query(sql, [instanceId, now]);
    },
    async session(instanceId) {
      const [row] = await database.query<object>(SESSION, [instanceId]);
      return row && toSession(row);
    },
    async recordFact(instanceId, event, at) {
      await database.query(RECORD_FACT, [instanceId, event, at]);
    },
    async saveResults(instanceId, results, at) {
      await database.query(SAVE_RESULTS, [instanceId, 'session.finalized', at, ...resultParameters(results)]);
    },
  };
}

const SESSION = `
  SELECT history.project_id, session_id, release_id, release, channel, call_id, started_at, ended_at, end_reason,
    variables, evaluation, analysis, usage, cost,
    (SELECT data->'missingVariables' FROM session_events
     WHERE instance_id = history.instance_id AND type = 'session_ended' ORDER BY id DESC LIMIT 1) AS missing_variables,
    (SELECT coalesce(json_agg(message ORDER BY id), '[]'::json) FROM session_messages
     WHERE instance_id = history.instance_id AND text IS NOT NULL) AS messages,
    (SELECT json_object_agg(event, at) FROM webhook_facts WHERE instance_id = history.instance_id) AS facts
  FROM session_history AS history JOIN webhook_outbox USING (instance_id) WHERE instance_id = $1`;

/** The last part waits for a concurrent transaction of the session, so that the fact is not missed. */
const INSERT_FACT = `
  fact AS (
    INSERT INTO webhook_facts (instance_id, event, at)
    SELECT instance_id, $2, $3 FROM session_history WHERE instance_id = $1
    ON CONFLICT (instance_id, event) DO NOTHING
  )
  UPDATE webhook_outbox SET next_at = least(next_at, $3) WHERE instance_id = $1`;

const RECORD_FACT = `WITH ${INSERT_FACT}`;

const SAVE_RESULTS = `
  WITH history AS (
    UPDATE session_history SET ${setResults('$4', '$5')} WHERE instance_id = $1
  ), ${INSERT_FACT}`;

const SKIP_ANALYSIS = `
  UPDATE session_history AS history SET analysis = skipped_analysis
  FROM webhook_outbox AS outbox
  WHERE history.instance_id = $1 AND outbox.instance_id = $1 AND history.analysis IS NULL`;

const FINALIZED = `
  SELECT project_id, session_id, call_id, release, channel, started_at, ended_at, end_reason, evaluation, analysis,
    usage, cost
  FROM session_history WHERE instance_id = $1`;

async function load(transaction: Queryable, instanceId: string): Promise<Outbox | undefined> {
  const [row] = await transaction.query<Omit<Row, 'facts'>>(
    `SELECT finalize_by, evaluating, tasks_at, task_attempts
     FROM webhook_outbox WHERE instance_id = $1 FOR UPDATE`,
    [instanceId],
  );
  if (!row) return undefined;
  // Read after the lock was granted, so that no earlier event is missed.
  const events = await transaction.query<EventRow>(
    `SELECT event, subscribed, status, outcome, attempt, delivery_id, lease_until
     FROM webhook_events WHERE instance_id = $1 ORDER BY position`,
    [instanceId],
  );
  const facts = await transaction.query<{ event: WebhookEventName }>(
    'SELECT event FROM webhook_facts WHERE instance_id = $1',
    [instanceId],
  );
  return toOutbox({ ...row, facts: facts.map(({ event }) => event) }, events);
}

async function save(
  transaction: Queryable,
  instanceId: string,
  before: Outbox,
  outbox: Outbox,
  nextAtMs: number,
): Promise<void> {
  for (const [index, event] of outbox.events.entries()) {
    if (event !== before.events[index]) await saveEvent(transaction, instanceId, event);
  }
  await transaction.query(
    `UPDATE webhook_outbox SET next_at = $2, tasks_at = $3, task_attempts = $4 WHERE instance_id = $1`,
    [instanceId, new Date(nextAtMs), dateOrNull(outbox.tasksAtMs), outbox.taskAttempts],
  );
}

async function saveEvent(transaction: Queryable, instanceId: string, event: OutboxEvent): Promise<void> {
  await transaction.query(
    `UPDATE webhook_events SET status = $3, outcome = $4, attempt = $5, delivery_id = $6, lease_until = $7
     WHERE instance_id = $1 AND event = $2`,
    [
      instanceId,
      event.event,
      event.status,
      event.outcome,
      event.attempt,
      event.deliveryId,
      dateOrNull(event.leaseUntilMs),
    ],
  );
}

/** No event is pending. The rows of a project without history retention are removed now. */
async function remove(transaction: Queryable, instanceId: string): Promise<void> {
  await transaction.query('DELETE FROM webhook_outbox WHERE instance_id = $1', [instanceId]);
  const [unkept] = await transaction.query(
    `SELECT FROM session_history JOIN projects ON projects.id = project_id
     WHERE instance_id = $1 AND history_retention_days = 0`,
    [instanceId],
  );
  if (!unkept) return;
  await countBeforeRemoval(transaction, [instanceId]);
  await transaction.query('DELETE FROM session_history WHERE instance_id = $1', [instanceId]);
}

async function findFinalized(
  transaction: Queryable,
  instanceId: string,
): Promise<FinalizedSession | undefined> {
  const [row] = await transaction.query<object>(FINALIZED, [instanceId]);
  if (!row) return undefined;
  const { usage, ...finalized } = fieldsOf<
    Omit<FinalizedSession, 'usage'> & { readonly usage: Amounts | null }
  >(row);
  return {
    ...finalized,
    evaluation: finalized.evaluation ?? undefined,
    analysis: finalized.analysis ?? undefined,
    usage: toSessionUsage(usage ?? {}),
  };
}

/** Whether `session.finalized` waits for what it is to tell. */
function isWaiting({ events }: Outbox): boolean {
  return events.at(-1)?.status === 'waiting';
}

async function keepDelivery(
  transaction: Queryable,
  instanceId: string,
  delivery: WebhookDelivery,
): Promise<void> {
  const { id, attempt, event, url, status, durationMs, error, at, body, answer } = delivery;
  await transaction.query(
    `INSERT INTO webhook_deliveries
       (id, attempt, project_id, session_id, event, url, status, duration_ms, error, at, body, answer)
     SELECT $2, $3, project_id, session_id, $4, $5, $6, $7, $8::json, $9,
       CASE WHEN history_retention_days IS DISTINCT FROM 0 THEN $10 END,
       CASE WHEN history_retention_days IS DISTINCT FROM 0 THEN $11 END
     FROM session_history JOIN projects ON projects.id = project_id WHERE instance_id = $1`,
    [instanceId, id, attempt, event, url, status, durationMs, error && storableJson(error), at, body, answer],
  );
  const data = { event, deliveryId: id, status, durationMs, error: error ?? undefined };
  await transaction.query(
    `INSERT INTO session_events (instance_id, type, at, data) VALUES ($1, 'webhook_sent', $2, $3::json)`,
    [instanceId, at, storableJson(data)],
  );
}

function toOutbox(row: Row, events: readonly EventRow[]): Outbox {
  return {
    finalizeByMs: new Date(row.finalize_by).getTime(),
    evaluating: row.evaluating,
    tasksAtMs: msOrNull(row.tasks_at),
    taskAttempts: row.task_attempts,
    events: events.map(({ delivery_id, lease_until, ...rest }) => ({
      ...rest,
      deliveryId: delivery_id,
      leaseUntilMs: msOrNull(lease_until),
    })),
    facts: row.facts,
  };
}

function toSession(row: object): OutboxSession {
  const { missingVariables, facts, usage, ...session } = fieldsOf<StoredSession>(row);
  return {
    ...session,
    missingVariables: missingVariables ?? [],
    evaluation: session.evaluation ?? undefined,
    analysis: session.analysis ?? undefined,
    usage: toSessionUsage(usage ?? {}),
    factsAt: Object.fromEntries(Object.entries(facts ?? {}).map(([event, at]) => [event, isoTime(at)])),
  };
}

function msOrNull(date: Date | null): number | null {
  return date && new Date(date).getTime();
}

function dateOrNull(ms: number | null): Date | null {
  return ms === null ? null : new Date(ms);
}
