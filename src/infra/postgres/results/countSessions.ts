import type { ReviewReason } from '../../../agents/accounts/reviewRules.ts';
import { repeat } from '../../../base/async/repeat.ts';
import type { Clock } from '../../../base/values/clock.ts';
import {
  columnOf,
  type Recount,
  type RollupChanges,
  rollupChanges,
} from '../../../results/insights/rollups.ts';
import { type Counted, countedOf, keyOf, SUMS } from '../../../results/insights/sessionFacts.ts';
import { reviewReasons } from '../../../results/reviews/reviewReasons.ts';
import type { Database, Queryable } from '../connection/database.ts';
import { storableJson } from '../sql/storable.ts';
import { readFacts, type StoredFacts } from './sessionFacts.ts';

/** Insights may be 60 s old. */
const EVERY_MS = 5_000;
/** Sessions in one transaction. */
const BATCH = 100;

/** Counts ended sessions at an interval. Several nodes may run it. @returns Stops it; idempotent. */
export function startCounting(deps: {
  readonly database: Database;
  readonly clock: Clock;
  readonly onError: (error: unknown, message: string) => void;
}): () => Promise<void> {
  let isStopping = false;
  const countAll = async () => {
    while (!isStopping && (await countNext(deps.database)) === BATCH);
  };
  const stop = repeat(deps.clock, EVERY_MS, countAll, (error) =>
    deps.onError(error, 'ended sessions not counted, retrying'),
  );
  return () => {
    isStopping = true;
    return stop();
  };
}

/** Counts the oldest sessions that are to be counted; those that another node counts are left to it. @returns Their number. */
export function countNext(database: Database): Promise<number> {
  return database.transaction(async (transaction) => {
    const rows = await transaction.query<ToCount>(
      `${TO_COUNT} ORDER BY instance_id LIMIT $1
      FOR NO KEY UPDATE SKIP LOCKED`,
      [BATCH],
    );
    await count(transaction, rows);
    return rows.length;
  });
}

/** Counts sessions that are about to be deleted, as far as they are to be counted. */
export async function countBeforeRemoval(
  transaction: Queryable,
  instanceIds: readonly string[],
): Promise<void> {
  const rows = await transaction.query<ToCount>(
    `${TO_COUNT} AND instance_id = ANY ($1::uuid[]) ORDER BY instance_id FOR NO KEY UPDATE`,
    [instanceIds],
  );
  await count(transaction, rows);
}

interface ToCount {
  readonly instance_id: string;
  readonly counted: Counted | null;
}

const TO_COUNT = 'SELECT instance_id, counted FROM session_history WHERE to_count';

/**
 * Replaces in the sums what was counted of these sessions, whose rows are locked. The facts are read after the locks
 * were granted, so that a change which they do not have yet marks its session again. All rows of the sums are locked
 * in one order.
 */
async function count(transaction: Queryable, rows: readonly ToCount[]): Promise<void> {
  if (rows.length === 0) return;
  const facts = await readFacts(
    transaction,
    rows.map(({ instance_id }) => instance_id),
  );
  const before = new Map(rows.map(({ instance_id, counted }) => [instance_id, counted]));
  const counted = facts.map((one) => ({ ...one, now: countedOf(one) }));
  const recounts = counted.map(
    ({ projectId, instanceId, now }): Recount => ({ projectId, before: before.get(instanceId) ?? null, now }),
  );
  await addChanges(transaction, rollupChanges(recounts));
  await transaction.query(INSERT_TITLES, [storableJson(titlesOf(facts))]);
  await transaction.query(SAVE, [
    counted.map(({ instanceId }) => instanceId),
    counted.map(({ now }) => storableJson(now)),
    counted.map((one) => JSON.stringify(reasonsOf(one))),
  ]);
}

/** Returns why a session is to be reviewed. One that was queued stays so. */
function reasonsOf({
  reviewRules,
  reviewReasons: before,
  instanceId,
  ...facts
}: StoredFacts): ReviewReason[] {
  return [...new Set([...(before ?? []), ...reviewReasons(reviewRules ?? [], facts, instanceId)])];
}

const SAVE = `
  UPDATE session_history AS history
  SET to_count = false, counted = now.counted::json, review_reasons = nullif(now.reasons, '[]')::json
  FROM unnest($1::uuid[], $2::text[], $3::text[]) AS now (instance_id, counted, reasons)
  WHERE history.instance_id = now.instance_id`;

export async function addChanges(transaction: Queryable, changes: RollupChanges): Promise<void> {
  await transaction.query(INSERT_DIMENSIONS, [storableJson(changes.dimensions)]);
  for (const [table, sql] of ADD)
    if (changes[table].length > 0) await transaction.query(sql, [JSON.stringify(changes[table])]);
}

const INSERT_DIMENSIONS = `
  INSERT INTO insight_dimensions (project_id, id, value)
  SELECT "projectId", id, value
  FROM json_to_recordset($1) AS given ("projectId" uuid, id uuid, value jsonb) ORDER BY "projectId", id
  ON CONFLICT DO NOTHING`;

const INSERT_TITLES = `
  INSERT INTO insight_titles AS known (project_id, node_id, title, at)
  SELECT "projectId", "nodeId", title, at
  FROM json_to_recordset($1) AS given ("projectId" uuid, "nodeId" text, title text, at timestamptz)
  ORDER BY "projectId", "nodeId"
  ON CONFLICT (project_id, node_id) DO UPDATE SET title = excluded.title, at = excluded.at
  WHERE excluded.at > known.at AND excluded.title <> known.title`;

interface SumTable {
  /** The primary key, with the types of its columns. */
  readonly keys: readonly (readonly [column: string, type: string])[];
  readonly sums: readonly (readonly [column: string, type: string])[];
}

const WHEN = [
  ['at', 'timestamptz'],
  ['dimensions', 'uuid'],
] as const;
const TURNS = [
  ['turns', 'integer'],
  ['buckets', 'vector(96)'],
] as const;
const TABLES = {
  sessions: {
    keys: [['project_id', 'uuid'], ['span', 'text'], ...WHEN],
    // An amount of money may be beyond what a bigint holds.
    sums: SUMS.map((name) => [columnOf(name), name === 'costBillionths' ? 'numeric' : 'bigint'] as const),
  },
  latencies: {
    keys: [['project_id', 'uuid'], ['part', 'text'], ['span', 'text'], ...WHEN],
    sums: TURNS,
  },
  outcomeLatencies: { keys: [['project_id', 'uuid'], ['span', 'text'], ...WHEN], sums: TURNS },
  judgements: {
    keys: [['project_id', 'uuid'], ['span', 'text'], ...WHEN, ['criterion', 'text']],
    sums: [
      ['judged', 'integer'],
      ['agreed', 'integer'],
      ['judge_met', 'integer'],
      ['person_met', 'integer'],
    ],
  },
  arms: {
    keys: [
      ['rollout_id', 'uuid'],
      ['release', 'integer'],
      ['metric', 'text'],
      ['bucket', 'integer'],
    ],
    sums: [
      ['sessions', 'integer'],
      ['x', 'float8'],
      ['w', 'float8'],
      ['xx', 'float8'],
      ['xw', 'float8'],
      ['ww', 'float8'],
    ],
  },
  nodes: {
    keys: [['project_id', 'uuid'], ...WHEN, ['node_id', 'text']],
    sums: [
      ['entered', 'integer'],
      ['ended', 'integer'],
      ['buckets', 'vector(64)'],
    ],
  },
  edges: {
    keys: [['project_id', 'uuid'], ...WHEN, ['node_id', 'text'], ['edge_id', 'text'], ['to_node_id', 'text']],
    sums: [['taken', 'integer']],
  },
} satisfies Record<string, SumTable>;

const ADD = (Object.keys(TABLES) as (keyof typeof TABLES)[]).map(
  (table) => [table, addTo(`insight_${columnOf(table)}`, TABLES[table])] as const,
);

/** Adds to the sums of a table, whose rows are $1 as JSON. */
function addTo(table: string, { keys, sums }: SumTable): string {
  const columns = [...keys, ...sums];
  const names = columns.map(([name]) => name).join(', ');
  const key = keys.map(([name]) => name).join(', ');
  return `
    INSERT INTO ${table} AS sums (${names})
    SELECT ${names} FROM json_to_recordset($1) AS given (${columns.map((column) => column.join(' ')).join(', ')})
    ORDER BY ${key}
    ON CONFLICT (${key}) DO UPDATE SET ${sums.map(([name]) => `${name} = sums.${name} + excluded.${name}`).join(', ')}`;
}

function titlesOf(facts: readonly StoredFacts[]) {
  const titles = new Map<string, { projectId: string; nodeId: string; title: string; at: string }>();
  for (const { projectId, entries } of facts)
    for (const { nodeId, title, atMs } of entries) {
      const at = new Date(atMs).toISOString();
      const key = `${projectId} ${keyOf(nodeId)}`;
      if (title !== null && at >= (titles.get(key)?.at ?? ''))
        titles.set(key, { projectId, nodeId: keyOf(nodeId), title, at });
    }
  return [...titles.values()];
}
