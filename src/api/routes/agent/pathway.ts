import type { FastifyReply, RouteShorthandOptions } from 'fastify';
import { z } from 'zod';
import type { StoredPathway } from '../../../agents/agentStores.ts';
import { editPathway, findPathway, knownNames } from '../../../agents/pathway/editPathway.ts';
import type { KnownProviders } from '../../../agents/pathway/review/providers.ts';
import type { ReviewOptions } from '../../../agents/pathway/review/review.ts';
import { pathwaySchema } from '../../../agents/pathway/schema/pathwaySchema.ts';
import { checkTools, requireValidStructure } from '../../../agents/pathway/structure.ts';
import { isMcpTool } from '../../../agents/tool.ts';
import { notFound } from '../../../base/errors.ts';
import { idempotent } from '../../idempotency.ts';
import { requireAllowedModels } from '../../plugins/allowedModels.ts';
import type { App, HttpDeps, Stores } from '../../ports.ts';
import {
  about,
  errors,
  listOf,
  listResponse,
  MAX_LIST_LIMIT,
  pageQuery,
  projectParams,
} from '../../schemas.ts';
import { editOf, ifMatchHeaders, setVersionTag } from './pathwayVersions.ts';

const PATH = '/v1/projects/:projectId/pathway';
/** A graph of 500 nodes with prompts of 4,000 characters. */
const GRAPH_BODY_LIMIT_BYTES = 2 * 1_048_576;
/** Twice a graph of 500 nodes and 2,000 edges, which is validated apart from the event loop. */
const MAX_GRAPH_VALUES = 100_000;
const READ = { access: { kind: 'project', scope: 'read' } } as const;
const WRITE = { access: { kind: 'project', scope: 'write' } } as const;

export const pathwayResponse = z
  .object({
    id: z.uuid(),
    version: z.int().describe('Counts up with each change; also the ETag.'),
    updatedAt: z.iso.datetime(),
    ...pathwaySchema.shape,
  })
  .meta({ id: 'StoredPathway' });

/** A graph to store. The other fields of a response may be sent back; they are ignored. */
const pathwayBody = pathwaySchema.extend({
  id: z.unknown().optional(),
  version: z.unknown().optional(),
  updatedAt: z.unknown().optional(),
});

const reviewResponse = z.object({
  valid: z.boolean().describe('True when no problem is an error.'),
  problems: z.array(
    z.object({
      severity: z.enum(['error', 'warning']),
      code: z.string(),
      message: z.string(),
      path: z.string().describe('JSON pointer into the pathway; `/agent/…` points into the agent.'),
      nodeId: z.string().optional().describe('The node that it is about.'),
      edgeId: z.string().optional().describe('The edge that it is about.'),
    }),
  ),
});

const versionInfo = z.object({
  version: z.int(),
  createdAt: z.iso.datetime(),
  author: z.object({ kind: z.string(), keyId: z.string().optional(), hint: z.string().optional() }),
  restoredFrom: z.int().nullable(),
  nodeCount: z.int(),
  edgeCount: z.int(),
});
const versionParams = projectParams.extend({ version: z.string() });

export function pathwayRoutes(app: App, deps: HttpDeps): void {
  graphRoutes(app, deps);
  reviewRoute(app, deps);
  versionRoutes(app, deps);
  restoreRoute(app, deps);
}

function graphRoutes(app: App, { storage, clock, agents: { pathways } }: HttpDeps): void {
  app.get(
    PATH,
    {
      config: READ,
      schema: {
        ...about('Pathway', 'Get the pathway'),
        params: projectParams,
        response: { 200: pathwayResponse, ...errors() },
      },
    },
    async ({ params }, reply) => showPathway(reply, await findPathway(storage.stores, params.projectId)),
  );
  app.put(
    PATH,
    {
      config: { ...WRITE, maxJsonValues: MAX_GRAPH_VALUES },
      bodyLimit: GRAPH_BODY_LIMIT_BYTES,
      ...uncheckedBody(app),
      schema: {
        ...about('Pathway', 'Replace the pathway', 'The whole graph. An invalid graph is refused.'),
        params: projectParams,
        headers: ifMatchHeaders,
        body: pathwayBody,
        response: { 200: pathwayResponse, ...errors('body', 412) },
      },
    },
    async (request, reply) => {
      const { projectId } = request.params;
      const edit = editOf(request, new Date(clock.now()).toISOString());
      const names = await knownNames(storage.stores, projectId);
      const graph = await pathways.parsePathway(projectId, graphOf(request.body), names);
      const saved = await storage.transaction((stores) =>
        editPathway(stores, projectId, edit, (_graph, known) => {
          requireValidStructure(checkTools(graph, known));
          return graph;
        }),
      );
      return showPathway(reply, saved);
    },
  );
}

function reviewRoute(
  app: App,
  { storage: { stores }, settings, agents: { mcpServers, pathways } }: HttpDeps,
): void {
  app.post(
    `${PATH}/validate`,
    {
      config: { ...READ, maxJsonValues: MAX_GRAPH_VALUES },
      bodyLimit: GRAPH_BODY_LIMIT_BYTES,
      schema: {
        ...about(
          'Pathway',
          'Review a pathway',
          'The pathway in the body, or without a body the stored one. Nothing is saved.',
        ),
        params: projectParams,
        body: z.unknown().optional(),
        response: { 200: reviewResponse, ...errors('body') },
      },
    },
    async ({ params: { projectId }, body }) => {
      mcpServers.refreshStale(projectId);
      const names = await reviewNames(stores, projectId, settings.knownProviders);
      const graph = isEmpty(body) ? (await findPathway(stores, projectId)).graph : graphOf(body);
      const { valid, problems } = await pathways.reviewPathway(projectId, graph, names);
      return { valid, problems: [...problems] };
    },
  );
}

/** Reviews the names that the project has outside of its pathway. */
async function reviewNames(
  stores: Stores,
  projectId: string,
  installed: KnownProviders,
): Promise<ReviewOptions> {
  const page = { limit: MAX_LIST_LIMIT, offset: 0 };
  const [known, record, tools, credentials, numbers, trunks, project, ownNumbers, active] = await Promise.all(
    [
      knownNames(stores, projectId),
      stores.agents.find(projectId),
      stores.tools.all(projectId),
      stores.providerCredentials.all(projectId),
      stores.phoneNumbers.list(projectId, page),
      stores.trunks.list(projectId, page),
      stores.projects.find(projectId),
      stores.phoneNumbers.ownNumbers(projectId),
      stores.trunks.activeOf(projectId),
    ],
  );
  if (!record) throw notFound('Agent');
  const variables = [
    ...(record.config.variableConfigs ?? []).map(({ name }) => name),
    ...numbers.items.flatMap((number) => Object.keys(number.variables ?? {})),
    ...trunks.items.flatMap(({ headersToVariables }) => headersToVariables.map(({ variable }) => variable)),
  ];
  const toolNames = new Map(tools.map(({ id, name }) => [id, name]));
  const toolVariables = new Map(
    tools.map(({ id, resultMapping = [] }) => [id, resultMapping.map(({ variable }) => variable)]),
  );
  const limits = project?.callLimits;
  const vanished = tools.filter((tool) => isMcpTool(tool) && !tool.mcp.available).map(({ id }) => id);
  const vanishedTools = new Set(vanished);
  const configured = new Set([...installed.configured, ...credentials.map(({ name }) => name)]);
  const providers = { ...installed, configured };
  return {
    ...known,
    agent: record.config,
    toolNames,
    toolVariables,
    // Before its first number a project has no country yet.
    destinations: limits && {
      limits: { ...limits, ownCountriesOnly: limits.ownCountriesOnly && ownNumbers.length > 0 },
      ownNumbers,
      trunks: active.map(({ id, host, port, fromDomain }) => ({ id, host, port, fromDomain })),
    },
    vanishedTools,
    variables: new Set(variables),
    providers,
  };
}

function versionRoutes(app: App, deps: HttpDeps): void {
  app.get(
    `${PATH}/versions`,
    {
      config: READ,
      schema: {
        ...about('Pathway', 'List the versions', 'Newest first.'),
        params: projectParams,
        querystring: pageQuery,
        response: { 200: listOf(versionInfo), ...errors() },
      },
    },
    async ({ params, query }) =>
      listResponse(await deps.storage.stores.pathways.versions(params.projectId, query), query),
  );
  app.get(
    `${PATH}/versions/:version`,
    {
      config: READ,
      schema: {
        ...about('Pathway', 'Get a version'),
        params: versionParams,
        response: { 200: versionInfo.extend(pathwaySchema.shape), ...errors() },
      },
    },
    async ({ params }) => {
      const { graph, ...info } = await findVersion(deps, params);
      return { ...info, ...graph };
    },
  );
}

function restoreRoute(app: App, deps: HttpDeps): void {
  app.post(
    `${PATH}/versions/:version/restore`,
    {
      config: WRITE,
      schema: {
        ...about('Pathway', 'Restore a version', 'Creates a new version with the same graph.'),
        params: versionParams,
        headers: ifMatchHeaders,
        response: { 200: pathwayResponse, ...errors(409, 412) },
      },
    },
    async (request, reply) => {
      const { graph, version } = await findVersion(deps, request.params);
      const { projectId } = request.params;
      requireAllowedModels(deps, { pathway: graph });
      const edit = editOf(request, new Date(deps.clock.now()).toISOString());
      await deps.agents.pathways.parsePathway(
        projectId,
        graph,
        await knownNames(deps.storage.stores, projectId),
      );
      const restored = await idempotent(deps, { request, reply, status: 200 }, (stores) =>
        editPathway(stores, projectId, { ...edit, restoredFrom: version }, (_current, known) => {
          requireValidStructure(checkTools(graph, known));
          return graph;
        }),
      );
      return showPathway(reply, restored);
    },
  );
}

export function showPathway(reply: FastifyReply, pathway: StoredPathway) {
  setVersionTag(reply, pathway);
  return { id: pathway.id, version: pathway.version, updatedAt: pathway.updatedAt, ...pathway.graph };
}

async function findVersion(deps: HttpDeps, params: { projectId: string; version: string }) {
  const number = /^\d{1,9}$/.test(params.version) ? Number(params.version) : 0;
  const found = await deps.storage.stores.pathways.findVersion(params.projectId, number);
  if (!found) throw notFound('Pathway version');
  return found;
}

/** Leaves a graph to a parser apart from the event loop; the schema of the body serves the OpenAPI document. */
function uncheckedBody(app: App): Pick<RouteShorthandOptions, 'validatorCompiler'> {
  return {
    validatorCompiler(route) {
      const check = route.httpPart === 'body' ? undefined : app.validatorCompiler?.(route);
      return check ?? ((value: unknown) => ({ value }));
    },
  };
}

function isEmpty(body: unknown): boolean {
  return body === undefined || body === null || JSON.stringify(body) === '{}';
}

/** The graph in a body that may be a whole response. */
function graphOf(body: unknown): unknown {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body;
  const { id: _id, version: _version, updatedAt: _updatedAt, ...graph } = body as Record<string, unknown>;
  return graph;
}
