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
import { edgeInputSchema, edgePatchSchema, edgeSchema } from '../../../agents/pathway/schema/edgeSchema.ts';
import { nodeInputSchema, nodePatchSchema, nodeSchema } from '../../../agents/pathway/schema/nodeSchema.ts';
import type { Pathway } from '../../../agents/pathway/schema/pathwaySchema.ts';
import type { KnownNames } from '../../../agents/pathway/structure.ts';
import { type CursorScope, readCursor, writeCursor } from '../../../base/values/cursor.ts';
import type { Page, PageOf } from '../../../base/values/page.ts';
import { type CrudContext, crudRoutes } from '../../crud.ts';
import type { App, HttpDeps } from '../../ports.ts';
import { editOf, ifMatchHeaders, setVersionTag } from './pathwayVersions.ts';

const PATH = '/v1/projects/:projectId/pathway';

const lastPart = z.tuple([z.string(), z.int()]);

export function pathwayNodeRoutes(app: App, deps: HttpDeps): void {
  partRoutes(app, deps, {
    noun: 'node',
    withArticle: 'a node',
    removal: 'Removes its edges too. The start node cannot be removed.',
    schema: nodeSchema,
    inputSchema: nodeInputSchema,
    patchSchema: nodePatchSchema,
    in: ({ nodes }) => nodes,
    withId: (input) => withNodeId(input, deps.makeId),
    add: addNode,
    patch: patchNode,
    remove: removeNode,
  });
}

export function pathwayEdgeRoutes(app: App, deps: HttpDeps): void {
  partRoutes(app, deps, {
    noun: 'edge',
    withArticle: 'an edge',
    schema: edgeSchema,
    inputSchema: edgeInputSchema,
    patchSchema: edgePatchSchema,
    in: ({ edges }) => edges,
    withId: (input) => withEdgeId(input, deps.makeId),
    add: addEdge,
    patch: patchEdge,
    remove: removeEdge,
  });
}

/** What differs between nodes and edges. */
interface PartKind<Part extends { readonly id: string }, Input, Patch> {
  readonly noun: 'node' | 'edge';
  readonly withArticle: string;
  readonly removal?: string;
  readonly schema: z.ZodType<Part>;
  readonly inputSchema: z.ZodType<Input>;
  readonly patchSchema: z.ZodType<Patch>;
  in(graph: Pathway): readonly Part[];
  withId(input: Input): Part;
  add(graph: Pathway, part: Part, known: KnownNames): Pathway;
  patch(graph: Pathway, id: string, patch: Patch, known: KnownNames): Pathway;
  remove(graph: Pathway, id: string): Pathway;
}

function partRoutes<Part extends { readonly id: string }, Input, Patch>(
  app: App,
  deps: HttpDeps,
  kind: PartKind<Part, Input, Patch>,
): void {
  const { noun, withArticle } = kind;
  const find = (graph: Pathway, id: string) => kind.in(graph).find((part) => part.id === id);
  const read = async ({ stores, projectId, reply }: CrudContext): Promise<Pathway> => {
    const pathway = await findPathway(stores, projectId);
    setVersionTag(reply, pathway);
    return pathway.graph;
  };
  const edit = async (
    { stores, projectId, request, reply, now }: CrudContext,
    change: (graph: Pathway, known: KnownNames) => Pathway,
  ): Promise<Pathway> => {
    const saved = await editPathway(stores, projectId, editOf(request, now), change);
    setVersionTag(reply, saved);
    return saved.graph;
  };
  crudRoutes(app, deps, {
    tag: 'Pathway',
    noun,
    withArticle,
    path: `${PATH}/${noun}s`,
    idParameter: `${noun}Id`,
    schema: kind.schema,
    list: {
      run: async (context, page) =>
        pageOfParts(kind.in(await read(context)), page, [`pathway_${noun}s`, context.projectId]),
    },
    create: {
      summary: `Add ${withArticle}`,
      description: 'Without an id the service makes one.',
      headers: ifMatchHeaders,
      errors: [412],
      body: kind.inputSchema,
      async run(context, input) {
        const part = kind.withId(input);
        await edit(context, (graph, known) => kind.add(graph, part, known));
        return part;
      },
    },
    get: { run: async (context) => find(await read(context), context.id) },
    update: {
      methods: ['PATCH'],
      description: 'Only the supplied fields change.',
      headers: ifMatchHeaders,
      errors: [412],
      body: kind.patchSchema,
      async run(context, patch) {
        const graph = await edit(context, (before, known) => kind.patch(before, context.id, patch, known));
        return find(graph, context.id);
      },
    },
    remove: {
      summary: `Remove ${withArticle}`,
      description: kind.removal,
      headers: ifMatchHeaders,
      errors: [412],
      run: (context) => edit(context, (graph) => kind.remove(graph, context.id)),
    },
  });
}

/** A cursor names the last part, and its place for the case that it is removed. */
function pageOfParts<Part extends { readonly id: string }>(
  parts: readonly Part[],
  page: Page,
  scope: CursorScope,
): PageOf<Part> {
  const last = readCursor(page, scope, lastPart);
  const start = last ? placeBehind(parts, ...last) : page.offset;
  const items = parts.slice(start, start + page.limit);
  const end = start + items.length;
  const shown = items.at(-1);
  const nextCursor = shown && end < parts.length ? writeCursor(scope, [shown.id, end - 1]) : null;
  return { items, total: parts.length, nextCursor };
}

function placeBehind(parts: readonly { readonly id: string }[], id: string, place: number): number {
  const found = parts.findIndex((part) => part.id === id);
  return found === -1 ? place : found + 1;
}
