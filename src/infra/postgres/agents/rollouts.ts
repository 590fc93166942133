import type { Rollout, RolloutStore } from '../../../agents/releases/rollout.ts';
import { CallwayError } from '../../../base/errors.ts';
import { isUuid } from '../../../base/values/ids.ts';
import { mapPage } from '../../../base/values/page.ts';
import type { Parameter, Queryable } from '../connection/database.ts';
import { violates } from '../connection/errors.ts';
import { type List, queryPage } from '../sql/pages.ts';
import { fieldsOf, insertRow } from '../sql/rows.ts';

const COLUMNS = `id, project_id, release, previous_release, percent, guards, decide_after, on_bad, on_good, status,
  decision, started_at, ended_at`;

export function rolloutStore(database: Queryable): RolloutStore {
  const one = async (sql: string, parameters: readonly Parameter[]) => {
    const [row] = await database.query<object>(sql, parameters);
    return row && fieldsOf<Rollout>(row);
  };
  return {
    async insert(rollout) {
      const row = insertRow(database, 'rollouts', {
        id: rollout.id,
        project_id: rollout.projectId,
        release: rollout.release,
        previous_release: rollout.previousRelease,
        percent: rollout.percent,
        guards: JSON.stringify(rollout.guards),
        decide_after: JSON.stringify(rollout.decideAfter),
        on_bad: rollout.onBad,
        on_good: rollout.onGood,
        status: rollout.status,
        started_at: rollout.startedAt,
        next_at: rollout.startedAt,
      });
      await row.catch((error: unknown) => {
        if (!violates(error, 'rollouts_one_running')) throw error;
        throw new CallwayError('conflict', 'rollout_running', 'Another rollout of the project runs');
      });
    },
    async find(projectId, id) {
      if (!isUuid(id)) return undefined;
      return await one(`SELECT ${COLUMNS} FROM rollouts WHERE project_id = $1 AND id = $2`, [projectId, id]);
    },
    async list(projectId, page) {
      const list: List = {
        name: 'rollouts',
        columns: COLUMNS,
        from: 'rollouts',
        where: 'project_id = $1',
        parameters: [projectId],
        order: [
          { column: 'started_at', type: 'time' },
          { column: 'id', type: 'uuid' },
        ],
        direction: 'DESC',
      };
      return mapPage(await queryPage<object>(database, list, page), fieldsOf<Rollout>);
    },
    running: (projectId) =>
      one(`SELECT ${COLUMNS} FROM rollouts WHERE project_id = $1 AND status = 'running'`, [projectId]),
    async setPercent(projectId, id, percent) {
      if (!isUuid(id)) return undefined;
      return await one(
        `UPDATE rollouts SET percent = $3 WHERE project_id = $1 AND id = $2 AND status = 'running' RETURNING ${COLUMNS}`,
        [projectId, id, percent],
      );
    },
    async noteDecision(id, decision) {
      await database.query(`UPDATE rollouts SET decision = $2 WHERE id = $1 AND status = 'running'`, [
        id,
        JSON.stringify(decision),
      ]);
    },
    async finish(id, status, decision) {
      // Due at once, so that its end is told.
      const ended = await database.query(
        `UPDATE rollouts SET status = $2, decision = $3, ended_at = $4, next_at = $4, claim_id = NULL
         WHERE id = $1 AND status = 'running' RETURNING id`,
        [id, status, JSON.stringify(decision), decision.at],
      );
      return ended.length > 0;
    },
    async findWork(id) {
      const [row] = await database.query<{ told: string | null }>(
        `SELECT ${COLUMNS}, told FROM rollouts WHERE id = $1`,
        [id],
      );
      if (!row) return undefined;
      const { told, ...rollout } = row;
      return { rollout: fieldsOf<Rollout>(rollout), told };
    },
    async noteTold(id, told) {
      await database.query('UPDATE rollouts SET told = $2 WHERE id = $1', [id, told]);
    },
  };
}
