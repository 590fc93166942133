import { z } from 'zod';
import { releaseFor } from '../../../agents/agents.ts';
import {
  type McpServer,
  mcpServer,
  mcpServerInput,
  mcpServerPatch,
  NOT_LISTED,
  patchMcpServer,
  requireUnusedServer,
  requireValidMcpServer,
  type ShownMcpServer,
  shownMcpServer,
} from '../../../agents/mcp/mcpServer.ts';
import { findPathway } from '../../../agents/pathway/editPathway.ts';
import { isMcpTool } from '../../../agents/tool.ts';
import { notFound } from '../../../base/errors.ts';
import { mapPage } from '../../../base/values/page.ts';
import { crudRoutes } from '../../crud.ts';
import type { App, HttpDeps, Stores } from '../../ports.ts';
import { about, errors, projectParams } from '../../schemas.ts';

const PATH = '/v1/projects/:projectId/mcp-servers';

export function mcpServerRoutes(app: App, deps: HttpDeps): void {
  const {
    agents: { targetPolicy, mcpServers },
  } = deps;
  const withTools = async (saved: ShownMcpServer, projectId: string) => {
    const server = await mcpServers.refresh(projectId, saved.id);
    return server ? shownMcpServer(server) : saved;
  };

  crudRoutes(app, deps, {
    tag: 'MCP servers',
    noun: 'MCP server',
    withArticle: 'an MCP server',
    path: PATH,
    idParameter: 'mcpServerId',
    schema: mcpServer,
    quota: 'mcpServers',
    list: {
      async run({ stores, projectId }, page) {
        return mapPage(await stores.mcpServers.list(projectId, page), shownMcpServer);
      },
    },
    create: {
      auditAction: 'mcp_server.created',
      description:
        'Lists the tools of the server, within its timeoutMs; they are then among the tools of the project. A server that cannot be reached is created too, and shows the error in `listing`.',
      body: mcpServerInput,
      async run({ stores, projectId, id, now }, input) {
        requireValidMcpServer(input, targetPolicy);
        const created: McpServer = { id, ...input, listing: NOT_LISTED, createdAt: now, updatedAt: now };
        await stores.mcpServers.insert(projectId, created);
        return shownMcpServer(created);
      },
      onSaved: withTools,
    },
    get: {
      async run({ stores, projectId, id }) {
        const server = await stores.mcpServers.find(projectId, id);
        return server && shownMcpServer(server);
      },
    },
    update: {
      auditAction: 'mcp_server.updated',
      methods: ['PUT', 'PATCH'],
      description:
        'PUT and PATCH are the same: only the supplied fields change. The tools are listed again. A header with the value null keeps its stored value, unless the url is of another server.',
      errors: [409],
      body: mcpServerPatch,
      async run({ stores, projectId, id, now }, patch) {
        const current = await stores.mcpServers.find(projectId, id, 'for update');
        if (!current) return undefined;
        const next = patchMcpServer(current, patch);
        requireValidMcpServer(next, targetPolicy);
        const updated: McpServer = { ...current, ...next, updatedAt: now };
        await stores.mcpServers.update(projectId, updated);
        return shownMcpServer(updated);
      },
      onSaved: withTools,
    },
    remove: {
      auditAction: 'mcp_server.deleted',
      description:
        'Removes its tools, too. A server with a tool that the pathway uses cannot be removed: 409.',
      errors: [409],
      async run({ stores, projectId, id }) {
        await requireUnused(stores, projectId, id);
        return await stores.mcpServers.remove(projectId, id);
      },
    },
  });
  refreshRoute(app, deps);
}

function refreshRoute(app: App, { agents: { mcpServers } }: HttpDeps): void {
  app.post(
    `${PATH}/:mcpServerId/refresh`,
    {
      config: { access: { kind: 'project', scope: 'write' } },
      schema: {
        ...about('MCP servers', 'List the tools again', 'Within the timeoutMs of the server.'),
        params: projectParams.extend({ mcpServerId: z.string() }),
        response: { 200: mcpServer, ...errors() },
      },
    },
    async ({ params: { projectId, mcpServerId } }) => {
      const server = await mcpServers.refresh(projectId, mcpServerId);
      if (!server) throw notFound('MCP server');
      return shownMcpServer(server);
    },
  );
}

/** The working copy and the release that callers get must find their tools. */
async function requireUnused(stores: Stores, projectId: string, serverId: string): Promise<void> {
  // Blocks pathway editors, which could start to use a tool meanwhile.
  const { graph } = await findPathway(stores, projectId, 'for update');
  const [release, all] = await Promise.all([releaseFor(stores, projectId), stores.tools.all(projectId)]);
  const tools = all.filter(isMcpTool).filter(({ mcp }) => mcp.serverId === serverId);
  requireUnusedServer(tools, [graph, release.pathway]);
}
