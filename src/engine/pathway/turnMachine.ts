import { type PathwayGraph, waitsForCaller } from '../../agents/pathway/graph.ts';
import { ANY_NODE, type PathwayEdge } from '../../agents/pathway/schema/edgeSchema.ts';
import type { PathwayNode } from '../../agents/pathway/schema/nodeSchema.ts';
import type { PendingRoute } from '../session/session.ts';
import type { VariableConfig } from './requiredVariables.ts';
import { edgeOfEvent, selectEdge, type TurnTrigger } from './selectEdge.ts';
import type {
  TurnMachineStep as Step,
  TurnMachineContext,
  TurnMachineEffect,
  TurnMachineEvent,
  TurnMachineState,
} from './turnMachineState.ts';

/** The most nodes that a turn enters: a pathway that moves in circles without a word stops here. */
const MAX_HOPS = 25;

/** Inputs without a customer who could answer a question. */
const UNATTENDED: ReadonlySet<TurnTrigger['kind']> = new Set([
  'silence',
  'not_understood',
  'opt_out',
  'voicemail',
  'failure',
]);
/** Inputs on which a node is performed that the turn before took an edge to after its answer. */
const PERFORMING: ReadonlySet<TurnTrigger['kind']> = new Set([
  'user_message',
  'dtmf',
  'silence',
  'not_understood',
]);
/** Inputs of the customer: they continue where a global edge had led away. */
const RETURNING: ReadonlySet<TurnTrigger['kind']> = new Set([
  'user_message',
  'dtmf',
  'not_understood',
  'failure',
]);

/**
 * Moves a conversation through its pathway for one turn.
 *
 * ```text
 *            start                judge              judged
 *  (begin) ─────────▶ routing ───────────▶ judging ─────────▶ arriving ◀──────────────┐
 *                        │ no sentence to judge                  │                    │ an edge holds
 *                        └──────────────────────────────────▶    │                    │
 *                                  say, speak, run_tool ◀────────┤                    │
 *                                        │ spoke / tool_ran      │ end, transfer      │
 *                                        ▼                       ▼                    │
 *                        a node that waits: done                done      any other: routing
 * ```
 *
 * A turn never speaks for two nodes between which the customer's answer is due: once a node that waits has spoken, an
 * edge out of it is taken, and its target is performed on the customer's next turn. An edge that leads past a missing
 * required variable is held, and the customer is asked instead.
 *
 * Pure: returns effects to perform in order; the result of the last one is the next event.
 */
export function advanceTurn(
  state: TurnMachineState,
  event: TurnMachineEvent,
  context: TurnMachineContext,
): Step {
  switch (event.type) {
    case 'start':
      return start(state, event.trigger, context);
    case 'judged':
      return follow(state, judged(state, event.edgeId), context);
    case 'spoke':
      return afterSpeaking(state, event, context);
    case 'tool_ran': {
      const { ok, tool, transfer } = event;
      const trigger: TurnTrigger = { kind: 'tool_result', ok, tool, transfer };
      const hasAnswered = state.hasAnswered || event.saidAnything === true;
      return route({ ...state, trigger, hasAnswered, hasSpoken: true, held: null }, context);
    }
    case 'halted':
      return finish({ ...state, hasSpoken: true });
  }
}

export function initialTurn(
  { nodeId, hasSpoken }: Pick<TurnMachineState, 'nodeId' | 'hasSpoken'>,
  { returnTo, heldEdgeId }: PendingRoute,
  graph: PathwayGraph,
): TurnMachineState {
  return {
    phase: 'begin',
    nodeId,
    hasSpoken,
    hasAnswered: false,
    trigger: { kind: 'user_message' },
    isAttended: true,
    returnTo,
    held: nodeId === null ? null : edgeFrom(graph, nodeId, heldEdgeId),
    hops: 0,
    choices: [],
    otherwise: null,
  };
}

function start(state: TurnMachineState, trigger: TurnTrigger | 'begin', context: TurnMachineContext): Step {
  const { graph } = context;
  const { returnTo } = state;
  const origin =
    returnTo && trigger !== 'begin' && RETURNING.has(trigger.kind) ? graph.node(returnTo.nodeId) : undefined;
  if (returnTo && origin) {
    const held = edgeFrom(graph, origin.id, returnTo.heldEdgeId);
    const back = { ...state, nodeId: origin.id, hasSpoken: returnTo.hasSpoken, returnTo: null, held };
    return entering(origin, 'returned', start(back, trigger, context));
  }
  const node = current(state, context);
  if (node) return startAt(state, node, trigger, context);
  const first = graph.start;
  if (!first) return finish(state);
  const entered: TurnMachineState = { ...state, nodeId: first.id, hasSpoken: false, hops: 1 };
  const next =
    trigger === 'begin'
      ? speakOrPass({ ...entered, trigger: { kind: 'passed' } }, first, context)
      : startAt(entered, first, trigger, context);
  return entering(first, 'begin', next);
}

function startAt(
  state: TurnMachineState,
  node: PathwayNode,
  trigger: TurnTrigger | 'begin',
  context: TurnMachineContext,
): Step {
  if (trigger === 'begin') return speakAt(state, node, context);
  const started = { ...state, trigger, isAttended: !UNATTENDED.has(trigger.kind) };
  if (trigger.kind === 'client_tools') {
    const edge = edgeOfEvent(context.graph, node, trigger);
    return edge ? take(started, edge, context) : speakAt(started, node, context);
  }
  const isDue = !state.hasSpoken && !waitsForCaller(node) && PERFORMING.has(trigger.kind);
  return isDue ? speakOrPass(started, node, context) : route(started, context);
}

/** Selects the edge out of the current node, by a model where conditions are sentences. */
function route(state: TurnMachineState, context: TurnMachineContext): Step {
  const node = current(state, context);
  if (!node) return finish(state);
  const { graph, variables, onFailure, share } = context;
  const { trigger, hasSpoken, held } = state;
  const options = {
    trigger,
    variables,
    hasSpoken,
    held,
    onFailure,
    share,
  };
  const { choices, otherwise } = selectEdge(graph, node, options);
  const next = { ...state, choices, otherwise };
  if (choices.length === 0) return follow(next, otherwise, context);
  const mayAnswer = trigger.kind === 'user_message' && otherwise === null && speaksByModel(node);
  const isFree = mayAnswer && choices.every((edge) => due(state, edge, context).length === 0);
  if (context.style !== 'first' && isFree) return speakAt(next, node, context);
  return { state: { ...next, phase: 'judging' }, effects: [{ type: 'judge', node, choices }] };
}

/** Takes the edge; without one, the current node answers the customer. */
function follow(state: TurnMachineState, edge: PathwayEdge | null, context: TurnMachineContext): Step {
  if (edge) return take(state, edge, context);
  const node = current(state, context);
  if (node && state.trigger.kind === 'not_understood')
    return { state: { ...state, phase: 'done' }, effects: [{ type: 'give_up', node }] };
  const isAnswer = state.trigger.kind === 'user_message' || state.trigger.kind === 'dtmf';
  if (!node || state.hasAnswered || !isAnswer) return finish(state);
  return speakAt({ ...state, choices: [] }, node, context);
}

/** Takes the edge, or holds it and asks for what is missing. */
function take(state: TurnMachineState, edge: PathwayEdge, context: TurnMachineContext): Step {
  const node = current(state, context);
  const variables = due(state, edge, context);
  if (!node || variables.length === 0) return arrive(state, edge, context);
  return {
    state: { ...state, phase: 'asking', held: edge, choices: [], otherwise: null },
    effects: [{ type: 'ask', node, variables }],
  };
}

function due(
  { isAttended }: TurnMachineState,
  edge: PathwayEdge,
  { dueBefore }: TurnMachineContext,
): readonly VariableConfig[] {
  return isAttended ? dueBefore(edge) : [];
}

function arrive(state: TurnMachineState, edge: PathwayEdge, context: TurnMachineContext): Step {
  const node = context.graph.node(edge.target);
  if (!node) return finish(state);
  const entered = enter(state, edge, node);
  if (entered.hops > MAX_HOPS) {
    const stopped: Step = {
      state: { ...entered, phase: 'done' },
      effects: [{ type: 'too_many_hops', node }],
    };
    return entering(node, edge, stopped);
  }
  return entering(node, edge, speakOrPass(entered, node, context));
}

function enter(state: TurnMachineState, edge: PathwayEdge, node: PathwayNode): TurnMachineState {
  return {
    ...state,
    nodeId: node.id,
    hasSpoken: false,
    returnTo: returnAfter(state, edge, node),
    held: null,
    hops: state.hops + 1,
    choices: [],
    otherwise: null,
  };
}

/** A chain of nodes that a global edge led to returns from its end. */
function returnAfter(
  { nodeId, hasSpoken, returnTo, held, trigger }: TurnMachineState,
  edge: PathwayEdge,
  node: PathwayNode,
): PendingRoute['returnTo'] {
  if (edge.source !== ANY_NODE)
    return trigger.kind === 'passed' || trigger.kind === 'tool_result' ? returnTo : null;
  if (!node.data.returns || nodeId === null) return null;
  return returnTo ?? { nodeId, hasSpoken, heldEdgeId: held?.id ?? null };
}

/** @param by - The edge that leads to the node, or why it is entered without one. */
function entering(
  node: PathwayNode,
  by: PathwayEdge | 'begin' | 'returned',
  { state, effects }: Step,
  hasSpokenFor?: boolean,
): Step {
  const way = typeof by === 'string' ? { why: by } : { why: reasonOf(by), edgeId: by.id };
  return { state, effects: [{ type: 'enter', node, ...way, hasSpokenFor }, ...effects] };
}

/** Performs the node that was just entered; one without a prompt is passed through. */
function speakOrPass(state: TurnMachineState, node: PathwayNode, context: TurnMachineContext): Step {
  const isSilent = node.data.prompt.trim() === '';
  switch (node.type) {
    case 'say':
      return { state: { ...state, phase: 'speaking' }, effects: [{ type: 'say', node }] };
    case 'tool':
      return { state: { ...state, phase: 'running' }, effects: [{ type: 'run_tool', node }] };
    case 'condition':
      return route({ ...state, trigger: { kind: 'passed' }, hasSpoken: true }, context);
    case 'end':
    case 'transfer':
      return isSilent ? close(state, node) : speakAt(state, node, context);
    case 'start':
    case 'conversation':
      if (isSilent && context.graph.outgoing(node.id).some(({ data }) => data.condition === null)) {
        return route({ ...state, trigger: { kind: 'passed' } }, context);
      }
      return speakAt(state, node, context);
    case 'knowledge':
      return speakAt(state, node, context);
  }
}

function speakAt(state: TurnMachineState, node: PathwayNode, { style }: TurnMachineContext): Step {
  if (node.type === 'say')
    return { state: { ...state, phase: 'speaking' }, effects: [{ type: 'say', node }] };
  const effect: TurnMachineEffect = {
    type: 'speak',
    node,
    moves: style === 'together' || style === 'called' ? state.choices : [],
    beside: style === 'beside' ? state.choices : [],
  };
  return { state: { ...state, phase: 'speaking' }, effects: [effect] };
}

function afterSpeaking(
  state: TurnMachineState,
  event: { edgeId: string | null; saidAnything: boolean },
  context: TurnMachineContext,
): Step {
  const node = current(state, context);
  if (!node) return finish(state);
  const spoken = { ...state, hasSpoken: true, hasAnswered: state.hasAnswered || event.saidAnything };
  if (state.phase === 'asking') return finish(spoken);
  const edge = state.choices.find(({ id }) => id === event.edgeId);
  if (edge) {
    // Words beside a call for the edge announce it.
    if (!event.saidAnything || context.style === 'called') return arrive(spoken, edge, context);
    return afterMove(spoken, edge, context.style === 'together', context);
  }
  if (node.type === 'end' || node.type === 'transfer') return close(spoken, node);
  if (waitsForCaller(node)) return finish(spoken);
  return route({ ...spoken, trigger: { kind: 'passed' } }, context);
}

/**
 * Moves on after words. A model that took the edge in the same request spoke for the target: one that waits for the
 * customer counts as spoken, and one that ends the conversation says no second farewell; any other is performed now.
 * Words of the node that is left wait for the customer's answer, and so does the target.
 *
 * @param spokeForTarget - Whether the words were the target's.
 */
function afterMove(
  state: TurnMachineState,
  edge: PathwayEdge,
  spokeForTarget: boolean,
  context: TurnMachineContext,
): Step {
  const node = context.graph.node(edge.target);
  if (!node) return finish(state);
  const entered = enter(state, edge, node);
  const isClosing = node.type === 'end' || node.type === 'transfer';
  if (waitsForCaller(node))
    return entering(node, edge, finish({ ...entered, hasSpoken: spokeForTarget }), spokeForTarget);
  if (isClosing && (spokeForTarget || node.data.prompt.trim() === ''))
    return entering(node, edge, close(entered, node), spokeForTarget);
  if (spokeForTarget) return arrive(state, edge, context);
  return entering(node, edge, finish(entered));
}

function close(state: TurnMachineState, node: PathwayNode): Step {
  const type = node.type === 'end' ? 'end' : 'transfer';
  return { state: { ...state, phase: 'done', hasSpoken: true }, effects: [{ type, node }] };
}

function finish(state: TurnMachineState): Step {
  return { state: { ...state, phase: 'done' }, effects: [] };
}

/** Returns the edge that the model chose. A missing verdict takes no fallback edge: another edge might hold. */
function judged(
  { choices, otherwise }: TurnMachineState,
  edgeId: string | null | undefined,
): PathwayEdge | null {
  if (edgeId === undefined) return otherwise?.data.fallback ? null : otherwise;
  return choices.find(({ id }) => id === edgeId) ?? otherwise;
}

function edgeFrom(graph: PathwayGraph, nodeId: string, edgeId: string | null): PathwayEdge | null {
  return graph.leaving(nodeId).find(({ id }) => id === edgeId) ?? null;
}

function current(state: TurnMachineState, { graph }: TurnMachineContext): PathwayNode | undefined {
  return state.nodeId === null ? undefined : graph.node(state.nodeId);
}

function speaksByModel(node: PathwayNode): boolean {
  return node.type !== 'say' && node.type !== 'condition' && node.type !== 'tool';
}

function reasonOf(edge: PathwayEdge): string {
  const { condition, label } = edge.data;
  if (typeof condition === 'string') return condition;
  if (condition === null) return label || 'unconditional';
  return label || JSON.stringify(condition);
}
