import { z } from 'zod';
import { editPathway, findPathway } from '../../agents/pathwayEdits.js';
import { notFound } from '../../base/errors.js';
import { edgeInputSchema, edgePatchSchema, edgeSchema } from '../../pathway/edgeSchema.js';
import {
  addEdge,
  addNode,
  completeEdge,
  completeNode,
  patchEdge,
  patchNode,
  removeEdge,
  removeNode,
} from '../../pathway/edit.js';
import { nodeInputSchema, nodePatchSchema, nodeSchema } from '../../pathway/nodeSchema.js';
import { about, errors, listAnswer, listOf, noContent, pageQuery, projectParams } from '../answers.js';
import { createOnce } from '../idempotency.js';
import { editOf, ifMatchHeaders, tagVersion } from '../pathwayAnswers.js';
export function pathwayNodeRoutes(app, deps) {
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
    complete: completeNode,
    add: addNode,
    patch: patchNode,
    remove: removeNode,
  });
}
export function pathwayEdgeRoutes(app, deps) {
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
    complete: completeEdge,
    add: addEdge,
    patch: patchEdge,
    remove: removeEdge,
  });
}
function partRoutes(app, deps, parts) {
  const { storage, clock } = deps;
  const read = { access: { kind: 'project', scope: 'read' } };
  const write = { access: { kind: 'project', scope: 'write' } };
  const { one, oneOfThem } = parts;
  const base = `/v1/projects/:projectId/pathway/${one}s`;
  const place = `${base}/:${one}Id`;
  const partOf = (graph, id) => {
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
