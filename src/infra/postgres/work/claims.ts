import { uuidV7 } from '../../../base/values/ids.ts';
import type { ClaimCapacity, ClaimedWork, DueWork, LeasedWork, WorkDepth } from '../../../work/work.ts';
import type { Parameter, Queryable } from '../connection/database.ts';

/** The longest overdue rows that a claim looks at first: enough for a full node while no project is behind. */
const OLDEST = 1_000;
/** Projects that a claim looks at one by one; the next claim continues behind them. */
const PROJECTS = 1_000;
/** Comes before all projects. */
const FIRST_PROJECT = '00000000-0000-0000-0000-000000000000';
const INSTALLATION = FIRST_PROJECT;

interface ClaimRow {
  /** The claimed job's id; null when nothing was claimed. */
  id: string | null;
  /** Null for work of the installation, which is found among the oldest alone. */
  project_id: string | null;
}
type OldestRow = ClaimRow & { readonly seen: number; readonly next_due: Date | null };
type ProjectRow = ClaimRow & { readonly last_project: string | null };

/** A table of work with the columns `project_id` and `next_at`, each with an index, and both in one. */
export interface WorkTable {
  readonly name: string;
  /** The column of its primary key. Default: `id`. */
  readonly key?: string;
  /** The condition of the rows of this kind, where the table has others; the indexes have it too. */
  readonly where?: string;
  /** No row is put off for longer. One that is was put off by a clock that was ahead since, and is due. */
  readonly longestDelaySeconds?: number;
}

/** Work of a table that also has the column `claim_id`, which says who has claimed a row. */
export function leasedWork(database: Queryable, table: WorkTable): LeasedWork {
  const { name, key = 'id' } = table;
  const claimId = uuidV7();
  return {
    claimDue: claimer(database, table, `, claim_id = '${claimId}'`),
    async renew(ids, until) {
      const rows = await database.query<{ id: string }>(
        `UPDATE ${name} SET next_at = $3 WHERE ${key} = ANY ($1::uuid[]) AND claim_id = $2 RETURNING ${key} AS id`,
        [ids, claimId, until],
      );
      return new Set(rows.map(({ id }) => id));
    },
    async settle(id, nextAt) {
      const sql = `UPDATE ${name} SET next_at = $3, claim_id = NULL WHERE ${key} = $1 AND claim_id = $2`;
      await database.query(sql, [id, claimId, nextAt]);
    },
  };
}

/** Counts the rows of leased work. */
export async function workDepth(
  database: Queryable,
  { name, where }: WorkTable,
  now: Date,
): Promise<WorkDepth> {
  const [depth] = await database.query<WorkDepth>(
    `SELECT count(*) FILTER (WHERE claim_id IS NULL AND next_at <= $1)::integer AS waiting,
       count(*) FILTER (WHERE claim_id IS NULL AND next_at > $1)::integer AS delayed,
       count(*) FILTER (WHERE claim_id IS NOT NULL)::integer AS active
     FROM ${name} WHERE next_at IS NOT NULL AND ${where ?? 'true'}`,
    [now],
  );
  return depth ?? { waiting: 0, delayed: 0, active: 0 };
}

/**
 * Claims due work, and reads a bounded number of rows however many are due.
 *
 * First the oldest ones. Where these are many and belong to few projects, whose share is used up, others wait behind
 * them: then the oldest ones of each project, some projects at a time.
 */
export function claimer(database: Queryable, table: WorkTable, alsoSet = ''): DueWork['claimDue'] {
  const statements = { key: 'id', where: 'true', ...table, alsoSet };
  const [claimOldest, claimByProject] = [claimOldestOf(statements), claimByProjectOf(statements)];
  let continueBehind = FIRST_PROJECT;
  return async (now, until, capacity) => {
    const oldest = await database.query<OldestRow>(claimOldest, parametersOf(now, until, capacity));
    const claimed = oldest.flatMap(toClaimed);
    const nextDueAt = oldest[0]?.next_due ?? null;
    const rows = capacity.rows - claimed.length;
    if (rows <= 0 || (oldest[0]?.seen ?? 0) < OLDEST) return { claimed, nextDueAt };
    const rest = { ...capacity, rows, leftByProject: leftAfter(capacity, claimed) };
    const parameters = [...parametersOf(now, until, rest), continueBehind];
    const others = await database.query<ProjectRow>(claimByProject, parameters);
    continueBehind = others[0]?.last_project ?? FIRST_PROJECT;
    return { claimed: [...claimed, ...others.flatMap(toClaimed)], nextDueAt };
  };
}

/** $1 now, $2 until, $3 rows, $4 rows of other projects, $5 and $6 rows of these projects. */
function parametersOf(now: Date, until: Date, capacity: ClaimCapacity): Parameter[] {
  const { rows, perProject, leftByProject } = capacity;
  return [now, until, rows, perProject, [...leftByProject.keys()], [...leftByProject.values()]];
}

const BUSY = 'busy AS (SELECT * FROM unnest($5::uuid[], $6::integer[]) AS busy (project_id, room))';

interface ClaimStatement extends WorkTable {
  readonly key: string;
  readonly where: string;
  /** What a claim sets beside `next_at`, with a comma before it. */
  readonly alsoSet: string;
}

const isDue = ({ longestDelaySeconds }: WorkTable): string =>
  longestDelaySeconds === undefined
    ? 'next_at <= $1'
    : `(next_at <= $1 OR next_at > $1 + interval '${longestDelaySeconds} seconds')`;

/** Claims the `chosen` ones that no other node is claiming. With an array, never by a scan of the table. */
const claimOf = (table: ClaimStatement): string => `
  locked AS (
    SELECT ${table.key}, next_at FROM ${table.name}
    WHERE ${table.key} = ANY (ARRAY (SELECT ${table.key} FROM chosen ORDER BY next_at LIMIT $3))
      AND ${isDue(table)} AND ${table.where}
    FOR UPDATE SKIP LOCKED
  ), claimed AS (
    UPDATE ${table.name} AS work SET next_at = $2${table.alsoSet} FROM locked
    WHERE work.${table.key} = locked.${table.key}
    RETURNING work.${table.key}, work.project_id, locked.next_at
  )`;

const claimOldestOf = (table: ClaimStatement): string => `
  WITH ${BUSY}, oldest AS MATERIALIZED (
    SELECT ${table.key}, project_id, next_at FROM ${table.name}
    WHERE ${isDue(table)} AND ${table.where} ORDER BY next_at LIMIT ${OLDEST}
  ), placed AS (
    SELECT *, row_number() OVER (PARTITION BY project_id ORDER BY next_at) AS place FROM oldest
  ), chosen AS (
    SELECT ${table.key}, next_at FROM placed LEFT JOIN busy USING (project_id)
    WHERE place <= coalesce(room, $4)
  ), ${claimOf(table)}
  SELECT seen, next_due, ${table.key} AS id, project_id
  FROM (SELECT count(*)::integer AS seen FROM oldest) AS counted
  CROSS JOIN (SELECT min(next_at) AS next_due FROM ${table.name} WHERE next_at > $1 AND ${table.where}) AS later
  LEFT JOIN claimed ON true ORDER BY next_at`;

/** Visits the projects by the index on project and time, one look-up each. */
const claimByProjectOf = (table: ClaimStatement): string => `
  WITH RECURSIVE ${BUSY}, visited AS (
    SELECT $7::uuid AS project_id, NULL::timestamptz AS next_at, 0 AS place
    UNION ALL
    SELECT following.project_id, following.next_at, place + 1
    FROM visited CROSS JOIN LATERAL (
      SELECT project_id, next_at FROM ${table.name}
      WHERE project_id > visited.project_id AND next_at IS NOT NULL AND ${table.where} ORDER BY project_id, next_at LIMIT 1
    ) AS following
    WHERE place < ${PROJECTS}
  ), chosen AS (
    SELECT due.${table.key}, due.next_at FROM visited LEFT JOIN busy USING (project_id)
    CROSS JOIN LATERAL (
      SELECT ${table.key}, next_at FROM ${table.name}
      WHERE project_id = visited.project_id AND next_at <= $1 AND ${table.where}
      ORDER BY next_at LIMIT coalesce(room, $4)
    ) AS due
    WHERE visited.next_at <= $1
  ), ${claimOf(table)}
  SELECT last_project, ${table.key} AS id, project_id
  FROM (SELECT (SELECT project_id FROM visited WHERE place = ${PROJECTS}) AS last_project) AS passed
  LEFT JOIN claimed ON true ORDER BY next_at`;

function toClaimed({ id, project_id }: ClaimRow): ClaimedWork[] {
  return id === null ? [] : [{ id, projectId: project_id ?? INSTALLATION }];
}

function leftAfter(
  { perProject, leftByProject }: ClaimCapacity,
  claimed: readonly ClaimedWork[],
): Map<string, number> {
  const left = new Map(leftByProject);
  for (const { projectId } of claimed) left.set(projectId, (left.get(projectId) ?? perProject) - 1);
  return left;
}
