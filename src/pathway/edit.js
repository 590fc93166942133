import { invalid, notFound } from '../base/errors.js';
import { zodDetails } from '../base/validation.js';
import { edgeSchema } from './edgeSchema.js';
import { nodeSchema } from './nodeSchema.js';
import { MAX_EDGES, MAX_NODES } from './schema.js';
import { checkEdge, checkNode, requireSound } from './structure.js';

/** The keys of a node's data that a patch may also carry at its top level, with `data.` before them. */
const DOTTED_KEYS = ['title', 'prompt', 'tools'];
/** Gives a new node its id, where its author chose none. */
export function completeNode(input, makeId) {
  return { ...input, id: input.id ?? makeId() };
}
/** Gives a new edge its id, where its author chose none. */
export function completeEdge(input, makeId) {
  return { ...input, id: input.id ?? makeId() };
}
/** @throws {CallwayError} `invalid` when the id is taken, the graph is full, or the node is not sound. */
export function addNode(pathway, node, known) {
  if (pathway.nodes.length >= MAX_NODES)
    refuse('too_many_nodes', '', `a pathway has at most ${MAX_NODES} nodes`);
  if (pathway.nodes.some(({ id }) => id === node.id)) refuseTakenId('node', node.id);
  if (node.type === 'start' && pathway.nodes.some(({ type }) => type === 'start')) {
    refuse('several_start_nodes', '/type', 'a pathway has one start node, and this one has it already');
  }
  requireSound(checkNode(node, known));
  return { ...pathway, nodes: [...pathway.nodes, node] };
}
/**
 * Changes the keys that the patch names, and no others. A fault that the node had before, such as a tool since
 * deleted, does not stand in the way of mending something else.
 *
 * @throws {CallwayError} `node_not_found`, or `invalid` with details that point into the patch.
 */
export function patchNode(pathway, id, patch, known) {
  const before = pathway.nodes.find((node) => node.id === id) ?? fail('Node');
  const dotted = DOTTED_KEYS.flatMap((key) => {
    const value = patch[`data.${key}`];
    return value === undefined ? [] : [[key, value]];
  });
  const data = merge(before.data, { ...Object.fromEntries(dotted), ...patch.data });
  const parsed = nodeSchema.safeParse({
    ...before,
    ...(patch.position && { position: patch.position }),
    data,
  });
  const intoPatch = (details) =>
    details.map((detail) => ({
      ...detail,
      path: pathInPatch(
        detail.path,
        dotted.map(([key]) => key),
      ),
    }));
  if (!parsed.success) refuseDetails('invalid_node', intoPatch(zodDetails(parsed.error)));
  const after = parsed.data;
  requireSound(intoPatch(newErrors(checkNode(before, known), checkNode(after, known))));
  return { ...pathway, nodes: pathway.nodes.map((node) => (node === before ? after : node)) };
}
/**
 * Takes a node out, and its edges with it.
 *
 * @throws {CallwayError} `node_not_found`, or `invalid` for the start node, without which no talk could begin.
 */
export function removeNode(pathway, id) {
  const removed = pathway.nodes.find((node) => node.id === id) ?? fail('Node');
  if (removed.type === 'start') {
    throw invalid('start_node_required', 'the start node cannot be removed: every talk begins there');
  }
  return {
    nodes: pathway.nodes.filter((node) => node !== removed),
    edges: pathway.edges.filter((edge) => edge.source !== id && edge.target !== id),
  };
}
/** @throws {CallwayError} `invalid` when the id is taken, the graph is full, or the edge is not sound. */
export function addEdge(pathway, edge, known) {
  if (pathway.edges.length >= MAX_EDGES)
    refuse('too_many_edges', '', `a pathway has at most ${MAX_EDGES} edges`);
  if (pathway.edges.some(({ id }) => id === edge.id)) refuseTakenId('edge', edge.id);
  requireSound(checkEdge(edge, nodesById(pathway), known));
  return { ...pathway, edges: [...pathway.edges, edge] };
}
/**
 * Changes the keys that the patch names, and no others.
 *
 * @throws {CallwayError} `edge_not_found`, or `invalid` with details that point into the patch.
 */
export function patchEdge(pathway, id, patch, known) {
  const before = pathway.edges.find((edge) => edge.id === id) ?? fail('Edge');
  const { data: patchedData = {}, ...ends } = patch;
  const parsed = edgeSchema.safeParse({ ...merge(before, ends), data: merge(before.data, patchedData) });
  if (!parsed.success) refuseDetails('invalid_edge', zodDetails(parsed.error));
  const after = parsed.data;
  const nodes = nodesById(pathway);
  requireSound(newErrors(checkEdge(before, nodes, known), checkEdge(after, nodes, known)));
  return { ...pathway, edges: pathway.edges.map((edge) => (edge === before ? after : edge)) };
}
/** @throws {CallwayError} `edge_not_found` */
export function removeEdge(pathway, id) {
  const removed = pathway.edges.find((edge) => edge.id === id) ?? fail('Edge');
  return { ...pathway, edges: pathway.edges.filter((edge) => edge !== removed) };
}
/** Lays a patch over an object; null takes a key away, so that the schema's default comes back. */
function merge(base, patch) {
  const supplied = Object.entries(patch).filter(([, value]) => value !== undefined);
  const merged = Object.entries({ ...base, ...Object.fromEntries(supplied) });
  return Object.fromEntries(merged.filter(([key, value]) => value !== null || !(key in patch)));
}
function newErrors(before, after) {
  const known = new Set(before.map(({ path, message }) => `${path} ${message}`));
  return after.filter(({ path, message }) => !known.has(`${path} ${message}`));
}
/** A fault in what came as `data.tools` is told at `/data.tools`, not at `/data/tools`. */
function pathInPatch(path, dottedKeys) {
  const key = dottedKeys.find((name) => path === `/data/${name}` || path.startsWith(`/data/${name}/`));
  return key === undefined ? path : path.replace('/data/', '/data.');
}
function nodesById(pathway) {
  return new Map(pathway.nodes.map((node) => [node.id, node]));
}
function refuseTakenId(what, id) {
  refuse(
    'duplicate_id',
    '/id',
    `id ${JSON.stringify(id)} is taken by another ${what}; choose one that is free`,
  );
}
function refuse(code, path, message) {
  refuseDetails(code, [{ path, message }]);
}
function refuseDetails(code, details) {
  throw invalid(code, details[0]?.message ?? 'the change cannot be made', details);
}
function fail(what) {
  throw notFound(what);
}
