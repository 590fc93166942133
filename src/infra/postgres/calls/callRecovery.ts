import { type Call, FINAL_STATUSES } from '../../../calls/call.ts';
import type { CallStore, OrphanedCall, QueuedCall } from '../../../calls/callStore.ts';
import type { Queryable } from '../connection/database.ts';
import { fieldsOf } from '../sql/rows.ts';
import { callSelection } from './callRows.ts';
import { IS_WAITING } from './waitingCalls.ts';

/** The list for `status IN (…)`. */
export const FINAL_STATUS_LIST = FINAL_STATUSES.map((status) => `'${status}'`).join(', ');

/** A recording that is not stored within this time is lost. */
const RECORDING_LOST_AFTER = `interval '15 minutes'`;
/** Nodes without a heartbeat for this long are removed. */
const NODE_REMOVED_AFTER = `interval '1 day'`;
const LAST_SEEN = '(SELECT beat_at FROM nodes WHERE nodes.id = node_id) AS last_seen_at';
const NODE_IS_SILENT = `NOT EXISTS (SELECT FROM nodes WHERE nodes.id = node_id AND beat_at >= $1)`;

type CallRecovery = Pick<
  CallStore,
  'markSettled' | 'listQueued' | 'listOrphans' | 'listUnsettledOn' | 'recordHeartbeat'
>;

/** Node heartbeats, and the calls that lost their node. */
export function callRecovery(database: Queryable): CallRecovery {
  return {
    async markSettled(id) {
      await database.query('UPDATE calls SET settled = true WHERE id = $1', [id]);
    },
    async listQueued(limit, after) {
      return await database.query<QueuedCall>(
        `SELECT id, project_id AS "projectId", to_number AS "toNumber" FROM calls
         WHERE NOT settled AND ${IS_WAITING} AND ($1::uuid IS NULL OR id > $1)
         ORDER BY id LIMIT $2`,
        [after ?? null, limit],
      );
    },
    async listOrphans(before, limit, after) {
      return (await database.query<object>(ORPHANS, [before, limit, after ?? null])).map(toOrphan);
    },
    async listUnsettledOn(nodeId) {
      const rows = await database.query<object>(
        `SELECT ${callSelection()}, ${LAST_SEEN} FROM calls WHERE NOT settled AND node_id = $1 ORDER BY id`,
        [nodeId],
      );
      return rows.map(toOrphan);
    },
    async recordHeartbeat(nodeId, at) {
      await database.query(
        `WITH forgotten AS (DELETE FROM nodes WHERE beat_at < $2::timestamptz - ${NODE_REMOVED_AFTER})
         INSERT INTO nodes (id, beat_at) VALUES ($1, $2)
         ON CONFLICT (id) DO UPDATE SET beat_at = greatest(nodes.beat_at, excluded.beat_at)`,
        [nodeId, at],
      );
    },
  };
}

/** $1: nodes with an older heartbeat are dead. */
const ORPHANS = `
  SELECT ${callSelection()}, ${LAST_SEEN}
  FROM calls
  WHERE NOT settled AND ($3::uuid IS NULL OR id > $3) AND (
    (node_id IS NOT NULL AND ${NODE_IS_SILENT})
    OR (status IN (${FINAL_STATUS_LIST}) AND ended_at < $1 AND (
      answered_at IS NULL OR NOT (settings->>'record')::boolean
      OR coalesce(recording->>'status', 'recording') <> 'recording'
      OR ended_at < $1::timestamptz - ${RECORDING_LOST_AFTER}
    ))
  )
  ORDER BY id LIMIT $2`;

function toOrphan(row: object): OrphanedCall {
  const { lastSeenAt, ...call } = fieldsOf<Call & { lastSeenAt: string | null }>(row);
  return { call, lastSeenAt };
}
