/**
 * Indexes a pathway. Of nodes that share an id the first counts, and an edge to or from nowhere is left out, so that
 * an unsound graph can be reviewed too.
 */
export function createGraph(pathway) {
  const byId = new Map();
  for (const node of pathway.nodes) if (!byId.has(node.id)) byId.set(node.id, node);
  const outgoing = new Map();
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
export function waitsForCaller(node) {
  return node.type === 'start' || node.type === 'conversation';
}
/** True for nodes where the agent's part can end: by their type, or by a tool that they carry. */
export function canFinish(node) {
  if (node.type === 'end' || node.type === 'transfer') return true;
  return node.data.tools.some((tool) => tool === 'end_call' || tool === 'transfer_call');
}
/** Fallbacks last, then the higher priority first; the sort is stable, so equals keep the order of the graph. */
function byOrderOfTrying(a, b) {
  return Number(a.data.fallback) - Number(b.data.fallback) || b.data.priority - a.data.priority;
}
