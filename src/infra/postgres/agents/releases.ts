import type { AgentRelease } from '../../../agents/releases/release.ts';
import type { ReleaseStore } from '../../../engine/session/releases.ts';
import type { Queryable } from '../connection/database.ts';
import type { SecretFields } from '../secrets/secretFields.ts';

/** A release is used by a session within this time, or never. */
const UNUSED_AFTER_HOURS = 24;
/** A repeated insert of a release refreshes its timestamp at most once in this time. */
const NOTED_EVERY_HOURS = 1;

/** The transaction that wrote a row; changes with every update. @see PostgreSQL section 5.5 */
const STAMP = `
  SELECT concat_ws(' ', agents.xmin, pathways.xmin,
    (SELECT string_agg(id || ' ' || xmin, ' ' ORDER BY id) FROM tools WHERE project_id = $1),
    (SELECT id || ' ' || percent FROM rollouts WHERE project_id = $1 AND status = 'running')) AS stamp
  FROM agents LEFT JOIN pathways USING (project_id) WHERE agents.project_id = $1`;

/** The same for the same content. */
export function releaseIdOf(secrets: SecretFields, release: AgentRelease): string {
  return secrets.digest(canonicalJson(release));
}

export function releaseStore(database: Queryable, secrets: SecretFields): ReleaseStore {
  return {
    async keep(projectId, release) {
      const id = releaseIdOf(secrets, release);
      const [known] = await database.query(
        `SELECT id FROM agent_releases
         WHERE project_id = $1 AND id = $2 AND kept_at > now() - interval '${NOTED_EVERY_HOURS} hours'`,
        [projectId, id],
      );
      if (known) return id;
      await database.query(
        `INSERT INTO agent_releases (project_id, id, release, kept_at) VALUES ($1, $2, $3, now())
         ON CONFLICT (project_id, id) DO UPDATE SET kept_at = excluded.kept_at`,
        [projectId, id, JSON.stringify(secrets.sealRelease(release))],
      );
      return id;
    },
    async find(projectId, releaseId) {
      const [row] = await database.query<{ release: AgentRelease }>(
        'SELECT release FROM agent_releases WHERE project_id = $1 AND id = $2',
        [projectId, releaseId],
      );
      return row && secrets.openRelease(row.release);
    },
    async stampOf(projectId) {
      const [row] = await database.query<{ stamp: string }>(STAMP, [projectId], 'stamp_of_release');
      return row?.stamp;
    },
    async removeUnused() {
      await database.query(
        `DELETE FROM agent_releases AS kept
         WHERE kept_at < now() - interval '${UNUSED_AFTER_HOURS} hours'
           AND NOT EXISTS (SELECT FROM releases WHERE project_id = kept.project_id AND release_id = kept.id)
           AND NOT EXISTS (SELECT FROM sessions WHERE project_id = kept.project_id AND release_id = kept.id)
           AND NOT EXISTS (SELECT FROM webhook_outbox WHERE project_id = kept.project_id AND release_id = kept.id)
           AND NOT EXISTS (SELECT FROM test_runs
             WHERE project_id = kept.project_id AND release_id = kept.id AND ended_at IS NULL)`,
        [],
      );
    },
  };
}

/** JSON with sorted keys, so that equal values give equal texts. */
function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([one], [other]) => (one < other ? -1 : 1)))
      : part,
  );
}
