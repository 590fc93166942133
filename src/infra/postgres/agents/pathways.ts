import { DEFAULT_QUOTAS } from '../../../agents/accounts/quotas.ts';
import type {
  NewPathwayVersion,
  PathwayStore,
  PathwayVersionInfo,
  StoredPathway,
} from '../../../agents/agentStores.ts';
import type { Pathway } from '../../../agents/pathway/schema/pathwaySchema.ts';
import { mapPage } from '../../../base/values/page.ts';
import type { Queryable } from '../connection/database.ts';
import { type List, queryPage } from '../sql/pages.ts';
import { fieldsOf, insertRow } from '../sql/rows.ts';

const VERSION_COLUMNS = `version, author, restored_from, created_at,
  jsonb_array_length(graph->'nodes') AS node_count, jsonb_array_length(graph->'edges') AS edge_count`;

/** Keeps the newest ones, as many as the quota says, the live release's and those of live sessions. */
const REMOVE_OLD_VERSIONS = `
  DELETE FROM pathway_versions WHERE project_id = $1
    AND version <= (
      SELECT pathways.version - coalesce((quotas->>'pathwayVersions')::integer, $2)
      FROM pathways JOIN projects ON projects.id = project_id WHERE project_id = $1
    )
    AND version NOT IN (
      SELECT (release->>'pathwayVersion')::integer FROM agents
      JOIN releases ON releases.project_id = $1 AND number = live
      JOIN agent_releases ON agent_releases.project_id = $1 AND id = release_id
      WHERE agents.project_id = $1
      UNION
      SELECT (release->>'pathwayVersion')::integer FROM agent_releases
      WHERE project_id = $1 AND release->>'pathwayVersion' IS NOT NULL
        AND EXISTS (SELECT FROM sessions WHERE project_id = $1 AND release_id = agent_releases.id)
    )`;

export function pathwayStore(database: Queryable): PathwayStore {
  return {
    async find(projectId, lock) {
      const [row] = await database.query<object>(
        `SELECT id, version, graph, updated_at FROM pathways WHERE project_id = $1 ${lock ? 'FOR UPDATE' : ''}`,
        [projectId],
      );
      return row && fieldsOf<StoredPathway>(row);
    },
    async insert(projectId, pathwayId, first) {
      await database.query(
        'INSERT INTO pathways (project_id, id, version, graph, updated_at) VALUES ($1, $2, $3, $4, $5)',
        [projectId, pathwayId, first.version, JSON.stringify(first.graph), first.createdAt],
      );
      await insertVersion(database, projectId, first);
    },
    async append(projectId, next) {
      await database.query(
        'UPDATE pathways SET version = $2, graph = $3, updated_at = $4 WHERE project_id = $1',
        [projectId, next.version, JSON.stringify(next.graph), next.createdAt],
      );
      await insertVersion(database, projectId, next);
      await database.query(REMOVE_OLD_VERSIONS, [projectId, DEFAULT_QUOTAS.pathwayVersions]);
    },
    async versions(projectId, page) {
      const list: List = {
        name: 'pathway_versions',
        columns: VERSION_COLUMNS,
        from: 'pathway_versions',
        where: 'project_id = $1',
        parameters: [projectId],
        order: [{ column: 'version', type: 'integer' }],
        direction: 'DESC',
      };
      return mapPage(await queryPage(database, list, page), fieldsOf<PathwayVersionInfo>);
    },
    async findVersion(projectId, version) {
      const [row] = await database.query<object>(
        `SELECT graph, ${VERSION_COLUMNS} FROM pathway_versions WHERE project_id = $1 AND version = $2`,
        [projectId, version],
      );
      return row && fieldsOf<PathwayVersionInfo & { graph: Pathway }>(row);
    },
  };
}

async function insertVersion(database: Queryable, projectId: string, next: NewPathwayVersion): Promise<void> {
  await insertRow(database, 'pathway_versions', {
    project_id: projectId,
    version: next.version,
    graph: JSON.stringify(next.graph),
    author: JSON.stringify(next.author),
    restored_from: next.restoredFrom,
    created_at: next.createdAt,
  });
}
