import { type PathwayGraph, silenceMsOf, waitsForCaller } from '../graph.ts';
import { type EventCondition, isEventCondition, type PathwayEdge } from '../schema/edgeSchema.ts';
import type { PathwayNode } from '../schema/nodeSchema.ts';
import type { DeadEdge } from './deadEdges.ts';

type ToolResult = Extract<EventCondition, { event: 'tool_result' }>;

const TRANSFER_TOOL = 'transfer_call';

/** Finds the edges whose event their node never raises, and edges for silence behind a shorter one. */
export function findSilentEdges(graph: PathwayGraph): DeadEdge[] {
  return graph.nodes.flatMap((node) => {
    const edges = graph.outgoing(node.id);
    const unraised = edges.flatMap((edge) => unraisedEvent(edge, node, edges));
    return [...unraised, ...behindShorterSilence(node, edges)];
  });
}

function unraisedEvent(edge: PathwayEdge, node: PathwayNode, edges: readonly PathwayEdge[]): DeadEdge[] {
  const { condition } = edge.data;
  if (!isEventCondition(condition)) return [];
  const objection =
    condition.event === 'tool_result'
      ? resultObjection(condition, node)
      : condition.event === 'transfer'
        ? transferObjection(node)
        : isLeftAtOnce(node, edges)
          ? `the conversation leaves this node at once, so that it never waits there for ${condition.event}; remove its unconditional edge, or move this edge to the node that follows`
          : undefined;
  return objection === undefined ? [] : [{ edge, code: 'event_never_raised', message: objection }];
}

/** Returns why a node has no such result of a tool. */
function resultObjection({ tool, ok }: ToolResult, node: PathwayNode): string | undefined {
  if (node.type === 'transfer') {
    const isFailure = ok !== true && (tool === undefined || tool === TRANSFER_TOOL);
    return isFailure
      ? undefined
      : 'a transfer node only has the result of a failed transfer; set ok to false';
  }
  if (tool === 'end_call' || (tool === TRANSFER_TOOL && ok === true))
    return `${tool} ends the conversation when it succeeds, so that no edge follows it; remove this edge`;
  const { tools } = node.data;
  if (tool !== undefined && !tools.includes(tool))
    return `this node does not call the tool ${JSON.stringify(tool)}; add it to the node's tools, or name one of them`;
  const hasResults = tools.length > 0 || waitsForCaller(node) || node.type === 'knowledge';
  return hasResults ? undefined : `a ${node.type} node calls no tool; move this edge to the node that does`;
}

/** Returns why no transfer that starts at a node can return to it; a transfer of the API may, to a node that waits. */
function transferObjection(node: PathwayNode): string | undefined {
  if (node.type === 'transfer' || waitsForCaller(node) || node.data.tools.includes(TRANSFER_TOOL))
    return undefined;
  return `a ${node.type} node transfers no call; move this edge to the transfer node, or to the node with the tool ${TRANSFER_TOOL}`;
}

/** A node that neither waits for the caller, nor speaks a question, nor may stay for want of an edge. */
function isLeftAtOnce(node: PathwayNode, edges: readonly PathwayEdge[]): boolean {
  if (node.type === 'end' || node.type === 'transfer') return false;
  if (waitsForCaller(node) && node.data.prompt.trim() !== '') return false;
  return edges.some(({ data }) => data.condition === null);
}

function behindShorterSilence(node: PathwayNode, edges: readonly PathwayEdge[]): DeadEdge[] {
  const silences = edges.flatMap((edge) => {
    const afterMs = silenceMsOf(edge.data.condition, node);
    return afterMs === undefined ? [] : [{ edge, afterMs }];
  });
  const [shortest, ...longer] = silences.toSorted((one, other) => one.afterMs - other.afterMs);
  return longer.map(({ edge, afterMs }) => ({
    edge,
    code: 'silence_behind_shorter',
    message: `edge ${JSON.stringify(shortest?.edge.id)} is taken after ${shortest?.afterMs} ms of silence, before the ${afterMs} ms of this one; remove one of them`,
  }));
}
