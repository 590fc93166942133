import { Graph as Digraph, layout } from '@dagrejs/dagre';

import { ANY_NODE, type Graph, movedTo, NODE_HEIGHT, NODE_WIDTH, onGrid, type Position } from './graph.ts';

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
