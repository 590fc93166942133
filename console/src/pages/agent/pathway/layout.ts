import { Graph as Digraph, layout } from '@dagrejs/dagre';

import { ANY_NODE, type Graph, movedTo, onGrid, type Position } from './graph.ts';

export const NODE_WIDTH = 240;
/** Of a node with two lines of its prompt. */
export const NODE_HEIGHT = 112;
const GAP_BETWEEN_LAYERS = 90;
/** The labels of edges to neighbours, in the middle of their edges, stay apart. */
const GAP_WITHIN_LAYER = 120;

/** Arranges the nodes in layers from the start on. */
export function arranged(graph: Graph): Graph {
  const digraph = new Digraph({ multigraph: true });
  digraph.setGraph({ rankdir: 'TB', ranksep: GAP_BETWEEN_LAYERS, nodesep: GAP_WITHIN_LAYER });
  digraph.setDefaultEdgeLabel(() => ({}));
  for (const { id } of graph.nodes) digraph.setNode(id, { width: NODE_WIDTH, height: NODE_HEIGHT });
  for (const { id, source, target } of graph.edges) {
    if (source !== ANY_NODE) digraph.setEdge(source, target, {}, id);
  }
  layout(digraph);
  const positions = new Map<string, Position>();
  for (const { id } of graph.nodes) {
    const { x = 0, y = 0 } = digraph.node(id);
    positions.set(id, onGrid({ x: x - NODE_WIDTH / 2, y: y - NODE_HEIGHT / 2 }));
  }
  return movedTo(graph, positions);
}

/** Arranges a pathway that was written without positions, whose nodes would cover each other. */
export function readable(graph: Graph): Graph {
  const places = new Set(graph.nodes.map(({ position: { x, y } }) => `${x} ${y}`));
  return places.size < graph.nodes.length ? arranged(graph) : graph;
}
