import type { DayUsage, UsageStore } from '../../../agents/accounts/usage.ts';
import type { Queryable } from '../connection/database.ts';

export function usageStore(database: Queryable): UsageStore {
  return {
    async add(used) {
      // Projects that were removed meanwhile are skipped.
      await database.query(
        `INSERT INTO project_usage (project_id, day, kind, amount)
         SELECT used.project_id, used.day, used.kind, used.amount
         FROM unnest($1::uuid[], $2::date[], $3::text[], $4::bigint[]) AS used (project_id, day, kind, amount)
         JOIN projects ON projects.id = used.project_id
         ORDER BY used.project_id, used.day, used.kind
         ON CONFLICT (project_id, day, kind) DO UPDATE SET amount = project_usage.amount + excluded.amount`,
        [
          used.map(({ projectId }) => projectId),
          used.map(({ day }) => day),
          used.map(({ kind }) => kind),
          used.map(({ amount }) => String(Math.round(amount))),
        ],
      );
    },
    async since(projectId, day) {
      return await database.query<Omit<DayUsage, 'projectId'>>(
        `SELECT to_char(day, 'YYYY-MM-DD') AS day, kind, amount::float8 AS amount FROM project_usage
         WHERE project_id = $1 AND day >= $2::date ORDER BY project_usage.day DESC, kind`,
        [projectId, day],
      );
    },
  };
}
