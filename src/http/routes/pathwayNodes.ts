import { z } from 'zod';

import { editPathway, findPathway } from '../../agents/pathwayEdits.ts';
import { notFound } from '../../base/errors.ts';
import { addNode, completeNode, patchNode, removeNode } from '../../pathway/edit.ts';
import { nodeInputSchema, nodePatchSchema, nodeSchema } from '../../pathway/nodeSchema.ts';
import type { Pathway } from '../../pathway/schema.ts';
import { about, errors, listAnswer, listOf, noContent, pageQuery, projectParams } from '../answers.ts';
import type { App } from '../app.ts';
import { createOnce } from '../idempotency.ts';
import { editOf, ifMatchHeaders, tagVersion } from '../pathwayAnswers.ts';
import type { HttpDeps } from '../ports.ts';

const nodeParams = projectParams.extend({ nodeId: z.string() });

export function pathwayNodeRoutes(app: App, deps: HttpDeps): void {
  const { storage, clock } = deps;
  const read = { access: { kind: 'project', scope: 'read' } } as const;
  const write = { access: { kind: 'project', scope: 'write' } } as const;
  const base = '/v1/projects/:projectId/pathway/nodes';

  app.get(
    base,
    {
      config: read,
      schema: {
        ...about('Pathway', 'List the nodes'),
        params: projectParams,
        querystring: pageQuery,
        response: { 200: listOf(nodeSchema), ...errors() },
      },
    },
    async ({ params, query }, reply) => {
      const pathway = await findPathway(storage.stores, params.projectId);
      tagVersion(reply, pathway);
      const { nodes } = pathway.graph;
      const items = nodes.slice(query.offset, query.offset + query.limit);
      return listAnswer({ items, total: nodes.length }, query);
    },
  );

  app.post(
    base,
    {
      config: write,
      schema: {
        ...about('Pathway', 'Add a node', 'Without an id it gets one.'),
        params: projectParams,
        headers: ifMatchHeaders,
        body: nodeInputSchema,
        response: { 201: nodeSchema, ...errors('body', 409, 412) },
      },
    },
    (request, reply) =>
      createOnce(deps, request, reply, { status: 201 }, async (stores) => {
        const node = completeNode(request.body, deps.makeId);
        const edit = editOf(request, clock);
        const saved = await editPathway(stores, request.params.projectId, edit, (graph, known) =>
          addNode(graph, node, known),
        );
        tagVersion(reply, saved);
        return node;
      }),
  );

  app.get(
    `${base}/:nodeId`,
    {
      config: read,
      schema: {
        ...about('Pathway', 'Get a node'),
        params: nodeParams,
        response: { 200: nodeSchema, ...errors() },
      },
    },
    async ({ params }, reply) => {
      const pathway = await findPathway(storage.stores, params.projectId);
      tagVersion(reply, pathway);
      return nodeOf(pathway.graph, params.nodeId);
    },
  );

  app.patch(
    `${base}/:nodeId`,
    {
      config: write,
      schema: {
        ...about('Pathway', 'Update a node', 'Only the supplied keys change.'),
        params: nodeParams,
        headers: ifMatchHeaders,
        body: nodePatchSchema,
        response: { 200: nodeSchema, ...errors('body', 412) },
      },
    },
    async (request, reply) => {
      const { projectId, nodeId } = request.params;
      const saved = await storage.transaction((stores) =>
        editPathway(stores, projectId, editOf(request, clock), (graph, known) =>
          patchNode(graph, nodeId, request.body, known),
        ),
      );
      tagVersion(reply, saved);
      return nodeOf(saved.graph, nodeId);
    },
  );

  app.delete(
    `${base}/:nodeId`,
    {
      config: write,
      schema: {
        ...about('Pathway', 'Remove a node', 'Its edges go with it. The start node stays.'),
        params: nodeParams,
        headers: ifMatchHeaders,
        response: { 204: noContent, ...errors(412) },
      },
    },
    async (request, reply) => {
      const { projectId, nodeId } = request.params;
      const saved = await storage.transaction((stores) =>
        editPathway(stores, projectId, editOf(request, clock), (graph) => removeNode(graph, nodeId)),
      );
      tagVersion(reply, saved);
      return await reply.code(204).send(null);
    },
  );
}

function nodeOf(graph: Pathway, nodeId: string) {
  const node = graph.nodes.find(({ id }) => id === nodeId);
  if (!node) throw notFound('Node');
  return node;
}
