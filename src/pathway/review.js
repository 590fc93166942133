import { jsonPointer, zodDetails } from '../base/validation.js';
import { findBadCycles } from './cycles.js';
import { findDeadEdges } from './deadEdges.js';
import { isExpression } from './edgeSchema.js';
import { expressionVariables } from './expressions.js';
import { canFinish, createGraph } from './graph.js';
import { nodeTemplates } from './nodeTemplates.js';
import { pathwaySchema } from './schema.js';
import { findStops } from './stops.js';
import { checkStructure } from './structure.js';
import { templateVariables } from './templates.js';
/** Reviews whatever a user sent as a pathway. Never throws: what has not even the shape of one is told as problems. */
export function reviewInput(input, options) {
  const parsed = pathwaySchema.safeParse(input);
  if (parsed.success) return reviewPathway(parsed.data, options);
  const problems = zodDetails(parsed.error).map((detail) => ({
    severity: 'error',
    code: 'invalid_field',
    ...detail,
  }));
  return { valid: false, problems };
}
/** Finds what keeps a pathway from being saved, and what would go wrong on a call. */
export function reviewPathway(pathway, options) {
  const graph = createGraph(pathway);
  const deadEdges = findDeadEdges(graph);
  const problems = [
    ...checkStructure(pathway, options).map((error) => ({ severity: 'error', ...error })),
    ...reviewWalk(graph, deadEdges, locatorOf(pathway)),
    ...(options.variables ? reviewVariables(pathway, options.variables) : []),
  ];
  return { valid: problems.every((problem) => problem.severity !== 'error'), problems };
}
function locatorOf(pathway) {
  const pointers = new Map();
  for (const [index, node] of pathway.nodes.entries()) pointers.set(node, jsonPointer(['nodes', index]));
  for (const [index, edge] of pathway.edges.entries()) pointers.set(edge, jsonPointer(['edges', index]));
  return (item) => pointers.get(item) ?? '';
}
/** Problems of the ways that a talk can go. */
function reviewWalk(graph, deadEdges, locate) {
  const dead = new Set(deadEdges.map(({ edge }) => edge));
  const liveEdges = (nodeId) => graph.outgoing(nodeId).filter((edge) => !dead.has(edge));
  return [
    ...deadEdges.map(({ edge, code, message }) => ({
      severity: 'warning',
      code,
      message,
      path: locate(edge),
    })),
    ...reviewReach(graph, liveEdges, locate),
    ...findStops(graph, liveEdges).map(({ node, ...rest }) => ({ ...rest, path: locate(node) })),
    ...findBadCycles(graph, liveEdges).map(({ node, ...rest }) => ({ ...rest, path: locate(node) })),
  ];
}
function reviewReach(graph, liveEdges, locate) {
  if (!graph.start) return [];
  const reached = reachableFrom(graph.start.id, liveEdges);
  const problems = graph.nodes
    .filter((node) => !reached.has(node.id))
    .map((node) => ({
      severity: 'warning',
      code: 'unreachable_node',
      message: `no way leads from the start to ${JSON.stringify(node.data.title)}`,
      path: locate(node),
    }));
  const finishing = graph.nodes.filter(canFinish);
  if (finishing.some((node) => reached.has(node.id))) return problems;
  const [code, message] =
    finishing.length === 0
      ? ['no_end_node', 'no node ends the talk; add an end node, or the tool end_call to a node']
      : ['no_end_reachable', 'no way leads from the start to a node that ends the talk'];
  return [...problems, { severity: 'warning', code, message, path: '/nodes' }];
}
function reachableFrom(start, edges) {
  const reached = new Set([start]);
  // A set hands out what is added while it is walked.
  for (const id of reached) for (const edge of edges(id)) reached.add(edge.target);
  return reached;
}
function reviewVariables(pathway, known) {
  const unknown = (names, path) =>
    names
      .filter((name) => !known.has(name))
      .map((name) => ({
        severity: 'warning',
        code: 'unknown_variable',
        message: `nothing is known to set the variable ${JSON.stringify(name)}`,
        path: jsonPointer(path),
      }));
  const inNodes = pathway.nodes.flatMap((node, index) =>
    nodeTemplates(node).flatMap(({ path, template }) =>
      unknown(variablesOf(template), ['nodes', index, ...path]),
    ),
  );
  const inEdges = pathway.edges.flatMap((edge, index) => {
    const { condition } = edge.data;
    if (!isExpression(condition)) return [];
    return unknown(expressionVariables(condition), ['edges', index, 'data', 'condition']);
  });
  return [...inNodes, ...inEdges];
}
/** A malformed template is a structure error already. */
function variablesOf(template) {
  try {
    return templateVariables(template);
  } catch {
    return [];
  }
}
