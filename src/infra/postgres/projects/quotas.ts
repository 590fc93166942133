import type { QuotaStore, Quotas } from '../../../agents/accounts/quotas.ts';
import { quotasFrom } from '../../../agents/accounts/quotas.ts';
import { notFound } from '../../../base/errors.ts';
import { isUuid } from '../../../base/values/ids.ts';
import type { Queryable } from '../connection/database.ts';

/** Quotas of what is stored. */
type StoredQuota = keyof Awaited<ReturnType<QuotaStore['readAll']>>;

const countOf = (table: string, condition = 'true') =>
  `SELECT count(*)::integer AS used FROM ${table} WHERE project_id = $1 AND ${condition}`;
const bytesOf = (table: string, column = 'bytes') =>
  `coalesce((SELECT sum(${column}) FROM ${table} WHERE project_id = $1 AND ${column} IS NOT NULL), 0)`;
const USED: Readonly<Record<StoredQuota, string>> = {
  apiKeys: countOf('api_keys'),
  widgetTokens: countOf('widget_tokens'),
  tools: countOf('tools', 'mcp_server_id IS NULL'),
  mcpServers: countOf('mcp_servers'),
  trunks: countOf('trunks'),
  numbers: countOf('phone_numbers'),
  pathwayVersions: countOf('pathway_versions'),
  documents: countOf('datasets'),
  scheduledCalls: countOf('calls', "status = 'scheduled'"),
  campaigns: countOf('campaigns'),
  alerts: countOf('alerts'),
  mediaFiles: countOf('media_files'),
  testCases: countOf('test_cases'),
  testSuites: countOf('test_suites'),
  testRuns: `SELECT coalesce(sum(plays), 0)::integer AS used FROM test_runs
    WHERE project_id = $1 AND created_at > now() - interval '1 minute'`,
  storedBytes: `SELECT (${bytesOf('datasets')} + ${bytesOf('calls', 'recording_bytes')}
    + ${bytesOf('media_files')})::float8 AS used`,
};

export function quotaStore(database: Queryable): QuotaStore {
  const usedOf = async (sql: string, projectId: string): Promise<number> => {
    const [row] = await database.query<{ used: number }>(sql, [projectId]);
    return row?.used ?? 0;
  };

  return {
    async lockAndRead(projectId, name) {
      if (!isUuid(projectId)) throw notFound('Project');
      const [project] = await database.query<{ quotas: Partial<Quotas> }>(
        'SELECT quotas FROM projects WHERE id = $1 FOR NO KEY UPDATE',
        [projectId],
      );
      if (!project) throw notFound('Project');
      return { used: await usedOf(USED[name], projectId), limit: quotasFrom(project.quotas)[name] };
    },
    async readAll(projectId) {
      const used: Partial<Record<StoredQuota, number>> = {};
      for (const name of Object.keys(USED) as StoredQuota[]) used[name] = await usedOf(USED[name], projectId);
      return used as Record<StoredQuota, number>;
    },
  };
}
