import { z } from 'zod';
import { editPathway, findPathway } from '../../../agents/pathway/editPathway.ts';
import {
  addEdge,
  addNode,
  patchEdge,
  patchNode,
  removeEdge,
  removeNode,
  withEdgeId,
  withNodeId,
} from '../../../agents/pathway/graphEdits.ts';
import {
  edgeInputSchema,
  edgePatchSchema,
  edgeSchema,
  type PathwayEdge,
} from '../../../agents/pathway/schema/edgeSchema.ts';
import {
  nodeInputSchema,
  nodePatchSchema,
  nodeSchema,
  type PathwayNode,
} from '../../../agents/pathway/schema/nodeSchema.ts';
import type { Pathway } from '../../../agents/pathway/schema/pathwaySchema.ts';
import type { KnownNames } from '../../../agents/pathway/structure.ts';
import { notFound } from '../../../base/errors.ts';
import type { MakeId } from '../../../base/ids.ts';
import type { App } from '../../app.ts';
import { createOnce } from '../../idempotency.ts';
import type { HttpDeps } from '../../ports.ts';
import { about, errors, listAnswer, listOf, noContent, pageQuery, projectParams } from '../../schemas.ts';
import { editOf, ifMatchHeaders, tagVersion } from './pathwayVersions.ts';

type Part = PathwayNode | PathwayEdge;

/**
 * What tells the routes of a graph's nodes from those of its edges. A body comes to these functions only after the
 * schema beside them has let it through.
 */
interface Parts {
  readonly one: 'node' | 'edge';
  /** `one` with its article, for the document. */
  readonly oneOfThem: string;
  readonly onRemoval?: string;
  readonly params: z.ZodType<{ projectId: string; id: string }>;
  readonly schema: z.ZodType<Part>;
  readonly inputSchema: z.ZodType;
  readonly patchSchema: z.ZodType;
  in(graph: Pathway): readonly Part[];
  complete(input: unknown, makeId: MakeId): Part;
  add(graph: Pathway, part: Part, known: KnownNames): Pathway;
  patch(graph: Pathway, id: string, patch: unknown, known: KnownNames): Pathway;
  remove(graph: Pathway, id: string): Pathway;
}

export function pathwayNodeRoutes(app: App, deps: HttpDeps): void {
  partRoutes(app, deps, {
    one: 'node',
    oneOfThem: 'a node',
    onRemoval: 'Its edges go with it. The start node stays.',
    params: projectParams
      .extend({ nodeId: z.string() })
      .transform(({ projectId, nodeId }) => ({ projectId, id: nodeId })),
    schema: nodeSchema,
    inputSchema: nodeInputSchema,
    patchSchema: nodePatchSchema,
    in: ({ nodes }) => nodes,
    complete: withNodeId,
    add: addNode,
    patch: patchNode,
    remove: removeNode,
  });
}

export function pathwayEdgeRoutes(app: App, deps: HttpDeps): void {
  partRoutes(app, deps, {
    one: 'edge',
    oneOfThem: 'an edge',
    params: projectParams
      .extend({ edgeId: z.string() })
      .transform(({ projectId, edgeId }) => ({ projectId, id: edgeId })),
    schema: edgeSchema,
    inputSchema: edgeInputSchema,
    patchSchema: edgePatchSchema,
    in: ({ edges }) => edges,
    complete: withEdgeId,
    add: addEdge,
    patch: patchEdge,
    remove: removeEdge,
  });
}

function partRoutes(app: App, deps: HttpDeps, parts: Parts): void {
  const { storage, clock } = deps;
  const read = { access: { kind: 'project', scope: 'read' } } as const;
  const write = { access: { kind: 'project', scope: 'write' } } as const;
  const { one, oneOfThem } = parts;
  const base = `/v1/projects/:projectId/pathway/${one}s`;
  const place = `${base}/:${one}Id`;
  const partOf = (graph: Pathway, id: string) => {
    const part = parts.in(graph).find((other) => other.id === id);
    if (!part) throw notFound(one === 'node' ? 'Node' : 'Edge');
    return part;
  };

  app.get(
    base,
    {
      config: read,
      schema: {
        ...about('Pathway', `List the ${one}s`),
        params: projectParams,
        querystring: pageQuery,
        response: { 200: listOf(parts.schema), ...errors() },
      },
    },
    async ({ params, query }, reply) => {
      const pathway = await findPathway(storage.stores, params.projectId);
      tagVersion(reply, pathway);
      const all = parts.in(pathway.graph);
      const items = all.slice(query.offset, query.offset + query.limit);
      return listAnswer({ items, total: all.length }, query);
    },
  );

  app.post(
    base,
    {
      config: write,
      schema: {
        ...about('Pathway', `Add ${oneOfThem}`, 'Without an id it gets one.'),
        params: projectParams,
        headers: ifMatchHeaders,
        body: parts.inputSchema,
        response: { 201: parts.schema, ...errors('body', 409, 412) },
      },
    },
    (request, reply) =>
      createOnce(deps, request, reply, { status: 201 }, async (stores) => {
        const part = parts.complete(request.body, deps.makeId);
        const edit = editOf(request, clock);
        const saved = await editPathway(stores, request.params.projectId, edit, (graph, known) =>
          parts.add(graph, part, known),
        );
        tagVersion(reply, saved);
        return part;
      }),
  );

  app.get(
    place,
    {
      config: read,
      schema: {
        ...about('Pathway', `Get ${oneOfThem}`),
        params: parts.params,
        response: { 200: parts.schema, ...errors() },
      },
    },
    async ({ params }, reply) => {
      const pathway = await findPathway(storage.stores, params.projectId);
      tagVersion(reply, pathway);
      return partOf(pathway.graph, params.id);
    },
  );

  app.patch(
    place,
    {
      config: write,
      schema: {
        ...about('Pathway', `Update ${oneOfThem}`, 'Only the supplied keys change.'),
        params: parts.params,
        headers: ifMatchHeaders,
        body: parts.patchSchema,
        response: { 200: parts.schema, ...errors('body', 412) },
      },
    },
    async (request, reply) => {
      const { params, body } = request;
      const saved = await storage.transaction((stores) =>
        editPathway(stores, params.projectId, editOf(request, clock), (graph, known) =>
          parts.patch(graph, params.id, body, known),
        ),
      );
      tagVersion(reply, saved);
      return partOf(saved.graph, params.id);
    },
  );

  app.delete(
    place,
    {
      config: write,
      schema: {
        ...about('Pathway', `Remove ${oneOfThem}`, parts.onRemoval),
        params: parts.params,
        headers: ifMatchHeaders,
        response: { 204: noContent, ...errors(412) },
      },
    },
    async (request, reply) => {
      const { params } = request;
      const saved = await storage.transaction((stores) =>
        editPathway(stores, params.projectId, editOf(request, clock), (graph) =>
          parts.remove(graph, params.id),
        ),
      );
      tagVersion(reply, saved);
      return await reply.code(204).send(null);
    },
  );
}
