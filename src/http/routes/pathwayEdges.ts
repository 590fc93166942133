import { z } from 'zod';

import { editPathway, findPathway } from '../../agents/pathwayEdits.ts';
import { notFound } from '../../base/errors.ts';
import { edgeInputSchema, edgePatchSchema, edgeSchema } from '../../pathway/edgeSchema.ts';
import { addEdge, completeEdge, patchEdge, removeEdge } from '../../pathway/edit.ts';
import type { Pathway } from '../../pathway/schema.ts';
import { about, errors, listAnswer, listOf, noContent, pageQuery, projectParams } from '../answers.ts';
import type { App } from '../app.ts';
import { createOnce } from '../idempotency.ts';
import { editOf, ifMatchHeaders, tagVersion } from '../pathwayAnswers.ts';
import type { HttpDeps } from '../ports.ts';

const edgeParams = projectParams.extend({ edgeId: z.string() });

export function pathwayEdgeRoutes(app: App, deps: HttpDeps): void {
  const { storage, clock } = deps;
  const read = { access: { kind: 'project', scope: 'read' } } as const;
  const write = { access: { kind: 'project', scope: 'write' } } as const;
  const base = '/v1/projects/:projectId/pathway/edges';

  app.get(
    base,
    {
      config: read,
      schema: {
        ...about('Pathway', 'List the edges'),
        params: projectParams,
        querystring: pageQuery,
        response: { 200: listOf(edgeSchema), ...errors() },
      },
    },
    async ({ params, query }, reply) => {
      const pathway = await findPathway(storage.stores, params.projectId);
      tagVersion(reply, pathway);
      const { edges } = pathway.graph;
      const items = edges.slice(query.offset, query.offset + query.limit);
      return listAnswer({ items, total: edges.length }, query);
    },
  );

  app.post(
    base,
    {
      config: write,
      schema: {
        ...about('Pathway', 'Add an edge', 'Without an id it gets one.'),
        params: projectParams,
        headers: ifMatchHeaders,
        body: edgeInputSchema,
        response: { 201: edgeSchema, ...errors('body', 409, 412) },
      },
    },
    (request, reply) =>
      createOnce(deps, request, reply, { status: 201 }, async (stores) => {
        const edge = completeEdge(request.body, deps.makeId);
        const edited = editOf(request, clock);
        const saved = await editPathway(stores, request.params.projectId, edited, (graph, known) =>
          addEdge(graph, edge, known),
        );
        tagVersion(reply, saved);
        return edge;
      }),
  );

  app.get(
    `${base}/:edgeId`,
    {
      config: read,
      schema: {
        ...about('Pathway', 'Get an edge'),
        params: edgeParams,
        response: { 200: edgeSchema, ...errors() },
      },
    },
    async ({ params }, reply) => {
      const pathway = await findPathway(storage.stores, params.projectId);
      tagVersion(reply, pathway);
      return edgeOf(pathway.graph, params.edgeId);
    },
  );

  app.patch(
    `${base}/:edgeId`,
    {
      config: write,
      schema: {
        ...about('Pathway', 'Update an edge', 'Only the supplied keys change.'),
        params: edgeParams,
        headers: ifMatchHeaders,
        body: edgePatchSchema,
        response: { 200: edgeSchema, ...errors('body', 412) },
      },
    },
    async (request, reply) => {
      const { projectId, edgeId } = request.params;
      const saved = await storage.transaction((stores) =>
        editPathway(stores, projectId, editOf(request, clock), (graph, known) =>
          patchEdge(graph, edgeId, request.body, known),
        ),
      );
      tagVersion(reply, saved);
      return edgeOf(saved.graph, edgeId);
    },
  );

  app.delete(
    `${base}/:edgeId`,
    {
      config: write,
      schema: {
        ...about('Pathway', 'Remove an edge'),
        params: edgeParams,
        headers: ifMatchHeaders,
        response: { 204: noContent, ...errors(412) },
      },
    },
    async (request, reply) => {
      const { projectId, edgeId } = request.params;
      const saved = await storage.transaction((stores) =>
        editPathway(stores, projectId, editOf(request, clock), (graph) => removeEdge(graph, edgeId)),
      );
      tagVersion(reply, saved);
      return await reply.code(204).send(null);
    },
  );
}

function edgeOf(graph: Pathway, edgeId: string) {
  const edge = graph.edges.find(({ id }) => id === edgeId);
  if (!edge) throw notFound('Edge');
  return edge;
}
