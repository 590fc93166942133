import { canFinish, type PathwayGraph, waitsForCaller } from '../graph.ts';
import { isEventCondition, type PathwayEdge } from '../schema/edgeSchema.ts';
import type { PathwayNode } from '../schema/nodeSchema.ts';
import { isAlwaysTaken } from './deadEdges.ts';
import type { Problem } from './problem.ts';

/** A node at which a conversation may stop. */
export type DeadEndProblem = Omit<Problem, 'path'> & { readonly node: PathwayNode };

/** Finds nodes at which a conversation stops because no edge can be taken, and say nodes without a text. */
export function findDeadEnds(
  graph: PathwayGraph,
  liveEdges: (nodeId: string) => readonly PathwayEdge[],
): DeadEndProblem[] {
  return graph.nodes.flatMap((node) => {
    const problems: DeadEndProblem[] = [];
    const name = JSON.stringify(node.data.title);
    if (node.type === 'say' && node.data.prompt.trim() === '') {
      const message = `${name} has no text to say; add a prompt`;
      problems.push({ node, severity: 'warning', code: 'nothing_to_say', message });
    }
    const edges = liveEdges(node.id);
    if (edges.length === 0 && stopsWithoutEdge(node)) {
      const message = `the conversation stops at ${name}; add an outgoing edge`;
      problems.push({ node, severity: 'warning', code: 'dead_end', message });
    } else if (
      edges.length > 0 &&
      !waitsForCaller(node) &&
      !canFinish(node) &&
      !node.data.returns &&
      mayMatchNone(node, edges)
    ) {
      const message = `the conversation stops at ${name} when no condition matches; add an edge with fallback`;
      problems.push({ node, severity: 'warning', code: 'no_default_edge', message });
    }
    return problems;
  });
}

/** A conversation node needs no edge to continue; a start node only greets. */
function stopsWithoutEdge(node: PathwayNode): boolean {
  return node.type !== 'conversation' && !canFinish(node) && node.data.returns !== true;
}

function mayMatchNone(node: PathwayNode, edges: readonly PathwayEdge[]): boolean {
  if (edges.some((edge) => isAlwaysTaken(edge.data.condition))) return false;
  return node.type !== 'tool' || !coversEveryResult(node.data.tools[0], edges);
}

function coversEveryResult(tool: string | undefined, edges: readonly PathwayEdge[]): boolean {
  const outcomes = edges.flatMap(({ data: { condition } }) => {
    if (!isEventCondition(condition) || condition.event !== 'tool_result') return [];
    if (condition.tool !== undefined && condition.tool !== tool) return [];
    return condition.ok === undefined ? [true, false] : [condition.ok];
  });
  return outcomes.includes(true) && outcomes.includes(false);
}
