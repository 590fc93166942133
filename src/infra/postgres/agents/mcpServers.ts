import type { McpServerStore } from '../../../agents/agentStores.ts';
import type { McpServer } from '../../../agents/mcp/mcpServer.ts';
import type { Queryable } from '../connection/database.ts';
import { mapUniqueViolation } from '../connection/errors.ts';
import type { SecretFields } from '../secrets/secretFields.ts';
import { projectRows } from '../sql/projectRows.ts';
import { fieldsOf } from '../sql/rows.ts';
import { storableJson } from '../sql/storable.ts';

const COLUMNS = 'id, name, url, headers, timeout_ms, listing, created_at, updated_at';

export function mcpServerStore(database: Queryable, secrets: SecretFields): McpServerStore {
  const { insert, update, ...rows } = projectRows(database, 'mcp_servers', COLUMNS, (row) =>
    secrets.openHeaders(fieldsOf<McpServer>(row)),
  );
  const columnsOf = (server: McpServer) => ({
    name: server.name,
    url: server.url,
    headers: JSON.stringify(secrets.sealHeaders(server).headers),
    timeout_ms: server.timeoutMs,
    listing: storableJson(server.listing),
    created_at: server.createdAt,
    updated_at: server.updatedAt,
  });
  const orNameTaken = async (write: Promise<unknown>, name: string) => {
    const message = `The project already has an MCP server named ${name}`;
    await mapUniqueViolation(write, 'mcp_servers_name_in_project', 'mcp_server_name_taken', message);
  };

  return {
    ...rows,
    insert: (projectId, server) =>
      orNameTaken(insert({ project_id: projectId, id: server.id, ...columnsOf(server) }), server.name),
    update: (projectId, server) => orNameTaken(update(projectId, server.id, columnsOf(server)), server.name),
    async saveListing(projectId, { id, updatedAt }, listing) {
      await database.query(
        'UPDATE mcp_servers SET listing = $4 WHERE project_id = $1 AND id = $2 AND updated_at = $3',
        [projectId, id, updatedAt, storableJson(listing)],
      );
    },
  };
}
