import type { PathwayEdge } from './schema/edgeSchema.ts';
import type { PathwayNode } from './schema/nodeSchema.ts';
import type { Pathway } from './schema/pathwaySchema.ts';

/** A pathway made ready to walk. */
export interface PathwayGraph {
  readonly nodes: readonly PathwayNode[];
  /** Where a talk begins; undefined only in a graph that cannot be saved. */
  readonly start: PathwayNode | undefined;
  node(id: string): PathwayNode | undefined;
  /** The edges out of a node, in the order in which they are looked at. */
  outgoing(nodeId: string): readonly PathwayEdge[];
}

/**
 * Indexes a pathway. Of nodes that share an id the first counts, and an edge to or from nowhere is left out, so that
 * an unsound graph can be reviewed too.
 */
export function createGraph(pathway: Pathway): PathwayGraph {
  const byId = new Map<string, PathwayNode>();
  for (const node of pathway.nodes) if (!byId.has(node.id)) byId.set(node.id, node);
  const outgoing = new Map<string, PathwayEdge[]>();
  for (const edge of pathway.edges) {
    if (!byId.has(edge.source) || !byId.has(edge.target)) continue;
    const siblings = outgoing.get(edge.source);
    if (siblings) siblings.push(edge);
    else outgoing.set(edge.source, [edge]);
  }
  for (const edges of outgoing.values()) edges.sort(byOrderOfTrying);
  return {
    nodes: [...byId.values()],
    start: pathway.nodes.find((node) => node.type === 'start'),
    node: (id) => byId.get(id),
    outgoing: (nodeId) => outgoing.get(nodeId) ?? [],
  };
}

/** True for nodes where the caller has the next word; all others are passed through at once. */
export function waitsForCaller(node: PathwayNode): boolean {
  return node.type === 'start' || node.type === 'conversation';
}

/** True for nodes where the agent's part can end: by their type, or by a tool that they carry. */
export function canFinish(node: PathwayNode): boolean {
  if (node.type === 'end' || node.type === 'transfer') return true;
  return node.data.tools.some((tool) => tool === 'end_call' || tool === 'transfer_call');
}

/** Fallbacks last, then the higher priority first; the sort is stable, so equals keep the order of the graph. */
function byOrderOfTrying(a: PathwayEdge, b: PathwayEdge): number {
  return Number(a.data.fallback) - Number(b.data.fallback) || b.data.priority - a.data.priority;
}
