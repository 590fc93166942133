import { z } from 'zod';

import { findPathway } from '../../../agents/pathway/editPathway.ts';
import { createdTool, patchTool, type Tool, tool, toolInput, toolPatch } from '../../../agents/tool.ts';
import { requireUnusedTool, requireValidTool } from '../../../agents/toolRules.ts';
import { isoNow } from '../../../base/clock.ts';
import { notFound } from '../../../base/errors.ts';
import type { App } from '../../app.ts';
import { createOnce } from '../../idempotency.ts';
import type { HttpDeps } from '../../ports.ts';
import { about, errors, listAnswer, listOf, noContent, pageQuery, projectParams } from '../../schemas.ts';

const toolParams = projectParams.extend({ toolId: z.string() });

export function toolRoutes(app: App, deps: HttpDeps): void {
  const { storage, egressPolicy } = deps;
  const read = { access: { kind: 'project', scope: 'read' } } as const;
  const write = { access: { kind: 'project', scope: 'write' } } as const;
  const base = '/v1/projects/:projectId/tools';
  const now = isoNow(deps.clock);

  app.get(
    base,
    {
      config: read,
      schema: {
        ...about('Tools', 'List the tools'),
        params: projectParams,
        querystring: pageQuery,
        response: { 200: listOf(tool), ...errors() },
      },
    },
    async ({ params, query }) => listAnswer(await storage.stores.tools.list(params.projectId, query), query),
  );

  app.post(
    base,
    {
      config: write,
      schema: {
        ...about('Tools', 'Create a tool', 'Header values are sealed where they are stored.'),
        params: projectParams,
        body: toolInput,
        response: { 201: createdTool, ...errors('body', 409) },
      },
    },
    (request, reply) =>
      createOnce(
        deps,
        request,
        reply,
        { status: 201, withoutSecrets: withoutHeaderValues },
        async (stores) => {
          requireValidTool(request.body, egressPolicy);
          const created: Tool = { id: deps.makeId(), ...request.body, createdAt: now(), updatedAt: now() };
          await stores.tools.insert(request.params.projectId, created);
          return created;
        },
      ),
  );

  app.get(
    `${base}/:toolId`,
    {
      config: read,
      schema: { ...about('Tools', 'Get a tool'), params: toolParams, response: { 200: tool, ...errors() } },
    },
    async ({ params }) => found(await storage.stores.tools.find(params.projectId, params.toolId)),
  );

  for (const method of ['PUT', 'PATCH'] as const) {
    app.route({
      method,
      url: `${base}/:toolId`,
      config: write,
      schema: {
        ...about(
          'Tools',
          'Update a tool',
          'PUT and PATCH are the same: only the supplied fields change. Null takes away headers, bodyTemplate or timeoutMs.',
        ),
        params: toolParams,
        body: toolPatch,
        response: { 200: tool, ...errors('body') },
      },
      handler: ({ params, body }) =>
        storage.transaction(async (stores) => {
          const current = found(await stores.tools.find(params.projectId, params.toolId, 'for update'));
          const next = patchTool(current, body);
          requireValidTool(next, egressPolicy);
          const updated: Tool = { ...current, ...next, updatedAt: now() };
          await stores.tools.update(params.projectId, updated);
          return updated;
        }),
    });
  }

  app.delete(
    `${base}/:toolId`,
    {
      config: write,
      schema: {
        ...about('Tools', 'Delete a tool', 'One that the pathway uses is kept: 409.'),
        params: toolParams,
        response: { 204: noContent, ...errors(409) },
      },
    },
    async ({ params }, reply) => {
      await storage.transaction(async (stores) => {
        // Keeps editors out, who might take the tool into the pathway meanwhile.
        const { graph } = await findPathway(stores, params.projectId, 'for update');
        const { id } = found(await stores.tools.find(params.projectId, params.toolId));
        requireUnusedTool(id, graph);
        await stores.tools.remove(params.projectId, id);
      });
      return await reply.code(204).send(null);
    },
  );
}

function found(one: Tool | undefined): Tool {
  if (!one) throw notFound('Tool');
  return one;
}

function withoutHeaderValues(created: Tool) {
  const headers = created.http.headers.map(({ key }) => ({ key, value: null }));
  return { ...created, http: { ...created.http, headers } };
}
