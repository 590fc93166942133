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
import { TRANSFER_TOOL, type TurnInput } from '../turn/turn.ts';

/** What a move reacts to: the customer's input, or the end of a node that does not wait for the customer. */
export type TurnTrigger =
  | { readonly kind: 'words' }
  | { readonly kind: 'dtmf'; readonly digits: string }
  | { readonly kind: 'silence'; readonly durationMs: number }
  | { readonly kind: 'voicemail' }
  | { readonly kind: 'failure' }
  | { readonly kind: 'passed' }
  | { readonly kind: 'tool_result'; readonly ok: boolean; readonly tool: string };

/** What the pathway reacts to. Results of the client's tools let the current node continue, as `begin` does. */
export function triggerOf(input: TurnInput): TurnTrigger | 'begin' {
  switch (input.kind) {
    case 'begin':
    case 'tool_results':
      return 'begin';
    case 'words':
      return { kind: 'words' };
    case 'notice':
    case 'last_words':
      return { kind: 'passed' };
    case 'transfer_failed':
      return { kind: 'tool_result', ok: false, tool: TRANSFER_TOOL };
    default:
      return input;
  }
}

/** The edge out of a node, as far as it can be selected without a model. */
export interface EdgeSelection {
  /** Edges for a model to select from, in this order; may be empty. */
  readonly choices: readonly PathwayEdge[];
  /** The edge to take when no choice holds; null stays at the node. */
  readonly otherwise: PathwayEdge | null;
}

export interface SelectEdgeOptions {
  readonly trigger: TurnTrigger;
  readonly variables: Variables;
  /** Whether the node has been spoken, so that the customer's words answer it and free its unconditional edge. */
  readonly hasSpoken: boolean;
  readonly onFailure?: (edge: PathwayEdge, reason: string) => void;
}

/**
 * Goes through the edges out of a node in their order, up to the first that certainly holds.
 *
 * Sentences before it are choices for a model. An event condition holds only for its event, a fallback only where nothing
 * else holds.
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
      if (isJudged(options.trigger)) choices.push(edge);
    } else if (holds(edge, node, options)) {
      return { choices, otherwise: edge };
    }
  }
  return { choices, otherwise: null };
}

function holds(edge: PathwayEdge, node: PathwayNode, options: SelectEdgeOptions): boolean {
  const { condition } = edge.data;
  if (isEventCondition(condition)) return happened(condition, options.trigger);
  if (isExpression(condition)) {
    const onFailure = (reason: string) => options.onFailure?.(edge, reason);
    return evaluateExpression(condition, options.variables, { onFailure });
  }
  return isUnconditionalFree(node, options);
}

/** A node that waits for the customer keeps its unconditional edge until the customer has answered it. */
function isUnconditionalFree(node: PathwayNode, { trigger, hasSpoken }: SelectEdgeOptions): boolean {
  if (trigger.kind === 'failure') return true;
  if (trigger.kind === 'silence' || trigger.kind === 'voicemail') return false;
  // A failed transfer is no answer of the customer.
  if (trigger.kind === 'tool_result' && waitsForCaller(node)) return false;
  return !waitsForCaller(node) || hasSpoken || node.data.prompt.trim() === '';
}

function isJudged(trigger: TurnTrigger): boolean {
  return trigger.kind === 'words' || trigger.kind === 'passed' || trigger.kind === 'tool_result';
}

function happened(condition: EventCondition, trigger: TurnTrigger): boolean {
  switch (condition.event) {
    case 'dtmf':
      return (
        trigger.kind === 'dtmf' && (condition.digits === undefined || condition.digits === trigger.digits)
      );
    case 'silence':
      return trigger.kind === 'silence' && trigger.durationMs >= (condition.afterMs ?? 0);
    case 'tool_result':
      return (
        trigger.kind === 'tool_result' &&
        (condition.ok ?? trigger.ok) === trigger.ok &&
        (condition.tool ?? trigger.tool) === trigger.tool
      );
    case 'voicemail':
      return trigger.kind === 'voicemail';
  }
}
