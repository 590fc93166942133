import { jsonPointer, zodDetails } from '../../../base/validation.ts';
import { expressionVariables } from '../expressions.ts';
import { canFinish, createGraph, type PathwayGraph } from '../graph.ts';
import { nodeTemplates } from '../nodeTemplates.ts';
import { isExpression, type PathwayEdge } from '../schema/edgeSchema.ts';
import { type Pathway, pathwaySchema } from '../schema/pathwaySchema.ts';
import { checkStructure, type KnownNames } from '../structure.ts';
import { templateVariables } from '../templates.ts';
import { findBadCycles } from './cycles.ts';
import { type DeadEdge, findDeadEdges } from './deadEdges.ts';
import { findDeadEnds } from './deadEnds.ts';
import type { Problem } from './problem.ts';

export interface Review {
  /** True when no problem is an error. */
  readonly valid: boolean;
  readonly problems: readonly Problem[];
}

export interface ReviewOptions extends KnownNames {
  /** Names that a session will know; without them, unknown variables are not looked for. */
  readonly variables?: ReadonlySet<string>;
}

/** Reviews whatever a user sent as a pathway. Never throws: what has not even the shape of one is told as problems. */
export function reviewInput(input: unknown, options: ReviewOptions): Review {
  const parsed = pathwaySchema.safeParse(input);
  if (parsed.success) return reviewPathway(parsed.data, options);
  const problems = zodDetails(parsed.error).map(
    (detail): Problem => ({ severity: 'error', code: 'invalid_field', ...detail }),
  );
  return { valid: false, problems };
}

/** Finds what keeps a pathway from being saved, and what would go wrong on a call. */
export function reviewPathway(pathway: Pathway, options: ReviewOptions): Review {
  const graph = createGraph(pathway);
  const deadEdges = findDeadEdges(graph);
  const problems = [
    ...checkStructure(pathway, options).map((error): Problem => ({ severity: 'error', ...error })),
    ...reviewWalk(graph, deadEdges, locatorOf(pathway)),
    ...(options.variables ? reviewVariables(pathway, options.variables) : []),
  ];
  return { valid: problems.every((problem) => problem.severity !== 'error'), problems };
}

/** Tells where a node or an edge stands; by identity, since ids may repeat in an unsound graph. */
type Locate = (item: object) => string;

function locatorOf(pathway: Pathway): Locate {
  const pointers = new Map<object, string>();
  for (const [index, node] of pathway.nodes.entries()) pointers.set(node, jsonPointer(['nodes', index]));
  for (const [index, edge] of pathway.edges.entries()) pointers.set(edge, jsonPointer(['edges', index]));
  return (item) => pointers.get(item) ?? '';
}

/** Problems of the ways that a talk can go. */
function reviewWalk(graph: PathwayGraph, deadEdges: readonly DeadEdge[], locate: Locate): Problem[] {
  const dead = new Set(deadEdges.map(({ edge }) => edge));
  const liveEdges = (nodeId: string) => graph.outgoing(nodeId).filter((edge) => !dead.has(edge));
  return [
    ...deadEdges.map(
      ({ edge, code, message }): Problem => ({ severity: 'warning', code, message, path: locate(edge) }),
    ),
    ...reviewReach(graph, liveEdges, locate),
    ...findDeadEnds(graph, liveEdges).map(({ node, ...rest }): Problem => ({ ...rest, path: locate(node) })),
    ...findBadCycles(graph, liveEdges).map(({ node, ...rest }): Problem => ({ ...rest, path: locate(node) })),
  ];
}

function reviewReach(
  graph: PathwayGraph,
  liveEdges: (nodeId: string) => readonly PathwayEdge[],
  locate: Locate,
): Problem[] {
  if (!graph.start) return [];
  const reached = reachableFrom(graph.start.id, liveEdges);
  const problems = graph.nodes
    .filter((node) => !reached.has(node.id))
    .map(
      (node): Problem => ({
        severity: 'warning',
        code: 'unreachable_node',
        message: `no way leads from the start to ${JSON.stringify(node.data.title)}`,
        path: locate(node),
      }),
    );
  const finishing = graph.nodes.filter(canFinish);
  if (finishing.some((node) => reached.has(node.id))) return problems;
  const [code, message] =
    finishing.length === 0
      ? (['no_end_node', 'no node ends the talk; add an end node, or the tool end_call to a node'] as const)
      : (['no_end_reachable', 'no way leads from the start to a node that ends the talk'] as const);
  return [...problems, { severity: 'warning', code, message, path: '/nodes' }];
}

function reachableFrom(start: string, edges: (nodeId: string) => readonly PathwayEdge[]): Set<string> {
  const reached = new Set([start]);
  // A set hands out what is added while it is walked.
  for (const id of reached) for (const edge of edges(id)) reached.add(edge.target);
  return reached;
}

function reviewVariables(pathway: Pathway, known: ReadonlySet<string>): Problem[] {
  const unknown = (names: readonly string[], path: readonly PropertyKey[]) =>
    names
      .filter((name) => !known.has(name))
      .map(
        (name): Problem => ({
          severity: 'warning',
          code: 'unknown_variable',
          message: `nothing is known to set the variable ${JSON.stringify(name)}`,
          path: jsonPointer(path),
        }),
      );
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
function variablesOf(template: string): readonly string[] {
  try {
    return templateVariables(template);
  } catch {
    return [];
  }
}
