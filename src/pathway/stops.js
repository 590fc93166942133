import { isAlwaysTaken } from './deadEdges.js';
import { isEventCondition } from './edgeSchema.js';
import { canFinish, waitsForCaller } from './graph.js';
/** Finds nodes after which nobody would have the word, and say nodes without words. */
export function findStops(graph, liveEdges) {
  return graph.nodes.flatMap((node) => {
    const problems = [];
    const name = JSON.stringify(node.data.title);
    if (node.type === 'say' && node.data.prompt.trim() === '') {
      const message = `${name} has nothing to say; write its prompt`;
      problems.push({ node, severity: 'warning', code: 'nothing_to_say', message });
    }
    const edges = liveEdges(node.id);
    if (edges.length === 0 && stopsWithoutEdge(node)) {
      const message = `the talk would stop at ${name}; add an edge that leads on`;
      problems.push({ node, severity: 'warning', code: 'dead_end', message });
    } else if (edges.length > 0 && !waitsForCaller(node) && !canFinish(node) && mayMatchNone(node, edges)) {
      const message = `the talk stops at ${name} when no condition matches; add an unconditional or a fallback edge`;
      problems.push({ node, severity: 'warning', code: 'no_default_edge', message });
    }
    return problems;
  });
}
/** A conversation goes on by itself; a start node only greets. */
function stopsWithoutEdge(node) {
  return node.type !== 'conversation' && !canFinish(node);
}
function mayMatchNone(node, edges) {
  if (edges.some((edge) => isAlwaysTaken(edge.data.condition))) return false;
  return node.type !== 'tool' || !coversEveryResult(node.data.tools[0], edges);
}
function coversEveryResult(tool, edges) {
  const outcomes = edges.flatMap(({ data: { condition } }) => {
    if (!isEventCondition(condition) || condition.event !== 'tool_result') return [];
    if (condition.tool !== undefined && condition.tool !== tool) return [];
    return condition.ok === undefined ? [true, false] : [condition.ok];
  });
  return outcomes.includes(true) && outcomes.includes(false);
}
