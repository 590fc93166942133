import { evaluateExpression } from '../../agents/pathway/evaluateExpression.ts';
import { type PathwayGraph, silenceMsOf, waitsForCaller } from '../../agents/pathway/graph.ts';
import { isEventCondition, isExpression, type PathwayEdge } from '../../agents/pathway/schema/edgeSchema.ts';
import type { PathwayNode } from '../../agents/pathway/schema/nodeSchema.ts';
import type { Variables } from '../../agents/pathway/templates.ts';
import type { TransferOutcome } from '../../agents/transferOptions.ts';
import type { ComputeShare } from '../../base/async/computeShares.ts';
import { TRANSFER_TOOL, type TurnInput } from '../turn/turn.ts';

/** What a move reacts to: the customer's input, or the end of a node that does not wait for the customer. */
export type TurnTrigger =
  /** @property isScreening - A call screening service asks. */
  | { readonly kind: 'user_message'; readonly isScreening?: true }
  | { readonly kind: 'dtmf'; readonly digits: string }
  | { readonly kind: 'silence'; readonly durationMs: number }
  | { readonly kind: 'not_understood' }
  | { readonly kind: 'opt_out' }
  | { readonly kind: 'voicemail' }
  | { readonly kind: 'failure' }
  | { readonly kind: 'passed' }
  /** @property transfer - The transfer's outcome, which did not join its parties. */
  | {
      readonly kind: 'tool_result';
      readonly ok: boolean;
      readonly tool: string;
      readonly transfer?: TransferOutcome;
    }
  /** Results of tools that the client ran for the model. */
  | { readonly kind: 'client_tools'; readonly tools: readonly string[] };

/** Returns the trigger of the pathway; at `begin` the agent speaks first. */
export function triggerOf(input: TurnInput): TurnTrigger | 'begin' {
  switch (input.kind) {
    case 'begin':
      return 'begin';
    case 'tool_results':
      return { kind: 'client_tools', tools: input.results.map(({ name = '' }) => name) };
    case 'user_message':
      return { kind: 'user_message', isScreening: input.isScreening };
    case 'given_back':
      return input.answersCustomer ? { kind: 'user_message' } : 'begin';
    case 'channel_error':
    case 'unanswered_message':
    case 'transfer_update':
    case 'disclosure':
    case 'say':
      return { kind: 'passed' };
    case 'transfer_failed':
      return failedTransfer(input.outcome);
    default:
      return input;
  }
}

export function failedTransfer(transfer: TransferOutcome = 'failed') {
  return { kind: 'tool_result', ok: false, tool: TRANSFER_TOOL, transfer } as const;
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
  /** Returns the variables of an expression at the moment of the call. */
  readonly variables: (expression: PathwayEdge) => Variables;
  /** Whether the node has been spoken, so that the customer's words answer it and free its unconditional edge. */
  readonly hasSpoken: boolean;
  /** The edge that was selected in an earlier turn and has waited since; replaces the node's own edges. */
  readonly held?: PathwayEdge | null;
  readonly onFailure?: (edge: PathwayEdge, reason: string) => void;
  /** Counts the time of expressions. */
  readonly share?: ComputeShare;
}

const STAY: EdgeSelection = { choices: [], otherwise: null };

/**
 * Selects the edge out of a node, by the same rule in every execution mode:
 *
 * 1. an edge for the event that happened; where the customer was not understood, else a fallback, and nothing below;
 * 2. for the customer's input, the global edges: each by 4 and 5;
 * 3. an unconditional edge, as soon as the customer has answered the node; it hides the edges of 4 and 5;
 * 4. an expression that is true;
 * 5. a sentence that a model judges to hold;
 * 6. a fallback, by 3 to 5.
 *
 * Of equal ones the higher priority counts, then the order of the graph.
 */
export function selectEdge(
  graph: PathwayGraph,
  node: PathwayNode,
  options: SelectEdgeOptions,
): EdgeSelection {
  const event = edgeOfEvent(graph, node, options.trigger);
  if (event) return { choices: [], otherwise: event };
  // Speech without words answers no node: what else it could lead to is the fallback alone.
  if (options.trigger.kind === 'not_understood')
    return selectFallback(graph.outgoing(node.id), options, true);
  const everywhere = selectGlobal(graph, node, options);
  if (everywhere.otherwise) return everywhere;
  const here = options.held
    ? { choices: [], otherwise: options.held }
    : selectOwn(graph.outgoing(node.id), node, options);
  return { choices: [...everywhere.choices, ...here.choices], otherwise: here.otherwise };
}

/** The edge for the event that happened. Of several for silence, the shortest. */
export function edgeOfEvent(
  graph: PathwayGraph,
  node: PathwayNode,
  trigger: TurnTrigger,
): PathwayEdge | undefined {
  const edges = graph.leaving(node.id).filter((edge) => hasHappened(edge, node, trigger));
  if (trigger.kind !== 'silence') return edges[0];
  const afterMs = ({ data }: PathwayEdge) => silenceMsOf(data.condition, node) ?? 0;
  return edges.toSorted((one, other) => afterMs(one) - afterMs(other))[0];
}

function selectGlobal(graph: PathwayGraph, node: PathwayNode, options: SelectEdgeOptions): EdgeSelection {
  const { kind } = options.trigger;
  if (kind !== 'user_message' && kind !== 'dtmf') return STAY;
  const edges = graph.globalEdges.filter(({ target }) => target !== node.id);
  return selectAmong(edges, options);
}

function selectOwn(
  edges: readonly PathwayEdge[],
  node: PathwayNode,
  options: SelectEdgeOptions,
): EdgeSelection {
  const regular = edges.filter(({ data }) => !data.fallback);
  const always = unconditional(regular);
  if (always) return { choices: [], otherwise: isFree(node, options) ? always : null };
  const selected = selectAmong(regular, options);
  if (selected.otherwise) return selected;
  const fallback = selectFallback(edges, options, isFree(node, options));
  return { choices: [...selected.choices, ...fallback.choices], otherwise: fallback.otherwise };
}

function selectFallback(
  edges: readonly PathwayEdge[],
  options: SelectEdgeOptions,
  isFree: boolean,
): EdgeSelection {
  const fallbacks = edges.filter(({ data }) => data.fallback);
  const otherwise = unconditional(fallbacks);
  if (otherwise) return { choices: [], otherwise: isFree ? otherwise : null };
  return selectAmong(fallbacks, options);
}

function unconditional(edges: readonly PathwayEdge[]): PathwayEdge | undefined {
  return edges.find(({ data }) => data.condition === null);
}

/** An expression that is true, or else the sentences. */
function selectAmong(edges: readonly PathwayEdge[], options: SelectEdgeOptions): EdgeSelection {
  const certain = edges.find((edge) => isTrue(edge, options));
  if (certain) return { choices: [], otherwise: certain };
  if (!isJudged(options.trigger)) return STAY;
  return { choices: edges.filter(({ data }) => typeof data.condition === 'string'), otherwise: null };
}

function isTrue(edge: PathwayEdge, { variables, onFailure, share }: SelectEdgeOptions): boolean {
  const { condition } = edge.data;
  if (!isExpression(condition)) return false;
  return evaluateExpression(condition, variables(edge), {
    onFailure: (reason) => onFailure?.(edge, reason),
    share,
  });
}

/** A node that waits for the customer keeps its unconditional edge until the customer has answered it. */
function isFree(node: PathwayNode, { trigger, hasSpoken }: SelectEdgeOptions): boolean {
  if (trigger.kind === 'failure') return true;
  if (trigger.kind === 'silence' || trigger.kind === 'voicemail') return false;
  // A failed transfer is no answer of the customer.
  if (trigger.kind === 'tool_result' && waitsForCaller(node)) return false;
  return !waitsForCaller(node) || hasSpoken || node.data.prompt.trim() === '';
}

function isJudged(trigger: TurnTrigger): boolean {
  return trigger.kind === 'user_message' || trigger.kind === 'passed' || trigger.kind === 'tool_result';
}

function hasHappened({ data }: PathwayEdge, node: PathwayNode, trigger: TurnTrigger): boolean {
  const { condition } = data;
  if (!isEventCondition(condition)) return false;
  switch (condition.event) {
    case 'dtmf':
      return (
        trigger.kind === 'dtmf' && (condition.digits === undefined || condition.digits === trigger.digits)
      );
    case 'silence':
      return trigger.kind === 'silence' && trigger.durationMs >= (silenceMsOf(condition, node) ?? 0);
    case 'tool_result':
      if (trigger.kind === 'client_tools')
        return condition.ok !== false && trigger.tools.some((tool) => (condition.tool ?? tool) === tool);
      return (
        trigger.kind === 'tool_result' &&
        (condition.ok ?? trigger.ok) === trigger.ok &&
        (condition.tool ?? trigger.tool) === trigger.tool
      );
    case 'transfer':
      return (
        trigger.kind === 'tool_result' &&
        trigger.transfer !== undefined &&
        (condition.outcome ?? trigger.transfer) === trigger.transfer
      );
    case 'not_understood':
    case 'opt_out':
    case 'voicemail':
      return trigger.kind === condition.event;
    case 'screening':
      return trigger.kind === 'user_message' && trigger.isScreening === true;
  }
}
