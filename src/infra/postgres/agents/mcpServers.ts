import type { McpServerStore } from '../../../agents/agentStores.ts';
import type { McpServer } from '../../../agents/mcp/mcpServer.ts';
import { mapPage } from '../../../base/values/page.ts';
import type { Queryable } from '../connection/database.ts';
import { mapUniqueViolation } from '../connection/errors.ts';
import type { SecretFields } from '../secrets/secretFields.ts';
import { projectRows } from '../sql/projectRows.ts';
import { isoTime } from '../sql/rows.ts';
import { storableJson } from '../sql/storable.ts';

interface Row extends Omit<McpServer, 'timeoutMs' | 'createdAt' | 'updatedAt'> {
  timeout_ms: number;
  created_at: Date;
  updated_at: Date;
}

const COLUMNS = 'id, name, url, headers, timeout_ms, listing, created_at, updated_at';
const SELECT = `SELECT ${COLUMNS} FROM mcp_servers`;

export function mcpServerStore(database: Queryable, secrets: SecretFields): McpServerStore {
  const rows = projectRows<Row>(database, 'mcp_servers', COLUMNS);
  const fromRow = ({ timeout_ms, created_at, updated_at, ...rest }: Row): McpServer =>
    secrets.openHeaders({
      ...rest,
      timeoutMs: timeout_ms,
      createdAt: isoTime(created_at),
      updatedAt: isoTime(updated_at),
    });
  const parameters = (projectId: string, server: McpServer) => [
    projectId,
    server.id,
    server.name,
    server.url,
    JSON.stringify(secrets.sealHeaders(server).headers),
    server.timeoutMs,
    storableJson(server.listing),
    server.createdAt,
    server.updatedAt,
  ];
  const orNameTaken = <Result>(write: Promise<Result>, name: string) =>
    mapUniqueViolation(
      write,
      'mcp_servers_name_in_project',
      'mcp_server_name_taken',
      `The project already has an MCP server named ${name}`,
    );

  return {
    async insert(projectId, server) {
      const sql = `INSERT INTO mcp_servers (project_id, ${COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`;
      await orNameTaken(database.query(sql, parameters(projectId, server)), server.name);
    },
    async find(projectId, serverId, lock) {
      const row = await rows.find(projectId, serverId, lock);
      return row && fromRow(row);
    },
    list: async (projectId, page) => mapPage(await rows.list(projectId, page), fromRow),
    async all(projectId) {
      const all = await database.query<Row>(`${SELECT} WHERE project_id = $1 ORDER BY created_at, id`, [
        projectId,
      ]);
      return all.map(fromRow);
    },
    async update(projectId, server) {
      const sql = `UPDATE mcp_servers SET name = $3, url = $4, headers = $5, timeout_ms = $6, listing = $7,
           created_at = $8, updated_at = $9
         WHERE project_id = $1 AND id = $2`;
      await orNameTaken(database.query(sql, parameters(projectId, server)), server.name);
    },
    async saveListing(projectId, { id, updatedAt }, listing) {
      await database.query(
        'UPDATE mcp_servers SET listing = $4 WHERE project_id = $1 AND id = $2 AND updated_at = $3',
        [projectId, id, updatedAt, storableJson(listing)],
      );
    },
    remove: rows.remove,
  };
}
