import type { AuditEntry } from '../../../agents/accounts/audit.ts';
import {
  type CustomerName,
  type CustomerStore,
  type ErasedBatch,
  MAX_CUSTOMER_IDS,
  type UnsettledCall,
} from '../../../calls/customers/customer.ts';
import { forgetListedNumbers } from '../calls/doNotCall.ts';
import { removeContacts } from '../campaigns/contacts.ts';
import type { Database, Queryable } from '../connection/database.ts';
import { auditStore } from '../projects/audit.ts';
import { countBeforeRemoval } from '../results/countSessions.ts';
import type { NumberDigests } from '../secrets/numberDigests.ts';
import { isoTime } from '../sql/rows.ts';

/** Sessions in one transaction, each with all of its messages. */
const BATCH = 20;

/** The customer's number, as in the index. */
export const CUSTOMER_NUMBER = `left(CASE direction WHEN 'inbound' THEN from_number ELSE to_number END, 256)`;

/** The parameters are the project ($1) and the key ($2). */
const FOUND = `
  found AS MATERIALIZED (
    SELECT instance_id FROM sessions WHERE project_id = $1 AND customer_id_of(state->'variables') = $2
    UNION SELECT instance_id FROM session_history WHERE project_id = $1 AND customer_id_of(variables) = $2
    UNION SELECT instance_id FROM calls WHERE project_id = $1 AND ${CUSTOMER_NUMBER} = $2
  )`;

const KEPT = `
  WITH ${FOUND}
  SELECT history.session_id, calls.id AS call_id, calls.recording->>'key' IS NOT NULL AS is_recorded,
    (count(*) OVER ())::integer AS sessions, (count(calls.id) OVER ())::integer AS calls,
    (count(calls.recording->>'key') OVER ())::integer AS recordings
  FROM found JOIN session_history AS history USING (instance_id) LEFT JOIN calls USING (instance_id)
  ORDER BY history.started_at DESC, instance_id DESC LIMIT ${MAX_CUSTOMER_IDS}`;

const NEXT = `
  WITH ${FOUND}
  SELECT instance_id, history.session_id, calls.id AS call_id, ${CUSTOMER_NUMBER} AS number,
    calls.recording->>'key' AS recording_key
  FROM found JOIN session_history AS history USING (instance_id) LEFT JOIN calls USING (instance_id)
  WHERE calls.settled IS NOT FALSE ORDER BY instance_id LIMIT ${BATCH}`;

const UNSETTLED = `
  WITH ${FOUND}
  SELECT id, ended_at IS NOT NULL AS has_ended FROM found JOIN calls USING (instance_id)
  WHERE NOT settled ORDER BY id`;

const MEMORIES = 'project_id = $1 AND customer = ANY ($2::text[])';

interface KeptRow {
  session_id: string;
  call_id: string | null;
  is_recorded: boolean;
  sessions: number;
  calls: number;
  recordings: number;
}

interface NextRow {
  instance_id: string;
  session_id: string;
  call_id: string | null;
  number: string | null;
  recording_key: string | null;
}

interface ErasureRow {
  entry: AuditEntry;
  sessions: number;
  calls: number;
  recordings: number;
}

/** Starts transactions of its own. */
export function customerStore(database: Database, digests: NumberDigests): CustomerStore {
  return {
    async find({ projectId, key }) {
      const [kept, memories] = await Promise.all([
        database.query<KeptRow>(KEPT, [projectId, key]),
        database.query<{ memory: string; updated_at: Date }>(
          `SELECT memory, updated_at FROM customer_memories WHERE ${MEMORIES} ORDER BY updated_at DESC`,
          [projectId, memoryKeys(key)],
        ),
      ]);
      const [first] = kept;
      const [newest] = memories;
      if (!first && !newest) return undefined;
      const text = memories.map(({ memory }) => memory).join('\n');
      const callIds = (rows: readonly KeptRow[]) => rows.flatMap(({ call_id }) => call_id ?? []);
      return {
        key,
        memory: newest ? { text, updatedAt: isoTime(newest.updated_at) } : null,
        sessions: { total: first?.sessions ?? 0, ids: kept.map(({ session_id }) => session_id) },
        calls: { total: first?.calls ?? 0, ids: callIds(kept) },
        recordings: {
          total: first?.recordings ?? 0,
          ids: callIds(kept.filter(({ is_recorded }) => is_recorded)),
        },
      };
    },
    async unsettledCalls({ projectId, key }): Promise<UnsettledCall[]> {
      const rows = await database.query<{ id: string; has_ended: boolean }>(UNSETTLED, [projectId, key]);
      return rows.map(({ id, has_ended }) => ({ id, hasEnded: has_ended }));
    },
    removeMemory: ({ projectId, key }, entry) =>
      database.transaction(async (transaction) => {
        const removed = await transaction.query(
          `DELETE FROM customer_memories WHERE ${MEMORIES} RETURNING customer`,
          [projectId, memoryKeys(key)],
        );
        if (removed.length > 0) await auditStore(transaction).append(entry);
        return removed.length > 0;
      }),
    async requestErasure({ projectId, key }, entry) {
      await database.query(
        `INSERT INTO customer_erasures (project_id, customer, entry) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`,
        [projectId, key, JSON.stringify(entry)],
      );
    },
    eraseNext: (name) => database.transaction((transaction) => eraseNext(transaction, digests, name)),
    async pendingErasures(limit, after) {
      const rows = await database.query<{ project_id: string; customer: string }>(
        `SELECT project_id, customer FROM customer_erasures
         WHERE $2::uuid IS NULL OR (project_id, customer) > ($2, $3) ORDER BY project_id, customer LIMIT $1`,
        [limit, after?.projectId ?? null, after?.key ?? null],
      );
      return rows.map(({ project_id, customer }) => ({ projectId: project_id, key: customer }));
    },
  };
}

async function eraseNext(
  transaction: Queryable,
  digests: NumberDigests,
  { projectId, key }: CustomerName,
): Promise<ErasedBatch | undefined> {
  const [erasure] = await transaction.query<ErasureRow>(
    `SELECT entry, sessions, calls, recordings FROM customer_erasures
     WHERE project_id = $1 AND customer = $2 FOR UPDATE`,
    [projectId, key],
  );
  if (!erasure) return undefined;
  await removeContacts(transaction, projectId, key);
  const rows = await transaction.query<NextRow>(NEXT, [projectId, key]);
  const isLast = rows.length < BATCH;
  const instanceIds = rows.map(({ instance_id }) => instance_id);
  const callIds = rows.flatMap(({ call_id }) => call_id ?? []);
  const recordingKeys = rows.flatMap(({ recording_key }) => recording_key ?? []);
  // A turn, a delivery or a memory that is being stored locks one of these rows, and is found after it.
  for (const sql of BEFORE_SESSIONS) await transaction.query(sql, [instanceIds]);
  await countBeforeRemoval(transaction, instanceIds);
  await transaction.query('DELETE FROM session_history WHERE instance_id = ANY ($1::uuid[])', [instanceIds]);
  await transaction.query('DELETE FROM call_dialogs WHERE call_id = ANY ($1::uuid[])', [callIds]);
  await transaction.query(
    'DELETE FROM webhook_deliveries WHERE project_id = $1 AND session_id = ANY ($2::text[])',
    [projectId, rows.map(({ session_id }) => session_id)],
  );
  await transaction.query(
    'DELETE FROM queued_events WHERE project_id = $1 AND session_id = ANY ($2::text[])',
    [projectId, rows.map(({ session_id }) => session_id)],
  );
  // The memory that the sessions were added to: of a call that of its number.
  const numbers = [...new Set(rows.flatMap(({ number }) => number ?? []))];
  await transaction.query(`DELETE FROM customer_memories WHERE ${MEMORIES}`, [
    projectId,
    [...memoryKeys(key), ...numbers.map((number) => `phone:${number}`)],
  ]);
  await forgetListedNumbers(transaction, digests, projectId, [key, ...numbers]);
  const erased: ErasureRow = {
    entry: erasure.entry,
    sessions: erasure.sessions + rows.length,
    calls: erasure.calls + callIds.length,
    recordings: erasure.recordings + recordingKeys.length,
  };
  await (isLast ? complete : saveProgress)(transaction, { projectId, key }, erased);
  return { instanceIds, callIds, recordingKeys, isLast };
}

/** The outbox comes first, as with a delivery that adds to the history. */
const BEFORE_SESSIONS = [
  // Runs keep copies of the cases that were made from a session.
  `DELETE FROM test_runs WHERE source_instance_id = ANY ($1::uuid[]) OR id IN (
     SELECT run_id FROM test_run_cases JOIN test_cases ON test_cases.id = test_case_id
     WHERE test_cases.source_instance_id = ANY ($1::uuid[]))`,
  // An answer with cases of several sessions belongs to none of them.
  `DELETE FROM idempotency_keys USING test_cases
   WHERE source_instance_id = ANY ($1::uuid[]) AND scope = project_id::text AND strpos(body::text, test_cases.id::text) > 0`,
  'DELETE FROM test_cases WHERE source_instance_id = ANY ($1::uuid[])',
  'SELECT FROM webhook_outbox WHERE instance_id = ANY ($1::uuid[]) ORDER BY instance_id FOR UPDATE',
  'DELETE FROM sessions WHERE instance_id = ANY ($1::uuid[])',
];

async function saveProgress(
  transaction: Queryable,
  { projectId, key }: CustomerName,
  { sessions, calls, recordings }: ErasureRow,
): Promise<void> {
  await transaction.query(
    `UPDATE customer_erasures SET sessions = $3, calls = $4, recordings = $5
     WHERE project_id = $1 AND customer = $2`,
    [projectId, key, sessions, calls, recordings],
  );
}

async function complete(
  transaction: Queryable,
  { projectId, key }: CustomerName,
  { entry, ...details }: ErasureRow,
): Promise<void> {
  await auditStore(transaction).append({ ...entry, details });
  await transaction.query('DELETE FROM customer_erasures WHERE project_id = $1 AND customer = $2', [
    projectId,
    key,
  ]);
}

/** The memories of a key. @see customerOf */
function memoryKeys(key: string): string[] {
  return [`phone:${key}`, `id:${key}`];
}
