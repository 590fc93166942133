import { isDeepStrictEqual } from 'node:util';

import { DEFAULT_QUOTAS } from '../../../agents/accounts/quotas.ts';
import type { NewRelease, NumberedReleaseStore } from '../../../agents/agentStores.ts';
import type { AgentRelease, Author, ReleaseInfo } from '../../../agents/releases/release.ts';
import { mapPage } from '../../../base/values/page.ts';
import type { Queryable } from '../connection/database.ts';
import type { SecretFields } from '../secrets/secretFields.ts';
import { type List, queryPage } from '../sql/pages.ts';
import { fieldsOf, insertRow } from '../sql/rows.ts';
import { releaseIdOf, releaseStore } from './releases.ts';

const COLUMNS = 'number AS release, created_at, created_by, note';

const FIND = `
  SELECT ${COLUMNS}, agent_releases.release AS content
  FROM releases JOIN agent_releases ON agent_releases.project_id = releases.project_id AND id = release_id
  WHERE releases.project_id = $1`;

/** Keeps as many automatic ones as versions of a pathway, and those that callers, a rollout or a session had. */
const REMOVE_OLD = `
  DELETE FROM releases AS old WHERE project_id = $1 AND is_automatic
    AND number <= $2 - (SELECT coalesce((quotas->>'pathwayVersions')::integer, $3) FROM projects WHERE id = $1)
    AND NOT EXISTS (SELECT FROM agents WHERE project_id = $1 AND live = old.number)
    AND NOT EXISTS (SELECT FROM rollouts WHERE project_id = $1 AND old.number IN (release, previous_release))
    AND NOT EXISTS (SELECT FROM session_history WHERE project_id = $1 AND release = old.number)`;

/** The newest release, and whether an edit since $2 may still change it. */
const NEWEST = `
  SELECT number, release_id, created_by, is_automatic AND created_at >= $2 AND NOT EXISTS (
    SELECT FROM session_history WHERE project_id = $1 AND release = number
  ) AS is_open
  FROM releases WHERE project_id = $1 ORDER BY number DESC LIMIT 1`;

export function numberedReleaseStore(database: Queryable, secrets: SecretFields): NumberedReleaseStore {
  const contents = releaseStore(database, secrets);
  const find = async (which: string, projectId: string, number: number) => {
    const [row] = await database.query<{ content: AgentRelease }>(`${FIND} AND ${which}`, [
      projectId,
      number,
    ]);
    if (!row) return undefined;
    const { content, ...info } = row;
    return { ...fieldsOf<ReleaseInfo>(info), content: secrets.openRelease(content) };
  };
  return {
    async list(projectId, page) {
      const list: List = {
        name: 'releases',
        columns: COLUMNS,
        from: 'releases',
        where: 'project_id = $1',
        parameters: [projectId],
        order: [{ column: 'number', type: 'integer' }],
        direction: 'DESC',
      };
      return mapPage(await queryPage<object>(database, list, page), fieldsOf<ReleaseInfo>);
    },
    find: (projectId, number) => find('number = $2', projectId, number),
    findBefore: (projectId, number) => find('number < $2 ORDER BY number DESC LIMIT 1', projectId, number),
    async insert(projectId, { content, createdAt, createdBy, note, isAutomatic }: NewRelease) {
      const [newest] = await database.query<{ number: number }>(
        'SELECT coalesce(max(number), 0)::integer AS number FROM releases WHERE project_id = $1',
        [projectId],
      );
      const number = (newest?.number ?? 0) + 1;
      await insertRow(database, 'releases', {
        project_id: projectId,
        number,
        release_id: await contents.keep(projectId, { ...content, number }),
        created_at: createdAt,
        created_by: JSON.stringify(createdBy),
        note,
        is_automatic: isAutomatic,
      });
      if (isAutomatic) await database.query(REMOVE_OLD, [projectId, number, DEFAULT_QUOTAS.pathwayVersions]);
      return number;
    },
    async isSame(projectId, number, content) {
      const releaseId = releaseIdOf(secrets, { ...content, number });
      const same = await database.query(
        'SELECT FROM releases WHERE project_id = $1 AND number = $2 AND release_id = $3',
        [projectId, number, releaseId],
      );
      return same.length > 0;
    },
    async amend(projectId, { content, createdBy }, since) {
      const [newest] = await database.query<{
        number: number;
        release_id: string;
        created_by: Author;
        is_open: boolean;
      }>(NEWEST, [projectId, since]);
      if (!newest) return false;
      const releaseId = await contents.keep(projectId, { ...content, number: newest.number });
      if (!newest.is_open || !isDeepStrictEqual(newest.created_by, createdBy)) return false;
      await database.query('UPDATE releases SET release_id = $3 WHERE project_id = $1 AND number = $2', [
        projectId,
        newest.number,
        releaseId,
      ]);
      return true;
    },
  };
}
