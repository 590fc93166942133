import type { PathwayEdge } from '../../../../src/agents/pathway/schema/edgeSchema.ts';
import type { PathwayNode } from '../../../../src/agents/pathway/schema/nodeSchema.ts';
import { type Pathway, pathwaySchema } from '../../../../src/agents/pathway/schema/pathwaySchema.ts';

/** A node by its id and type; `tool` and `transfer` nodes get what they need. */
export function sketchNode(id: string, type: PathwayNode['type'], data: object = {}): object {
  const needed = type === 'tool' ? { tools: ['lookup'] } : type === 'transfer' ? { to: '+886212345678' } : {};
  return { id, type, data: { title: id, prompt: 'words', ...needed, ...data } };
}

/** An edge as `from>to`; its id is that text, or the given one. */
export function sketchEdge(way: string, data: object = {}, id: string = way): object {
  const [source, target] = way.split('>');
  return { id, source, target, data };
}

/** A pathway with its defaults filled in. */
export function sketch(nodes: readonly object[], edges: readonly object[] = []): Pathway {
  return pathwaySchema.parse({ nodes, edges });
}

/** The node with this id; fails the test when there is none. */
export function nodeOf(pathway: Pathway, id: string): PathwayNode {
  const node = pathway.nodes.find((candidate) => candidate.id === id);
  if (!node) throw new Error(`no node ${id}`);
  return node;
}

/** The edge with this id; fails the test when there is none. */
export function edgeOf(pathway: Pathway, id: string): PathwayEdge {
  const edge = pathway.edges.find((candidate) => candidate.id === id);
  if (!edge) throw new Error(`no edge ${id}`);
  return edge;
}
