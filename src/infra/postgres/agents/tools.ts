import type { ToolStore } from '../../../agents/agentStores.ts';
import { type HttpTool, isMcpTool, type McpTool, type Tool } from '../../../agents/tool.ts';
import type { Queryable } from '../connection/database.ts';
import { mapUniqueViolation } from '../connection/errors.ts';
import type { SecretFields } from '../secrets/secretFields.ts';
import { projectRows } from '../sql/projectRows.ts';
import { fieldsOf } from '../sql/rows.ts';
import { storableJson } from '../sql/storable.ts';

type Stored = Omit<Tool, 'http' | 'mcp'> &
  ({ http: HttpTool['http']; mcp: null } | { http: null; mcp: McpTool['mcp'] });

const COLUMNS =
  'id, name, description, parameters, http, created_at, updated_at, result_mapping, speak_while, mcp';

export function toolStore(database: Queryable, secrets: SecretFields): ToolStore {
  const { insert, update, ...rows } = projectRows(database, 'tools', COLUMNS, (row): Tool => {
    const { http, mcp, resultMapping, speakWhile, ...rest } = fieldsOf<Stored>(row);
    const common = {
      ...rest,
      resultMapping: resultMapping ?? undefined,
      speakWhile: speakWhile ?? undefined,
    };
    return mcp ? { ...common, mcp } : { ...common, http: secrets.openHttp(http) };
  });
  const columnsOf = (tool: Tool) => ({
    name: tool.name,
    description: tool.description,
    parameters: storableJson(tool.parameters),
    http: isMcpTool(tool) ? null : JSON.stringify(secrets.sealHttp(tool.http)),
    created_at: tool.createdAt,
    updated_at: tool.updatedAt,
    result_mapping: tool.resultMapping ? JSON.stringify(tool.resultMapping) : null,
    speak_while: tool.speakWhile ? JSON.stringify(tool.speakWhile) : null,
    mcp: isMcpTool(tool) ? JSON.stringify(tool.mcp) : null,
    mcp_server_id: isMcpTool(tool) ? tool.mcp.serverId : null,
  });
  const orNameTaken = async (write: Promise<unknown>, name: string) => {
    const message = `The project already has a tool named ${name}`;
    await mapUniqueViolation(write, 'tools_name_in_project', 'tool_name_taken', message);
  };

  return {
    ...rows,
    insert: (projectId, tool) =>
      orNameTaken(insert({ project_id: projectId, id: tool.id, ...columnsOf(tool) }), tool.name),
    update: (projectId, tool) => orNameTaken(update(projectId, tool.id, columnsOf(tool)), tool.name),
  };
}
