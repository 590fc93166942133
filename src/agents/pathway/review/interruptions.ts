import { type PathwayGraph, waitsForCaller } from '../graph.ts';
import { isEventCondition, type PathwayEdge } from '../schema/edgeSchema.ts';
import type { PathwayNode } from '../schema/nodeSchema.ts';
import type { DeadEndProblem } from './deadEnds.ts';

type LiveEdges = (nodeId: string) => readonly PathwayEdge[];

/**
 * Finds lines that must be heard (`interruption: off`) behind a line of the same turn that the caller can interrupt: an
 * interruption drops the rest of the turn.
 */
export function findCutLines(graph: PathwayGraph, liveEdges: LiveEdges): DeadEndProblem[] {
  const problems = new Map<PathwayNode, DeadEndProblem>();
  for (const before of graph.nodes) {
    if (!speaksInPassing(before) || before.data.interruption === 'off') continue;
    for (const node of nextSpeakers(graph, before, liveEdges)) {
      if (node.data.interruption !== 'off' || problems.has(node)) continue;
      const [line, other] = [node, before].map(({ data }) => JSON.stringify(data.title));
      const message = `${line} must be heard, but a caller who interrupts ${other}, which precedes it in the same turn, does not hear it; set interruption to off at ${other} too`;
      problems.set(node, { node, severity: 'warning', code: 'must_hear_line_cut', message });
    }
  }
  return [...problems.values()];
}

/** The nodes that speak next in the same turn. */
function nextSpeakers(graph: PathwayGraph, from: PathwayNode, liveEdges: LiveEdges): PathwayNode[] {
  const speakers: PathwayNode[] = [];
  const passed = new Set([from.id]);
  for (const id of passed) {
    for (const { data, target } of liveEdges(id)) {
      const node = graph.node(target);
      if (!node || passed.has(target) || awaitsCaller(data.condition)) continue;
      if (node.data.prompt.trim() !== '' && node.type !== 'condition' && node.type !== 'tool')
        speakers.push(node);
      else passed.add(target);
    }
  }
  return speakers;
}

function awaitsCaller(condition: PathwayEdge['data']['condition']): boolean {
  return isEventCondition(condition) && condition.event !== 'tool_result';
}

function speaksInPassing(node: PathwayNode): boolean {
  const isLine = node.type === 'say' || node.type === 'knowledge';
  return isLine && !waitsForCaller(node) && node.data.prompt.trim() !== '';
}
