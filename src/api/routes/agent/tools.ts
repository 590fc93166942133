import { actorOf } from '../../../agents/accounts/principal.ts';
import { findPathway } from '../../../agents/pathway/editPathway.ts';
import { keepEdit } from '../../../agents/releases/publish.ts';
import {
  createdTool,
  type HttpTool,
  isMcpTool,
  patchMcpTool,
  patchTool,
  shownTool,
  type Tool,
  type ToolPatch,
  tool,
  toolInput,
  toolPatch,
} from '../../../agents/tool.ts';
import {
  requireUnusedTool,
  requireValidLines,
  requireValidParameters,
  requireValidTool,
  requireVanished,
} from '../../../agents/toolRules.ts';
import { mapPage } from '../../../base/values/page.ts';
import { type CrudContext, crudRoutes } from '../../crud.ts';
import { keyOf, maySeeSecrets } from '../../plugins/accessControl.ts';
import type { App, HttpDeps } from '../../ports.ts';

export function toolRoutes(app: App, deps: HttpDeps): void {
  crudRoutes(app, deps, {
    tag: 'Tools',
    noun: 'tool',
    path: '/v1/projects/:projectId/tools',
    idParameter: 'toolId',
    schema: tool,
    quota: 'tools',
    list: {
      description: 'The HTTP tools, and the tools of the MCP servers.',
      async run({ request, stores, projectId }, page) {
        const showsSecrets = maySeeSecrets(request);
        return mapPage(await stores.tools.list(projectId, page), (one) => shownTool(one, showsSecrets));
      },
    },
    create: {
      description: 'Header values are stored encrypted.',
      body: toolInput,
      schema: createdTool,
      withoutSecrets: (created: HttpTool) => shownTool(created, false),
      prepare: ({ projectId }, { parameters }) =>
        requireValidParameters(deps.agents.schemas, projectId, parameters),
      async run(context, input) {
        const { stores, projectId, id, now } = context;
        requireValidTool(input, deps.agents.targetPolicy);
        const created: HttpTool = { id, ...input, createdAt: now, updatedAt: now };
        await stores.tools.insert(projectId, created);
        await keepToolEdit(context);
        return { ...created, source: 'http' as const };
      },
    },
    get: {
      async run({ request, stores, projectId, id }) {
        const found = await stores.tools.find(projectId, id);
        return found && shownTool(found, maySeeSecrets(request));
      },
    },
    update: {
      methods: ['PUT', 'PATCH'],
      description:
        'PUT and PATCH are the same: only the supplied fields change. Null removes headers, bodyTemplate or timeoutMs. A url of another server needs the headers again: 400 `secret_needed_again`. A tool of an MCP server takes resultMapping and speakWhile alone.',
      body: toolPatch,
      async prepare({ projectId }, { parameters }) {
        if (parameters) await requireValidParameters(deps.agents.schemas, projectId, parameters);
      },
      async run(context, patch) {
        const { stores, projectId, id, now } = context;
        const current = await stores.tools.find(projectId, id, 'for update');
        if (!current) return undefined;
        const updated: Tool = { ...patched(deps, current, patch), updatedAt: now };
        await stores.tools.update(projectId, updated);
        await keepToolEdit(context);
        return shownTool(updated, true);
      },
    },
    remove: {
      description: 'A tool that the pathway uses cannot be deleted, nor one that an MCP server offers: 409.',
      errors: [409],
      async run(context) {
        const { stores, projectId, id } = context;
        // Blocks pathway editors, which could start to use the tool meanwhile.
        const { graph } = await findPathway(stores, projectId, 'for update');
        const found = await stores.tools.find(projectId, id);
        if (!found) return undefined;
        requireUnusedTool(found.id, graph);
        if (isMcpTool(found)) requireVanished(found);
        await stores.tools.remove(projectId, found.id);
        await keepToolEdit(context);
        return found;
      },
    },
  });
}

function keepToolEdit({ stores, projectId, request, now }: CrudContext): Promise<void> {
  return keepEdit(stores, projectId, { author: actorOf(keyOf(request)), at: now });
}

function patched({ agents: { targetPolicy } }: HttpDeps, current: Tool, patch: ToolPatch): Tool {
  if (isMcpTool(current)) {
    const next = patchMcpTool(current, patch);
    requireValidLines(next);
    return next;
  }
  const next = patchTool(current, patch);
  requireValidTool(next, targetPolicy);
  return { ...current, ...next };
}
