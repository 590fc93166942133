import type { WaitingCalls } from '../../../calls/setup/waitingCalls.ts';
import type { WorkDepth } from '../../../work/work.ts';
import type { Database, Queryable } from '../connection/database.ts';
import { callSelection, fromCallRow } from './callRows.ts';

/** The condition of the index `calls_waiting`. */
export const IS_WAITING = `status = 'queued' AND node_id IS NULL`;
/** The calls of a from number that are read at once. */
const OF_NUMBER = 10;

export function waitingCallStore(database: Database): WaitingCalls {
  return {
    async first(projectId) {
      return (await database.query<object>(FIRST, [projectId])).map(fromCallRow);
    },
    closeQueue: (queueId) =>
      database.transaction(async (transaction) => {
        // Locked first, so that a call that begins to wait meanwhile is seen, or inserts the row again.
        await transaction.query('SELECT FROM call_queues WHERE id = $1 FOR UPDATE', [queueId]);
        const [kept] = await transaction.query(CLOSE, [queueId]);
        return kept === undefined;
      }),
    async isLeft(before) {
      const sql = 'SELECT FROM call_queues WHERE next_at <= $1 LIMIT 1';
      return (await database.query(sql, [before])).length > 0;
    },
  };
}

/** Counts the calls that wait for their project to be tried now or later, and those that a node dials. */
export async function waitingDepth(database: Queryable, now: Date): Promise<WorkDepth> {
  const [depth] = await database.query<WorkDepth>(
    `SELECT count(*) FILTER (WHERE node_id IS NULL AND queue.next_at <= $1)::integer AS waiting,
       count(*) FILTER (WHERE node_id IS NULL AND queue.next_at > $1)::integer AS delayed,
       count(*) FILTER (WHERE node_id IS NOT NULL)::integer AS active
     FROM calls LEFT JOIN call_queues AS queue USING (project_id) WHERE NOT settled AND status = 'queued'`,
    [now],
  );
  return depth ?? { waiting: 0, delayed: 0, active: 0 };
}

/** Visits the from numbers by the index, one look-up each. */
const FIRST = `
  WITH RECURSIVE numbers AS (
    (SELECT from_number FROM calls WHERE project_id = $1 AND ${IS_WAITING} ORDER BY from_number LIMIT 1)
    UNION ALL
    SELECT (
      SELECT from_number FROM calls WHERE project_id = $1 AND ${IS_WAITING} AND from_number > numbers.from_number
      ORDER BY from_number LIMIT 1
    ) FROM numbers WHERE from_number IS NOT NULL
  )
  SELECT waiting.* FROM numbers CROSS JOIN LATERAL (
    SELECT ${callSelection()} FROM calls
    WHERE project_id = $1 AND from_number = numbers.from_number AND ${IS_WAITING}
    ORDER BY priority, id LIMIT ${OF_NUMBER}
  ) AS waiting ORDER BY priority, id`;

/** Returns the row while a call waits. */
const CLOSE = `
  WITH kept AS (
    SELECT id FROM call_queues AS queue
    WHERE id = $1 AND EXISTS (SELECT FROM calls WHERE project_id = queue.project_id AND ${IS_WAITING})
  ), closed AS (
    DELETE FROM call_queues WHERE id = $1 AND NOT EXISTS (SELECT FROM kept)
  )
  SELECT id FROM kept`;
