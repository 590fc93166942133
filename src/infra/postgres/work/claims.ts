import type { ClaimCapacity, ClaimedWork, FairWorkerDeps } from '../../../work/worker.ts';
import type { Parameter, Queryable } from '../connection/database.ts';

/** The longest overdue rows that a claim looks at first: enough for a full node while no project is behind. */
const OLDEST = 1_000;
/** Projects that a claim looks at one by one; the next claim continues behind them. */
const PROJECTS = 1_000;
const FIRST_PROJECT = '00000000-0000-0000-0000-000000000000';

interface ClaimRow {
  /** The claimed job's id; null when nothing was claimed. */
  id: string | null;
  project_id: string;
}
type OldestRow = ClaimRow & { readonly seen: number };
type ProjectRow = ClaimRow & { readonly last_project: string | null };

/** A table of work with the columns `project_id` and `next_at`. */
export interface WorkTable {
  readonly name: 'webhook_outbox' | 'event_queues';
  /** The column of its primary key. */
  readonly key: 'instance_id' | 'id';
}

/**
 * Claims due work, and reads a bounded number of rows however many are due.
 *
 * First the oldest ones. Where these are many and belong to few projects, whose share is used up, others wait behind
 * them: then the oldest ones of each project, some projects at a time.
 */
export function claimer(
  database: Queryable,
  table: WorkTable,
): (...claim: Parameters<FairWorkerDeps['claimDue']>) => Promise<ClaimedWork[]> {
  const [claimOldest, claimByProject] = [claimOldestOf(table), claimByProjectOf(table)];
  let continueBehind = FIRST_PROJECT;
  return async (now, until, capacity) => {
    const oldest = await database.query<OldestRow>(claimOldest, parametersOf(now, until, capacity));
    const claimed = oldest.flatMap(toClaimed);
    const left = capacity.running - claimed.length;
    if (left <= 0 || (oldest[0]?.seen ?? 0) < OLDEST) return claimed;
    const runningByProject = addTo(capacity.runningByProject, claimed);
    const rest = { ...capacity, running: left, runningByProject };
    const parameters = [...parametersOf(now, until, rest), continueBehind];
    const others = await database.query<ProjectRow>(claimByProject, parameters);
    continueBehind = others[0]?.last_project ?? FIRST_PROJECT;
    return [...claimed, ...others.flatMap(toClaimed)];
  };
}

/** $1 now, $2 until, $3 rows, $4 rows per project, $5 and $6 running work by project. */
function parametersOf(now: Date, until: Date, capacity: ClaimCapacity): Parameter[] {
  const { running, perProject, runningByProject } = capacity;
  return [now, until, running, perProject, [...runningByProject.keys()], [...runningByProject.values()]];
}

const BUSY = 'busy AS (SELECT * FROM unnest($5::uuid[], $6::integer[]) AS busy (project_id, running))';

/** Claims the `chosen` ones that no other node is claiming. With an array, never by a scan of the table. */
const claimOf = ({ name, key }: WorkTable): string => `
  locked AS (
    SELECT ${key}, next_at FROM ${name}
    WHERE ${key} = ANY (ARRAY (SELECT ${key} FROM chosen ORDER BY next_at LIMIT $3)) AND next_at <= $1
    FOR UPDATE SKIP LOCKED
  ), claimed AS (
    UPDATE ${name} AS work SET next_at = $2 FROM locked
    WHERE work.${key} = locked.${key}
    RETURNING work.${key}, work.project_id, locked.next_at
  )`;

const claimOldestOf = (table: WorkTable): string => `
  WITH ${BUSY}, oldest AS MATERIALIZED (
    SELECT ${table.key}, project_id, next_at FROM ${table.name} WHERE next_at <= $1 ORDER BY next_at LIMIT ${OLDEST}
  ), placed AS (
    SELECT *, row_number() OVER (PARTITION BY project_id ORDER BY next_at) AS place FROM oldest
  ), chosen AS (
    SELECT ${table.key}, next_at FROM placed LEFT JOIN busy USING (project_id)
    WHERE place + coalesce(running, 0) <= $4
  ), ${claimOf(table)}
  SELECT seen, ${table.key} AS id, project_id
  FROM (SELECT count(*)::integer AS seen FROM oldest) AS counted LEFT JOIN claimed ON true ORDER BY next_at`;

/** Visits the projects by the index on project and time, one look-up each. */
const claimByProjectOf = (table: WorkTable): string => `
  WITH RECURSIVE ${BUSY}, visited AS (
    SELECT $7::uuid AS project_id, NULL::timestamptz AS next_at, 0 AS place
    UNION ALL
    SELECT following.project_id, following.next_at, place + 1
    FROM visited CROSS JOIN LATERAL (
      SELECT project_id, next_at FROM ${table.name}
      WHERE project_id > visited.project_id ORDER BY project_id, next_at LIMIT 1
    ) AS following
    WHERE place < ${PROJECTS}
  ), chosen AS (
    SELECT due.${table.key}, due.next_at FROM visited LEFT JOIN busy USING (project_id)
    CROSS JOIN LATERAL (
      SELECT ${table.key}, next_at FROM ${table.name}
      WHERE project_id = visited.project_id AND next_at <= $1
      ORDER BY next_at LIMIT greatest($4 - coalesce(running, 0), 0)
    ) AS due
    WHERE visited.next_at <= $1
  ), ${claimOf(table)}
  SELECT last_project, ${table.key} AS id, project_id
  FROM (SELECT (SELECT project_id FROM visited WHERE place = ${PROJECTS}) AS last_project) AS passed
  LEFT JOIN claimed ON true ORDER BY next_at`;

function toClaimed({ id, project_id }: ClaimRow): ClaimedWork[] {
  return id === null ? [] : [{ id, projectId: project_id }];
}

function addTo(running: ReadonlyMap<string, number>, claimed: readonly ClaimedWork[]): Map<string, number> {
  const sums = new Map(running);
  for (const { projectId } of claimed) sums.set(projectId, (sums.get(projectId) ?? 0) + 1);
  return sums;
}
