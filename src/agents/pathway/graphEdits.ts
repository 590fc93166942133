import { type ErrorDetail, invalid, notFound } from '../../base/errors.ts';
import { zodDetails } from '../../base/validation.ts';
import type { MakeId } from '../../base/values/ids.ts';
import { type EdgeInput, type EdgePatch, edgeSchema, type PathwayEdge } from './schema/edgeSchema.ts';
import { type NodeInput, type NodePatch, nodeSchema, type PathwayNode } from './schema/nodeSchema.ts';
import { MAX_EDGES, MAX_NODES, type Pathway } from './schema/pathwaySchema.ts';
import {
  checkEdge,
  checkNode,
  type KnownNames,
  requireValidStructure,
  type StructureError,
} from './structure.ts';

/** Fields of a node's data that a patch may also give at its top level, as `data.title`. */
const DOTTED_KEYS = ['title', 'prompt', 'tools'] as const;

/** Adds an id to a new node without one. */
export function withNodeId(input: NodeInput, makeId: MakeId): PathwayNode {
  return { ...input, id: input.id ?? makeId() };
}

/** Adds an id to a new edge without one. */
export function withEdgeId(input: EdgeInput, makeId: MakeId): PathwayEdge {
  return { ...input, id: input.id ?? makeId() };
}

/** @throws {CallwayError} `invalid` when the id is taken, the graph is full, or the node is invalid. */
export function addNode(pathway: Pathway, node: PathwayNode, known: KnownNames): Pathway {
  if (pathway.nodes.length >= MAX_NODES)
    refuse('too_many_nodes', '', `a pathway has at most ${MAX_NODES} nodes`);
  if (pathway.nodes.some(({ id }) => id === node.id)) refuseTakenId('node', node.id);
  if (node.type === 'start' && pathway.nodes.some(({ type }) => type === 'start')) {
    refuse('several_start_nodes', '/type', 'a pathway has one start node, and this pathway already has it');
  }
  requireValidStructure(checkNode(node, known));
  return { ...pathway, nodes: [...pathway.nodes, node] };
}

/**
 * Changes the fields that the patch names. Errors that the node had before, such as a deleted tool, do not prevent the
 * change.
 *
 * @throws {CallwayError} `node_not_found`, or `invalid` with details that point into the patch.
 */
export function patchNode(pathway: Pathway, id: string, patch: NodePatch, known: KnownNames): Pathway {
  const before = pathway.nodes.find((node) => node.id === id) ?? fail('Node');
  const dotted = DOTTED_KEYS.flatMap((key) => {
    const value = patch[`data.${key}`];
    return value === undefined ? [] : [[key, value] as const];
  });
  const data = merge(before.data, { ...Object.fromEntries(dotted), ...patch.data });
  const position = patch.position ?? before.position;
  const parsed = nodeSchema.safeParse({ ...before, position, data });
  const intoPatch = <Detail extends ErrorDetail>(details: readonly Detail[]): Detail[] =>
    details.map((detail) => ({
      ...detail,
      path: pathInPatch(
        detail.path,
        dotted.map(([key]) => key),
      ),
    }));
  if (!parsed.success) refuseDetails('invalid_node', intoPatch(zodDetails(parsed.error)));
  const after = parsed.data;
  requireValidStructure(intoPatch(newErrors(checkNode(before, known), checkNode(after, known))));
  return { ...pathway, nodes: pathway.nodes.map((node) => (node === before ? after : node)) };
}

/**
 * Removes a node and its edges.
 *
 * @throws {CallwayError} `node_not_found`, or `invalid` for the start node.
 */
export function removeNode(pathway: Pathway, id: string): Pathway {
  const removed = pathway.nodes.find((node) => node.id === id) ?? fail('Node');
  if (removed.type === 'start') {
    throw invalid('start_node_required', 'the start node cannot be removed: every conversation starts there');
  }
  return {
    nodes: pathway.nodes.filter((node) => node !== removed),
    edges: pathway.edges.filter((edge) => edge.source !== id && edge.target !== id),
  };
}

/** @throws {CallwayError} `invalid` when the id is taken, the graph is full, or the edge is invalid. */
export function addEdge(pathway: Pathway, edge: PathwayEdge, known: KnownNames): Pathway {
  if (pathway.edges.length >= MAX_EDGES)
    refuse('too_many_edges', '', `a pathway has at most ${MAX_EDGES} edges`);
  if (pathway.edges.some(({ id }) => id === edge.id)) refuseTakenId('edge', edge.id);
  requireValidStructure(checkEdge(edge, nodesById(pathway), known));
  return { ...pathway, edges: [...pathway.edges, edge] };
}

/**
 * Changes the fields that the patch names.
 *
 * @throws {CallwayError} `edge_not_found`, or `invalid` with details that point into the patch.
 */
export function patchEdge(pathway: Pathway, id: string, patch: EdgePatch, known: KnownNames): Pathway {
  const before = pathway.edges.find((edge) => edge.id === id) ?? fail('Edge');
  const { data: patchedData = {}, ...ends } = patch;
  const parsed = edgeSchema.safeParse({ ...merge(before, ends), data: merge(before.data, patchedData) });
  if (!parsed.success) refuseDetails('invalid_edge', zodDetails(parsed.error));
  const after = parsed.data;
  const nodes = nodesById(pathway);
  requireValidStructure(newErrors(checkEdge(before, nodes, known), checkEdge(after, nodes, known)));
  return { ...pathway, edges: pathway.edges.map((edge) => (edge === before ? after : edge)) };
}

/** @throws {CallwayError} `edge_not_found` */
export function removeEdge(pathway: Pathway, id: string): Pathway {
  const removed = pathway.edges.find((edge) => edge.id === id) ?? fail('Edge');
  return { ...pathway, edges: pathway.edges.filter((edge) => edge !== removed) };
}

/** Fields of which null is a value. */
const NULLABLE: ReadonlySet<string> = new Set(['engine']);

/** Applies a patch to an object; null removes a field, so that the schema's default applies. */
function merge(base: object, patch: object): Record<string, unknown> {
  const supplied = Object.entries(patch).filter(([, value]) => value !== undefined);
  const merged = Object.entries({ ...base, ...Object.fromEntries(supplied) });
  return Object.fromEntries(
    merged.filter(([key, value]) => value !== null || !(key in patch) || NULLABLE.has(key)),
  );
}

function newErrors(before: readonly StructureError[], after: readonly StructureError[]): StructureError[] {
  const known = new Set(before.map(({ path, message }) => `${path} ${message}`));
  return after.filter(({ path, message }) => !known.has(`${path} ${message}`));
}

/** An error in a field given as `data.tools` has the path `/data.tools`, not `/data/tools`. */
function pathInPatch(path: string, dottedKeys: readonly string[]): string {
  const key = dottedKeys.find((name) => path === `/data/${name}` || path.startsWith(`/data/${name}/`));
  return key === undefined ? path : path.replace('/data/', '/data.');
}

function nodesById(pathway: Pathway): ReadonlyMap<string, PathwayNode> {
  return new Map(pathway.nodes.map((node) => [node.id, node]));
}

function refuseTakenId(what: string, id: string): never {
  refuse('duplicate_id', '/id', `id ${JSON.stringify(id)} is used by another ${what}; choose a different id`);
}

function refuse(code: string, path: string, message: string): never {
  refuseDetails(code, [{ path, message }]);
}

function refuseDetails(code: string, details: readonly ErrorDetail[]): never {
  throw invalid(code, details[0]?.message ?? 'the change cannot be made', details);
}

function fail(what: string): never {
  throw notFound(what);
}
