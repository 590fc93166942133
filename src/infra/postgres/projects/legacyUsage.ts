import type { LegacyUsageStore, LegacyUse } from '../../../agents/accounts/accountStores.ts';
import type { Queryable } from '../connection/database.ts';

export function legacyUsageStore(database: Queryable): LegacyUsageStore {
  return {
    async add(uses) {
      // Projects that were removed meanwhile are skipped.
      await database.query(
        `INSERT INTO legacy_usage (project_id, route, day, requests)
         SELECT used.project_id, used.route, used.day, used.requests
         FROM unnest($1::uuid[], $2::text[], $3::date[], $4::bigint[]) AS used (project_id, route, day, requests)
         JOIN projects ON projects.id = used.project_id
         ON CONFLICT (project_id, day, route) DO UPDATE SET requests = legacy_usage.requests + excluded.requests`,
        [
          uses.map(({ projectId }) => projectId),
          uses.map(({ route }) => route),
          uses.map(({ day }) => day),
          uses.map(({ requests }) => String(requests)),
        ],
      );
    },
    async since(projectId, day) {
      return await database.query<Omit<LegacyUse, 'projectId'>>(
        `SELECT route, to_char(day, 'YYYY-MM-DD') AS day, requests::integer AS requests FROM legacy_usage
         WHERE project_id = $1 AND day >= $2::date ORDER BY day DESC, route`,
        [projectId, day],
      );
    },
  };
}
