import { type SlotHolders, transferHolder } from '../../../calls/limits/slotHolders.ts';
import type { Queryable } from '../connection/database.ts';

/**
 * The condition of the index `calls_live`. A queued call holds nothing until its node dials it, and a test's call never
 * does.
 */
const IS_LIVE = `status IN ('dialing', 'ringing', 'in_progress') AND NOT is_test`;

interface Row {
  id: string;
  is_on_trunk: boolean;
  /** The number of established dialogs on the trunk. */
  dialogs: number;
}

export function slotHolders(database: Queryable): SlotHolders {
  return {
    async ofTrunk(projectId, trunkId) {
      const rows = await database.query<Row>(
        `SELECT id, trunk_id IS NOT DISTINCT FROM $2::uuid AS is_on_trunk,
           (SELECT count(*)::integer FROM call_dialogs WHERE call_id = calls.id AND dialog->>'trunkId' = $2::text)
             AS dialogs
         FROM calls WHERE project_id = $1 AND ${IS_LIVE}`,
        [projectId, trunkId],
      );
      return rows.flatMap(({ id, is_on_trunk, dialogs }) => [
        ...(is_on_trunk ? [id] : []),
        ...Array.from({ length: Math.max(0, dialogs - (is_on_trunk ? 1 : 0)) }, (_, index) =>
          transferHolder(id, index),
        ),
      ]);
    },
    async ofProject(projectId) {
      const sql = `SELECT id FROM calls WHERE project_id = $1 AND ${IS_LIVE}`;
      return (await database.query<{ readonly id: string }>(sql, [projectId])).map(({ id }) => id);
    },
  };
}
