import type { ClaimedSession, DispatchCapacity, OutboxStore } from '../../../webhooks/outboxStore.ts';
import type { Parameter, Queryable } from '../connection/database.ts';

/** The longest overdue sessions that a claim looks at first: enough for a full node while no project is behind. */
const OLDEST = 1_000;
/** Projects that a claim looks at one by one; the next claim continues behind them. */
const PROJECTS = 1_000;
const FIRST_PROJECT = '00000000-0000-0000-0000-000000000000';

interface ClaimRow {
  /** Null where nothing was claimed. */
  instance_id: string | null;
  project_id: string;
}
type OldestRow = ClaimRow & { readonly seen: number };
type ProjectRow = ClaimRow & { readonly last_project: string | null };

/**
 * Claims due sessions, and reads a bounded number of rows however many are due.
 *
 * First the oldest ones. Where these are many and belong to few projects, whose share is used up, others wait behind
 * them: then the oldest ones of each project, some projects at a time.
 */
export function claimer(database: Queryable): OutboxStore['claimDue'] {
  let continueBehind = FIRST_PROJECT;
  return async (now, until, capacity) => {
    const oldest = await database.query<OldestRow>(CLAIM_OLDEST, parametersOf(now, until, capacity));
    const claimed = oldest.flatMap(toClaimed);
    const left = capacity.sessions - claimed.length;
    if (left <= 0 || (oldest[0]?.seen ?? 0) < OLDEST) return claimed;
    const rest = { ...capacity, sessions: left, running: addTo(capacity.running, claimed) };
    const parameters = [...parametersOf(now, until, rest), continueBehind];
    const others = await database.query<ProjectRow>(CLAIM_BY_PROJECT, parameters);
    continueBehind = others[0]?.last_project ?? FIRST_PROJECT;
    return [...claimed, ...others.flatMap(toClaimed)];
  };
}

/** $1 now, $2 until, $3 sessions, $4 sessions per project, $5 and $6 running sessions by project. */
function parametersOf(now: Date, until: Date, capacity: DispatchCapacity): Parameter[] {
  const { sessions, perProject, running } = capacity;
  return [now, until, sessions, perProject, [...running.keys()], [...running.values()]];
}

const BUSY = 'busy AS (SELECT * FROM unnest($5::uuid[], $6::integer[]) AS busy (project_id, running))';

/** Claims the `chosen` ones that no other node is claiming. With an array, never by a scan of the table. */
const CLAIM = `
  locked AS (
    SELECT instance_id, next_at FROM webhook_outbox
    WHERE instance_id = ANY (ARRAY (SELECT instance_id FROM chosen ORDER BY next_at LIMIT $3)) AND next_at <= $1
    FOR UPDATE SKIP LOCKED
  ), claimed AS (
    UPDATE webhook_outbox AS outbox SET next_at = $2 FROM locked
    WHERE outbox.instance_id = locked.instance_id
    RETURNING outbox.instance_id, outbox.project_id, locked.next_at
  )`;

const CLAIM_OLDEST = `
  WITH ${BUSY}, oldest AS MATERIALIZED (
    SELECT instance_id, project_id, next_at FROM webhook_outbox WHERE next_at <= $1 ORDER BY next_at LIMIT ${OLDEST}
  ), placed AS (
    SELECT *, row_number() OVER (PARTITION BY project_id ORDER BY next_at) AS place FROM oldest
  ), chosen AS (
    SELECT instance_id, next_at FROM placed LEFT JOIN busy USING (project_id)
    WHERE place + coalesce(running, 0) <= $4
  ), ${CLAIM}
  SELECT seen, instance_id, project_id
  FROM (SELECT count(*)::integer AS seen FROM oldest) AS counted LEFT JOIN claimed ON true ORDER BY next_at`;

/** Visits the projects by the index on project and time, one look-up each. */
const CLAIM_BY_PROJECT = `
  WITH RECURSIVE ${BUSY}, visited AS (
    SELECT $7::uuid AS project_id, NULL::timestamptz AS next_at, 0 AS place
    UNION ALL
    SELECT following.project_id, following.next_at, place + 1
    FROM visited CROSS JOIN LATERAL (
      SELECT project_id, next_at FROM webhook_outbox
      WHERE project_id > visited.project_id ORDER BY project_id, next_at LIMIT 1
    ) AS following
    WHERE place < ${PROJECTS}
  ), chosen AS (
    SELECT due.instance_id, due.next_at FROM visited LEFT JOIN busy USING (project_id)
    CROSS JOIN LATERAL (
      SELECT instance_id, next_at FROM webhook_outbox
      WHERE project_id = visited.project_id AND next_at <= $1
      ORDER BY next_at LIMIT greatest($4 - coalesce(running, 0), 0)
    ) AS due
    WHERE visited.next_at <= $1
  ), ${CLAIM}
  SELECT last_project, instance_id, project_id
  FROM (SELECT (SELECT project_id FROM visited WHERE place = ${PROJECTS}) AS last_project) AS passed
  LEFT JOIN claimed ON true ORDER BY next_at`;

function toClaimed({ instance_id, project_id }: ClaimRow): ClaimedSession[] {
  return instance_id === null ? [] : [{ instanceId: instance_id, projectId: project_id }];
}

function addTo(
  running: ReadonlyMap<string, number>,
  claimed: readonly ClaimedSession[],
): Map<string, number> {
  const sums = new Map(running);
  for (const { projectId } of claimed) sums.set(projectId, (sums.get(projectId) ?? 0) + 1);
  return sums;
}
