import { canFinish, type PathwayGraph, waitsForCaller } from '../graph.ts';
import { isEventCondition, type PathwayEdge } from '../schema/edgeSchema.ts';
import type { PathwayNode } from '../schema/nodeSchema.ts';
import type { Problem } from './problem.ts';
import { stronglyConnected } from './stronglyConnected.ts';

/** A message names at most this many nodes. */
const MAX_NAMED_NODES = 5;

/** A problem of a cycle, reported at its first node. */
export type CycleProblem = Omit<Problem, 'path'> & { readonly node: PathwayNode };

interface Cycle {
  /** The first member in graph order. */
  readonly first: PathwayNode;
  readonly members: readonly PathwayNode[];
}

type LiveEdges = (nodeId: string) => readonly PathwayEdge[];

/** Finds cycles that run without waiting for the caller, and cycles that a conversation cannot leave. */
export function findBadCycles(graph: PathwayGraph, liveEdges: LiveEdges): CycleProblem[] {
  const instant = cyclesOf(
    graph,
    graph.nodes.filter((node) => !waitsForCaller(node) && !canFinish(node)),
    (id) => liveEdges(id).filter((edge) => !awaitsEvent(edge)),
  );
  const traps = cyclesOf(graph, graph.nodes, liveEdges).filter(
    (cycle) =>
      !hasExit(cycle, liveEdges) &&
      !canLeave(graph, cycle) &&
      cycle.members.some(waitsForCaller) &&
      !cycle.members.some(canFinish),
  );
  return [
    ...instant.map((cycle) => loopProblem(cycle, hasExit(cycle, liveEdges))),
    ...traps.map(trapProblem),
  ];
}

/** The cycles of a subgraph. */
function cyclesOf(graph: PathwayGraph, among: readonly PathwayNode[], edges: LiveEdges): Cycle[] {
  const ids = new Set(among.map((node) => node.id));
  const successors = (id: string) =>
    edges(id)
      .map((edge) => edge.target)
      .filter((target) => ids.has(target));
  return stronglyConnected(ids, successors).flatMap((component) => {
    const inCycle = new Set(component);
    const members = graph.nodes.filter((node) => inCycle.has(node.id));
    const [first] = members;
    const isCycle = first && (members.length > 1 || successors(first.id).includes(first.id));
    return isCycle ? [{ first, members }] : [];
  });
}

/** A global edge that does not return leads out of every cycle. */
function canLeave(graph: PathwayGraph, { members }: Cycle): boolean {
  const ids = new Set(members.map((node) => node.id));
  return graph.globalEdges.some(({ target }) => !ids.has(target) && !graph.node(target)?.data.returns);
}

function hasExit({ members }: Cycle, edges: LiveEdges): boolean {
  const ids = new Set(members.map((node) => node.id));
  return members.some((node) => edges(node.id).some((edge) => !ids.has(edge.target)));
}

/** Reports a cycle. Only a tool can change the result of a condition before the caller's next turn. */
function loopProblem(cycle: Cycle, isLeft: boolean): CycleProblem {
  const names = namesOf(cycle);
  if (isLeft && cycle.members.some(({ type }) => type === 'tool')) {
    const message = `${names} may repeat without waiting for the caller; make sure that the tool's result ends the loop`;
    return { node: cycle.first, severity: 'warning', code: 'loop_without_turn', message };
  }
  const message = `${names} repeat forever, since none of them waits for the caller; add a conversation node between them`;
  return { node: cycle.first, severity: 'error', code: 'endless_loop', message };
}

function trapProblem(cycle: Cycle): CycleProblem {
  const message = `a conversation cannot leave ${namesOf(cycle)}; add an edge to an end node, or the tool end_call`;
  return { node: cycle.first, severity: 'warning', code: 'cycle_without_exit', message };
}

/** DTMF digits and silence wait for the caller; a tool's result does not. */
function awaitsEvent(edge: PathwayEdge): boolean {
  const { condition } = edge.data;
  return isEventCondition(condition) && condition.event !== 'tool_result';
}

function namesOf({ members }: Cycle): string {
  const titles = members.slice(0, MAX_NAMED_NODES).map((node) => JSON.stringify(node.data.title));
  const more = members.length - titles.length;
  return `${titles.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
