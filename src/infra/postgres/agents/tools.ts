import type { ToolStore } from '../../../agents/agentStores.ts';
import { type HttpTool, isMcpTool, type McpTool, type Tool } from '../../../agents/tool.ts';
import { mapPage } from '../../../base/values/page.ts';
import type { Queryable } from '../connection/database.ts';
import { mapUniqueViolation } from '../connection/errors.ts';
import type { SecretFields } from '../secrets/secretFields.ts';
import { projectRows } from '../sql/projectRows.ts';
import { isoTime } from '../sql/rows.ts';
import { storableJson } from '../sql/storable.ts';

type Row = CommonRow & ({ http: HttpTool['http']; mcp: null } | { http: null; mcp: McpTool['mcp'] });

interface CommonRow extends Pick<Tool, 'id' | 'name' | 'description' | 'parameters'> {
  result_mapping: Tool['resultMapping'] | null;
  speak_while: Tool['speakWhile'] | null;
  created_at: Date;
  updated_at: Date;
}

const COLUMNS =
  'id, name, description, parameters, http, created_at, updated_at, result_mapping, speak_while, mcp';
const SELECT = `SELECT ${COLUMNS} FROM tools`;

export function toolStore(database: Queryable, secrets: SecretFields): ToolStore {
  const rows = projectRows<Row>(database, 'tools', COLUMNS);
  const fromRow = ({
    created_at,
    updated_at,
    result_mapping,
    speak_while,
    http,
    mcp,
    ...rest
  }: Row): Tool => {
    const common = {
      ...rest,
      ...(result_mapping ? { resultMapping: result_mapping } : {}),
      ...(speak_while ? { speakWhile: speak_while } : {}),
      createdAt: isoTime(created_at),
      updatedAt: isoTime(updated_at),
    };
    return mcp ? { ...common, mcp } : { ...common, http: secrets.openHttp(http) };
  };
  const parameters = (projectId: string, tool: Tool) => {
    const mcp = isMcpTool(tool) ? tool.mcp : null;
    return [
      projectId,
      tool.id,
      tool.name,
      tool.description,
      storableJson(tool.parameters),
      isMcpTool(tool) ? null : JSON.stringify(secrets.sealHttp(tool.http)),
      tool.createdAt,
      tool.updatedAt,
      tool.resultMapping ? JSON.stringify(tool.resultMapping) : null,
      tool.speakWhile ? JSON.stringify(tool.speakWhile) : null,
      mcp && JSON.stringify(mcp),
      mcp?.serverId ?? null,
    ];
  };
  const orNameTaken = <Result>(write: Promise<Result>, name: string) =>
    mapUniqueViolation(
      write,
      'tools_name_in_project',
      'tool_name_taken',
      `The project already has a tool named ${name}`,
    );

  return {
    async insert(projectId, tool) {
      const sql = `INSERT INTO tools (project_id, ${COLUMNS}, mcp_server_id)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`;
      await orNameTaken(database.query(sql, parameters(projectId, tool)), tool.name);
    },
    async find(projectId, toolId, lock) {
      const row = await rows.find(projectId, toolId, lock);
      return row && fromRow(row);
    },
    list: async (projectId, page) => mapPage(await rows.list(projectId, page), fromRow),
    remove: rows.remove,
    async all(projectId) {
      const all = await database.query<Row>(`${SELECT} WHERE project_id = $1 ORDER BY created_at, id`, [
        projectId,
      ]);
      return all.map(fromRow);
    },
    async update(projectId, tool) {
      const sql = `UPDATE tools SET name = $3, description = $4, parameters = $5, http = $6, created_at = $7, updated_at = $8,
           result_mapping = $9, speak_while = $10, mcp = $11, mcp_server_id = $12
         WHERE project_id = $1 AND id = $2`;
      await orNameTaken(database.query(sql, parameters(projectId, tool)), tool.name);
    },
  };
}
