import type { components } from '../../../api/schema.d.ts';

type Schemas = components['schemas'];

/** Of nodes, in the order in which they are offered. */
export const NODE_TYPES = [
  'start',
  'conversation',
  'say',
  'condition',
  'tool',
  'knowledge',
  'transfer',
  'end',
] as const;
export type NodeType = Schemas['PathwayNode']['type'];

/** The source of an edge that leaves every node. */
export const ANY_NODE = '*';

/** A node as the API has it, with all fields of its data. */
export interface GraphNode {
  readonly id: string;
  readonly type: NodeType;
  readonly position: Position;
  readonly data: Readonly<Record<string, unknown>>;
}

/** An edge as the API has it. */
export interface GraphEdge {
  readonly id: string;
  readonly source: string;
  readonly target: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface Graph {
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
}

export interface Position {
  readonly x: number;
  readonly y: number;
}

export type Part = GraphNode | GraphEdge;

export const NODE_WIDTH = 240;
/** Of a node with two lines of its prompt. */
export const NODE_HEIGHT = 112;
const NO_PARTS: Graph = { nodes: [], edges: [] };
const GRID = 20;
/** Pasted nodes do not hide their originals. */
const PASTE_OFFSET = 2 * GRID;

export function titleOf(node: GraphNode): string {
  const { title } = node.data;
  return typeof title === 'string' && title !== '' ? title : node.id;
}

export function partOf(graph: Graph, id: string): Part | undefined {
  return graph.nodes.find((node) => node.id === id) ?? graph.edges.find((edge) => edge.id === id);
}

export function isNode(part: Part): part is GraphNode {
  return 'type' in part;
}

export function withNode(
  graph: Graph,
  type: NodeType,
  title: string,
  position: Position,
): [Graph, GraphNode] {
  const data = { title, prompt: '', ...DATA_OF_TYPE[type] };
  const node: GraphNode = { id: newId(graph, type), type, position: onGrid(position), data };
  return [{ ...graph, nodes: [...graph.nodes, node] }, node];
}

export function withEdge(graph: Graph, source: string, target: string): [Graph, GraphEdge] {
  const data = { label: '', condition: null, priority: 0, fallback: false };
  const edge: GraphEdge = { id: newId(graph, 'edge'), source, target, data };
  return [{ ...graph, edges: [...graph.edges, edge] }, edge];
}

export function replacePart(graph: Graph, part: Part): Graph {
  const swap = <One extends Part>(parts: readonly One[], next: One) =>
    parts.map((one) => (one.id === next.id ? next : one));
  return isNode(part)
    ? { ...graph, nodes: swap(graph.nodes, part) }
    : { ...graph, edges: swap(graph.edges, part) };
}

/** Removes parts, and the edges of removed nodes. The start node stays: every conversation begins there. */
export function withoutParts(graph: Graph, ids: ReadonlySet<string>): Graph {
  const isKept = ({ id, type }: GraphNode) => type === 'start' || !ids.has(id);
  return withoutLooseEdges({
    nodes: graph.nodes.filter(isKept),
    edges: graph.edges.filter(({ id }) => !ids.has(id)),
  });
}

/** Without edges whose nodes are not there. */
export function withoutLooseEdges({ nodes, edges }: Graph): Graph {
  const ids = new Set([ANY_NODE, ...nodes.map(({ id }) => id)]);
  return { nodes, edges: edges.filter(({ source, target }) => ids.has(source) && ids.has(target)) };
}

export function movedTo(graph: Graph, positions: ReadonlyMap<string, Position>): Graph {
  const move = (node: GraphNode) => {
    const to = positions.get(node.id);
    return to && (to.x !== node.position.x || to.y !== node.position.y) ? { ...node, position: to } : node;
  };
  return { ...graph, nodes: graph.nodes.map(move) };
}

/** Whether nodes cover each other, as in a pathway that was written without positions. */
export function hasCoveredNodes({ nodes }: Graph): boolean {
  return new Set(nodes.map(({ position: { x, y } }) => `${x} ${y}`)).size < nodes.length;
}

/** The nodes and the edges between them, for the clipboard. */
export function copyOf(graph: Graph, ids: ReadonlySet<string>): Graph {
  const nodes = graph.nodes.filter(({ id }) => ids.has(id));
  const edges = graph.edges.filter(({ source, target }) => ids.has(source) && ids.has(target));
  return { nodes, edges };
}

/** Adds copies with ids of their own. A second start node becomes a conversation. @returns The ids of the copies too. */
export function pasteInto(graph: Graph, { nodes, edges }: Graph): [Graph, ReadonlySet<string>] {
  const ids = new Map<string, string>();
  let taken = graph;
  for (const { id, type } of nodes) {
    const copy = newId(taken, type);
    ids.set(id, copy);
    taken = { ...taken, nodes: [...taken.nodes, { id: copy, type, position: { x: 0, y: 0 }, data: {} }] };
  }
  const nodeCopies = nodes.map((node): GraphNode => {
    const { x, y } = node.position;
    const type = node.type === 'start' ? 'conversation' : node.type;
    return {
      ...node,
      type,
      id: ids.get(node.id) ?? node.id,
      position: { x: x + PASTE_OFFSET, y: y + PASTE_OFFSET },
    };
  });
  const edgeCopies = edges.map((edge) => ({
    ...edge,
    id: newId(taken, 'edge'),
    source: ids.get(edge.source) ?? edge.source,
    target: ids.get(edge.target) ?? edge.target,
  }));
  return [
    { nodes: [...graph.nodes, ...nodeCopies], edges: [...graph.edges, ...edgeCopies] },
    new Set(ids.values()),
  ];
}

/** What a clipboard may hold; it can come from anywhere. */
export function clipboardGraph(text: string): Graph {
  try {
    const { nodes, edges } = JSON.parse(text) as { nodes?: unknown; edges?: unknown };
    if (!Array.isArray(nodes) || !Array.isArray(edges)) return NO_PARTS;
    return withoutLooseEdges({ nodes: nodes.filter(looksLikeNode), edges: edges.filter(looksLikeEdge) });
  } catch {
    return NO_PARTS;
  }
}

/** Whether the words occur in a part, for the search. */
export function mentions(part: Part, words: string): boolean {
  const { id, data } = part;
  return `${id} ${JSON.stringify(data)}`.toLowerCase().includes(words.toLowerCase());
}

export function onGrid({ x, y }: Position): Position {
  const snap = (value: number) => Math.round(value / GRID) * GRID;
  return { x: snap(x), y: snap(y) };
}

/** What new nodes need beside title and prompt. */
const DATA_OF_TYPE: Readonly<Record<NodeType, Readonly<Record<string, unknown>>>> = {
  start: { tools: [] },
  conversation: { tools: [] },
  say: { tools: [] },
  condition: { tools: [] },
  tool: { tools: [] },
  knowledge: { tools: [] },
  transfer: { tools: [], to: '' },
  end: { tools: [] },
};

/** Random, so that two editors choose different ones. */
function newId({ nodes, edges }: Graph, kind: string): string {
  const taken = new Set([...nodes, ...edges].map(({ id }) => id));
  for (;;) {
    const [random = 0] = crypto.getRandomValues(new Uint32Array(1));
    const id = `${kind}-${random.toString(36).slice(0, 5)}`;
    if (!taken.has(id)) return id;
  }
}

function looksLikeNode(value: unknown): value is GraphNode {
  const { id, type, position, data } = (value ?? {}) as Partial<GraphNode>;
  const isPlaced = typeof position?.x === 'number' && typeof position.y === 'number';
  const isKnown = NODE_TYPES.some((known) => known === type);
  return typeof id === 'string' && isKnown && isPlaced && typeof data === 'object' && data !== null;
}

function looksLikeEdge(value: unknown): value is GraphEdge {
  const { id, source, target, data } = (value ?? {}) as Partial<GraphEdge>;
  return (
    [id, source, target].every((text) => typeof text === 'string') &&
    typeof data === 'object' &&
    data !== null
  );
}
