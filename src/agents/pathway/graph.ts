import { ANY_NODE, type Condition, isEventCondition, type PathwayEdge } from './schema/edgeSchema.ts';
import { DEFAULT_SILENCE_MS, type PathwayNode } from './schema/nodeSchema.ts';
import type { Pathway } from './schema/pathwaySchema.ts';

/** A pathway, indexed for traversal. */
export interface PathwayGraph {
  readonly nodes: readonly PathwayNode[];
  /** The start node; undefined only in a graph that cannot be saved. */
  readonly start: PathwayNode | undefined;
  node(id: string): PathwayNode | undefined;
  /** The node's own outgoing edges, in evaluation order. */
  outgoing(nodeId: string): readonly PathwayEdge[];
  /** The edges that leave every node, in evaluation order. */
  readonly globalEdges: readonly PathwayEdge[];
  /** The node's own edges, then the global edges that lead elsewhere. */
  leaving(nodeId: string): readonly PathwayEdge[];
}

export interface TemplateInNode {
  /** The path within the node: `['data', 'prompt']`. */
  readonly path: readonly PropertyKey[];
  readonly template: string;
}

/**
 * Indexes a pathway. Of nodes with the same id the first counts, and edges without a source or target node are left out,
 * so that an invalid graph can be reviewed too.
 *
 * @param startNodeId - Begins at this node, if there is one, instead of at the start node.
 */
export function createGraph(pathway: Pathway, startNodeId?: string): PathwayGraph {
  const byId = new Map<string, PathwayNode>();
  for (const node of pathway.nodes) if (!byId.has(node.id)) byId.set(node.id, node);
  const outgoing = new Map<string, PathwayEdge[]>();
  for (const edge of pathway.edges) {
    const hasSource = edge.source === ANY_NODE || byId.has(edge.source);
    if (!hasSource || !byId.has(edge.target)) continue;
    const siblings = outgoing.get(edge.source);
    if (siblings) siblings.push(edge);
    else outgoing.set(edge.source, [edge]);
  }
  for (const edges of outgoing.values()) edges.sort(byEvaluationOrder);
  const globalEdges = outgoing.get(ANY_NODE) ?? [];
  const ownEdges = (nodeId: string) => (nodeId === ANY_NODE ? [] : (outgoing.get(nodeId) ?? []));
  return {
    nodes: [...byId.values()],
    start:
      (startNodeId === undefined ? undefined : byId.get(startNodeId)) ??
      pathway.nodes.find((node) => node.type === 'start'),
    node: (id) => byId.get(id),
    outgoing: ownEdges,
    globalEdges,
    leaving: (nodeId) => [...ownEdges(nodeId), ...globalEdges.filter(({ target }) => target !== nodeId)],
  };
}

/** The silence after which a condition holds at a node; undefined where it waits for no silence. */
export function silenceMsOf(condition: Condition, node: PathwayNode): number | undefined {
  if (!isEventCondition(condition) || condition.event !== 'silence') return undefined;
  return condition.afterMs ?? node.data.silence?.afterMs ?? DEFAULT_SILENCE_MS;
}

/** True for nodes that wait for the caller; all others are left at once. */
export function waitsForCaller(node: PathwayNode): boolean {
  return node.type === 'start' || node.type === 'conversation';
}

/** Types of nodes at which no model speaks, so that none can call a tool. */
const TYPES_WITHOUT_TOOLS: ReadonlySet<PathwayNode['type']> = new Set(['say', 'condition']);

/** Whether the tools of a node can be called: by the model that speaks at it, or by the node itself. */
export function canUseTools({ type }: { readonly type: PathwayNode['type'] }): boolean {
  return !TYPES_WITHOUT_TOOLS.has(type);
}

/** True for nodes that can end the conversation, by their type or by one of their tools. */
export function canFinish(node: PathwayNode): boolean {
  if (node.type === 'end' || node.type === 'transfer') return true;
  if (!canUseTools(node)) return false;
  return node.data.tools.some(
    (tool) => tool === 'end_call' || tool === 'transfer_call' || tool === 'opt_out',
  );
}

/** Returns all strings of a node that are rendered as templates. */
export function nodeTemplates(node: PathwayNode): TemplateInNode[] {
  const found: TemplateInNode[] = [{ path: ['data', 'prompt'], template: node.data.prompt }];
  if (node.type === 'tool') collectStrings(node.data.arguments, ['data', 'arguments'], found);
  if (node.type === 'knowledge') collectStrings(node.data.query, ['data', 'query'], found);
  if (node.type === 'transfer') {
    collectStrings(node.data.to, ['data', 'to'], found);
    collectStrings(node.data.targets, ['data', 'targets'], found);
    collectStrings(node.data.announce, ['data', 'announce'], found);
  }
  return found;
}

/** Fallback edges last, then by descending priority; equal edges keep the order of the graph. */
function byEvaluationOrder(a: PathwayEdge, b: PathwayEdge): number {
  return Number(a.data.fallback) - Number(b.data.fallback) || b.data.priority - a.data.priority;
}

/** Recursive: the schema limits the depth. */
function collectStrings(value: unknown, path: readonly PropertyKey[], found: TemplateInNode[]): void {
  if (typeof value === 'string') found.push({ path, template: value });
  if (typeof value !== 'object' || value === null) return;
  for (const [key, entry] of Object.entries(value)) {
    collectStrings(entry, [...path, Array.isArray(value) ? Number(key) : key], found);
  }
}
