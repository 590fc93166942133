import type { CountedQuota, QuotaStore, Quotas } from '../../../agents/accounts/quotas.ts';
import { quotasFrom } from '../../../agents/accounts/quotas.ts';
import { notFound } from '../../../base/errors.ts';
import { isUuid } from '../../../base/values/ids.ts';
import type { Queryable } from '../connection/database.ts';

const DOCUMENTS = 'datasets WHERE project_id = $1';
const RECORDED =
  'SELECT sum(recording_bytes) FROM calls WHERE project_id = $1 AND recording_bytes IS NOT NULL';
const VERSIONS = 'SELECT count(*)::integer AS used FROM pathway_versions WHERE project_id = $1';
const USED: Readonly<Record<CountedQuota, string>> = {
  apiKeys: 'SELECT count(*)::integer AS used FROM api_keys WHERE project_id = $1',
  widgetTokens: 'SELECT count(*)::integer AS used FROM widget_tokens WHERE project_id = $1',
  tools: 'SELECT count(*)::integer AS used FROM tools WHERE project_id = $1 AND mcp_server_id IS NULL',
  mcpServers: 'SELECT count(*)::integer AS used FROM mcp_servers WHERE project_id = $1',
  trunks: 'SELECT count(*)::integer AS used FROM trunks WHERE project_id = $1',
  numbers: 'SELECT count(*)::integer AS used FROM phone_numbers WHERE project_id = $1',
  documents: `SELECT count(*)::integer AS used FROM ${DOCUMENTS}`,
  scheduledCalls: `SELECT count(*)::integer AS used FROM calls WHERE project_id = $1 AND status = 'scheduled'`,
  campaigns: 'SELECT count(*)::integer AS used FROM campaigns WHERE project_id = $1',
  alerts: 'SELECT count(*)::integer AS used FROM alerts WHERE project_id = $1',
  testCases: 'SELECT count(*)::integer AS used FROM test_cases WHERE project_id = $1',
  testSuites: 'SELECT count(*)::integer AS used FROM test_suites WHERE project_id = $1',
  mediaFiles: 'SELECT count(*)::integer AS used FROM media_files WHERE project_id = $1',
  testRuns: `SELECT coalesce(sum(plays), 0)::integer AS used FROM test_runs
    WHERE project_id = $1 AND created_at > now() - interval '1 minute'`,
  storedBytes: `SELECT (coalesce((SELECT sum(bytes) FROM ${DOCUMENTS}), 0) + coalesce((${RECORDED}), 0)
    + coalesce((SELECT sum(bytes) FROM media_files WHERE project_id = $1), 0))::float8 AS used`,
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
      return {
        apiKeys: await usedOf(USED.apiKeys, projectId),
        widgetTokens: await usedOf(USED.widgetTokens, projectId),
        tools: await usedOf(USED.tools, projectId),
        mcpServers: await usedOf(USED.mcpServers, projectId),
        trunks: await usedOf(USED.trunks, projectId),
        numbers: await usedOf(USED.numbers, projectId),
        pathwayVersions: await usedOf(VERSIONS, projectId),
        documents: await usedOf(USED.documents, projectId),
        scheduledCalls: await usedOf(USED.scheduledCalls, projectId),
        campaigns: await usedOf(USED.campaigns, projectId),
        alerts: await usedOf(USED.alerts, projectId),
        mediaFiles: await usedOf(USED.mediaFiles, projectId),
        testCases: await usedOf(USED.testCases, projectId),
        testSuites: await usedOf(USED.testSuites, projectId),
        testRuns: await usedOf(USED.testRuns, projectId),
        storedBytes: await usedOf(USED.storedBytes, projectId),
      };
    },
  };
}
