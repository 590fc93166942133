import { z } from 'zod';
import { editPathway, findPathway, knownNames } from '../../../agents/pathway/editPathway.ts';
import { reviewInput } from '../../../agents/pathway/review/review.ts';
import { pathwaySchema } from '../../../agents/pathway/schema/pathwaySchema.ts';
import { checkStructure, requireValidStructure } from '../../../agents/pathway/structure.ts';
import { notFound } from '../../../base/errors.ts';
import type { App } from '../../app.ts';
import { createOnce } from '../../idempotency.ts';
import type { HttpDeps } from '../../ports.ts';
import { about, errors, listAnswer, listOf, pageQuery, projectParams } from '../../schemas.ts';
import { editOf, ifMatchHeaders, pathwayAnswer, pathwayBody, showPathway } from './pathwayVersions.ts';

/** A graph of 500 nodes with long prompts. */
const GRAPH_BODY_LIMIT_BYTES = 8 * 1_048_576;

const review = z.object({
  valid: z.boolean().describe('Whether no problem is an error.'),
  problems: z.array(
    z.object({
      severity: z.enum(['error', 'warning']),
      code: z.string(),
      message: z.string(),
      path: z.string().describe('JSON pointer into the pathway.'),
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
  const { storage, clock } = deps;
  const read = { access: { kind: 'project', scope: 'read' } } as const;
  const write = { access: { kind: 'project', scope: 'write' } } as const;
  const base = '/v1/projects/:projectId/pathway';

  app.get(
    base,
    {
      config: read,
      schema: {
        ...about('Pathway', 'Get the pathway'),
        params: projectParams,
        response: { 200: pathwayAnswer, ...errors() },
      },
    },
    async ({ params }, reply) => showPathway(reply, await findPathway(storage.stores, params.projectId)),
  );

  app.put(
    base,
    {
      config: write,
      bodyLimit: GRAPH_BODY_LIMIT_BYTES,
      schema: {
        ...about(
          'Pathway',
          'Replace the pathway',
          'The whole graph; what cannot be saved is refused with its place.',
        ),
        params: projectParams,
        headers: ifMatchHeaders,
        body: pathwayBody,
        response: { 200: pathwayAnswer, ...errors('body', 412) },
      },
    },
    async (request, reply) => {
      const { nodes, edges } = request.body;
      const saved = await storage.transaction((stores) =>
        editPathway(stores, request.params.projectId, editOf(request, clock), (_graph, known) => {
          requireValidStructure(checkStructure({ nodes, edges }, known));
          return { nodes, edges };
        }),
      );
      return showPathway(reply, saved);
    },
  );

  app.post(
    `${base}/validate`,
    {
      config: read,
      bodyLimit: GRAPH_BODY_LIMIT_BYTES,
      schema: {
        ...about(
          'Pathway',
          'Review a pathway',
          'The one in the body, or the stored one without a body. Nothing is saved.',
        ),
        params: projectParams,
        body: z.unknown().optional(),
        response: { 200: review, ...errors('body') },
      },
    },
    async ({ params, body }) => {
      const { stores } = storage;
      const known = await knownNames(stores, params.projectId);
      const agent = await stores.agents.find(params.projectId);
      if (!agent) throw notFound('Agent');
      const variables = new Set((agent.config.variableConfigs ?? []).map(({ name }) => name));
      const graph = hasContent(body) ? graphOf(body) : (await findPathway(stores, params.projectId)).graph;
      const { valid, problems } = reviewInput(graph, { ...known, variables });
      return { valid, problems: [...problems] };
    },
  );

  app.get(
    `${base}/versions`,
    {
      config: read,
      schema: {
        ...about('Pathway', 'List the versions', 'Newest first.'),
        params: projectParams,
        querystring: pageQuery,
        response: { 200: listOf(versionInfo), ...errors() },
      },
    },
    async ({ params, query }) =>
      listAnswer(await storage.stores.pathways.versions(params.projectId, query), query),
  );

  app.get(
    `${base}/versions/:version`,
    {
      config: read,
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

  app.post(
    `${base}/versions/:version/restore`,
    {
      config: write,
      schema: {
        ...about('Pathway', 'Restore a version', 'Makes a new version that is like it.'),
        params: versionParams,
        headers: ifMatchHeaders,
        response: { 200: pathwayAnswer, ...errors(409, 412) },
      },
    },
    async (request, reply) => {
      const { graph, version } = await findVersion(deps, request.params);
      const restored = await createOnce(deps, request, reply, { status: 200 }, (stores) =>
        editPathway(
          stores,
          request.params.projectId,
          { ...editOf(request, clock), restoredFrom: version },
          (_current, known) => {
            requireValidStructure(checkStructure(graph, known));
            return graph;
          },
        ),
      );
      return showPathway(reply, restored);
    },
  );
}

async function findVersion(deps: HttpDeps, params: { projectId: string; version: string }) {
  const number = /^\d{1,9}$/.test(params.version) ? Number(params.version) : 0;
  const found = await deps.storage.stores.pathways.findVersion(params.projectId, number);
  if (!found) throw notFound('Pathway version');
  return found;
}

function hasContent(body: unknown): boolean {
  return body !== undefined && body !== null && JSON.stringify(body) !== '{}';
}

/** What an answer holds beside the graph is no part of it. */
function graphOf(body: unknown): unknown {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body;
  const { id: _id, version: _version, updatedAt: _updatedAt, ...graph } = body as Record<string, unknown>;
  return graph;
}
