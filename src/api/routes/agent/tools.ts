import { findPathway } from '../../../agents/pathway/editPathway.ts';
import { createdTool, patchTool, type Tool, tool, toolInput, toolPatch } from '../../../agents/tool.ts';
import { requireUnusedTool, requireValidTool } from '../../../agents/toolRules.ts';
import { crudRoutes } from '../../crud.ts';
import type { App, HttpDeps } from '../../ports.ts';

export function toolRoutes(app: App, deps: HttpDeps): void {
  crudRoutes(app, deps, {
    tag: 'Tools',
    noun: 'tool',
    path: '/v1/projects/:projectId/tools',
    idParameter: 'toolId',
    schema: tool,
    quota: 'tools',
    list: { run: ({ stores, projectId }, page) => stores.tools.list(projectId, page) },
    create: {
      description: 'Header values are stored encrypted.',
      body: toolInput,
      schema: createdTool,
      withoutSecrets: withoutHeaderValues,
      async run({ stores, projectId, id, now }, input) {
        await requireValidTool(deps, projectId, input);
        const created: Tool = { id, ...input, createdAt: now, updatedAt: now };
        await stores.tools.insert(projectId, created);
        return created;
      },
    },
    get: { run: ({ stores, projectId, id }) => stores.tools.find(projectId, id) },
    update: {
      methods: ['PUT', 'PATCH'],
      description:
        'PUT and PATCH are the same: only the supplied fields change. Null removes headers, bodyTemplate or timeoutMs.',
      body: toolPatch,
      async run({ stores, projectId, id, now }, patch) {
        const current = await stores.tools.find(projectId, id, 'for update');
        if (!current) return undefined;
        const next = patchTool(current, patch);
        await requireValidTool(deps, projectId, next);
        const updated: Tool = { ...current, ...next, updatedAt: now };
        await stores.tools.update(projectId, updated);
        return updated;
      },
    },
    remove: {
      description: 'A tool that the pathway uses cannot be deleted: 409.',
      errors: [409],
      async run({ stores, projectId, id }) {
        // Blocks pathway editors, which could start to use the tool meanwhile.
        const { graph } = await findPathway(stores, projectId, 'for update');
        const found = await stores.tools.find(projectId, id);
        if (!found) return undefined;
        requireUnusedTool(found.id, graph);
        return await stores.tools.remove(projectId, found.id);
      },
    },
  });
}

function withoutHeaderValues(created: Tool) {
  const headers = created.http.headers.map(({ key }) => ({ key, value: null }));
  return { ...created, http: { ...created.http, headers } };
}
