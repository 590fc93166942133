import { evaluateExpression } from '../../agents/pathway/evaluateExpression.ts';
import { type PathwayGraph, waitsForCaller } from '../../agents/pathway/graph.ts';
import {
  type EventCondition,
  isEventCondition,
  isExpression,
  type PathwayEdge,
} from '../../agents/pathway/schema/edgeSchema.ts';
import type { PathwayNode } from '../../agents/pathway/schema/nodeSchema.ts';
import type { Variables } from '../../agents/pathway/templates.ts';

/** What stands to be answered by a move: the customer's part, or the end of a node that waits for nobody. */
export type TurnTrigger =
  | { readonly kind: 'words' }
  | { readonly kind: 'dtmf'; readonly digits: string }
  | { readonly kind: 'silence'; readonly durationMs: number }
  | { readonly kind: 'voicemail' }
  | { readonly kind: 'failure' }
  | { readonly kind: 'passed' }
  | { readonly kind: 'tool_result'; readonly ok: boolean; readonly tool: string };

/** Where a way out of a node leads, as far as it can be told without asking a model. */
export interface EdgeSelection {
  /** To be judged by a model, in this order; empty where nothing is. */
  readonly choices: readonly PathwayEdge[];
  /** Taken when no choice holds; null stays. */
  readonly otherwise: PathwayEdge | null;
}

export interface SelectEdgeOptions {
  readonly stimulus: TurnTrigger;
  readonly variables: Variables;
  /** Whether the node has had its word; what the customer says then answers it, and its unconditional edge is free. */
  readonly hasSpoken: boolean;
  readonly onFailure?: (edge: PathwayEdge, reason: string) => void;
}

/**
 * Looks at the edges out of a node in their order, up to the first that certainly holds.
 *
 * A sentence before it has to be judged first; an edge for an event holds only for that event; a fallback holds only
 * where nothing else does.
 */
export function selectEdge(
  graph: PathwayGraph,
  node: PathwayNode,
  options: SelectEdgeOptions,
): EdgeSelection {
  const choices: PathwayEdge[] = [];
  for (const edge of graph.outgoing(node.id)) {
    const { condition } = edge.data;
    if (typeof condition === 'string') {
      if (isJudged(options.stimulus)) choices.push(edge);
    } else if (holds(edge, node, options)) {
      return { choices, otherwise: edge };
    }
  }
  return { choices, otherwise: null };
}

function holds(edge: PathwayEdge, node: PathwayNode, options: SelectEdgeOptions): boolean {
  const { condition } = edge.data;
  if (isEventCondition(condition)) return happened(condition, options.stimulus);
  if (isExpression(condition)) {
    const onFailure = (reason: string) => options.onFailure?.(edge, reason);
    return evaluateExpression(condition, options.variables, { onFailure });
  }
  return isUnconditionalFree(node, options);
}

/** A node that waits keeps the talk until the customer has answered it; one with nothing to say lets it pass. */
function isUnconditionalFree(node: PathwayNode, { stimulus, hasSpoken }: SelectEdgeOptions): boolean {
  if (stimulus.kind === 'failure') return true;
  if (stimulus.kind === 'silence' || stimulus.kind === 'voicemail') return false;
  // A transfer came to nothing; the customer has not answered yet.
  if (stimulus.kind === 'tool_result' && waitsForCaller(node)) return false;
  return !waitsForCaller(node) || hasSpoken || node.data.prompt.trim() === '';
}

function isJudged(stimulus: TurnTrigger): boolean {
  return stimulus.kind === 'words' || stimulus.kind === 'passed' || stimulus.kind === 'tool_result';
}

function happened(condition: EventCondition, stimulus: TurnTrigger): boolean {
  switch (condition.event) {
    case 'dtmf':
      return (
        stimulus.kind === 'dtmf' && (condition.digits === undefined || condition.digits === stimulus.digits)
      );
    case 'silence':
      return stimulus.kind === 'silence' && stimulus.durationMs >= (condition.afterMs ?? 0);
    case 'tool_result':
      return (
        stimulus.kind === 'tool_result' &&
        (condition.ok ?? stimulus.ok) === stimulus.ok &&
        (condition.tool ?? stimulus.tool) === stimulus.tool
      );
    case 'voicemail':
      return stimulus.kind === 'voicemail';
  }
}
