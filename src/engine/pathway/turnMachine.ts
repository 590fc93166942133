import type { ExecutionMode } from '../../agents/agentConfig.ts';
import { type PathwayGraph, waitsForCaller } from '../../agents/pathway/graph.ts';
import type { PathwayEdge } from '../../agents/pathway/schema/edgeSchema.ts';
import type { PathwayNode } from '../../agents/pathway/schema/nodeSchema.ts';
import type { Variables } from '../../agents/pathway/templates.ts';
import { selectEdge, type TurnTrigger } from './selectEdge.ts';

/** More nodes than a turn of a sound pathway enters; a pathway that moves in circles without a word stops here. */
export const MAX_HOPS = 25;

/**
 * How the edge is selected that the customer's words take.
 *
 * - `first`: one model request selects the edge, then another one answers.
 * - `together`: one model request answers and selects the edge.
 * - `beside`: one model request answers at once while another one selects the edge.
 */
export type MoveStyle = 'first' | 'together' | 'beside';

export const MOVE_STYLES: Readonly<Record<ExecutionMode, MoveStyle>> = {
  smart: 'first',
  balance: 'together',
  turbo: 'beside',
};

export type TurnPhase = 'begin' | 'judging' | 'speaking' | 'running' | 'done';

export interface TurnMachineState {
  readonly phase: TurnPhase;
  readonly nodeId: string | null;
  /** Whether the current node has been spoken. */
  readonly hasSpoken: boolean;
  /** Whether the agent has said anything in this turn. */
  readonly hasAnswered: boolean;
  readonly trigger: TurnTrigger;
  /** Nodes entered in this turn. */
  readonly hops: number;
  /** The edges that a model selects from, and the one to take when it selects none. */
  readonly choices: readonly PathwayEdge[];
  readonly otherwise: PathwayEdge | null;
}

export type TurnMachineEvent =
  | { readonly type: 'start'; readonly trigger: TurnTrigger | 'begin' }
  /** The edge that a model selected. */
  | { readonly type: 'judged'; readonly edgeId: string | null }
  /** The node was spoken; `edgeId` is the edge that the model took meanwhile. */
  | { readonly type: 'spoke'; readonly edgeId: string | null; readonly saidAnything: boolean }
  | { readonly type: 'tool_ran'; readonly ok: boolean; readonly tool: string }
  /** A tool that the model called ended the conversation, or is for the client to run. */
  | { readonly type: 'halted' };

export type TurnMachineEffect =
  | {
      readonly type: 'enter';
      readonly node: PathwayNode;
      readonly why: string;
      /** The words that were just said were said for this node. */
      readonly hasSpokenFor?: boolean;
    }
  | { readonly type: 'judge'; readonly node: PathwayNode; readonly choices: readonly PathwayEdge[] }
  /** Ask the model for the node's words. The same request may take one of `moves`; another one selects from `beside`. */
  | {
      readonly type: 'speak';
      readonly node: PathwayNode;
      readonly moves: readonly PathwayEdge[];
      readonly beside: readonly PathwayEdge[];
    }
  | { readonly type: 'say'; readonly node: PathwayNode }
  | { readonly type: 'run_tool'; readonly node: PathwayNode }
  | { readonly type: 'transfer'; readonly node: PathwayNode }
  | { readonly type: 'end'; readonly node: PathwayNode }
  /** The pathway moves in circles without a word. */
  | { readonly type: 'too_many_hops'; readonly node: PathwayNode };

export interface TurnMachineContext {
  readonly graph: PathwayGraph;
  readonly style: MoveStyle;
  /** As they are at the moment of the transition. */
  readonly variables: Variables;
  readonly onFailure?: (edge: PathwayEdge, reason: string) => void;
}

interface Step {
  readonly state: TurnMachineState;
  readonly effects: readonly TurnMachineEffect[];
}

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
      return follow(state, chosen(state, event.edgeId), context);
    case 'spoke':
      return afterSpeaking(state, event, context);
    case 'tool_ran': {
      const trigger: TurnTrigger = { kind: 'tool_result', ok: event.ok, tool: event.tool };
      return route({ ...state, trigger, hasSpoken: true }, context);
    }
    case 'halted':
      return finish({ ...state, hasSpoken: true });
  }
}

export function initialTurn(nodeId: string | null, hasSpoken: boolean): TurnMachineState {
  return {
    phase: 'begin',
    nodeId,
    hasSpoken,
    hasAnswered: false,
    trigger: { kind: 'words' },
    hops: 0,
    choices: [],
    otherwise: null,
  };
}

function start(state: TurnMachineState, trigger: TurnTrigger | 'begin', context: TurnMachineContext): Step {
  const { graph } = context;
  const node = state.nodeId === null ? undefined : graph.node(state.nodeId);
  if (node && trigger === 'begin') return speakAt({ ...state, nodeId: node.id }, node, context);
  if (node && trigger !== 'begin') return route({ ...state, trigger }, context);
  const first = graph.start;
  if (!first) return finish(state);
  const entered: TurnMachineState = { ...state, nodeId: first.id, hasSpoken: false, hops: 1 };
  const enter: TurnMachineEffect = { type: 'enter', node: first, why: 'begin' };
  const next =
    trigger === 'begin'
      ? speakOrPass({ ...entered, trigger: { kind: 'passed' } }, first, context)
      : route({ ...entered, trigger }, context);
  return { state: next.state, effects: [enter, ...next.effects] };
}

/** Selects the edge out of the current node, by a model where conditions are sentences. */
function route(state: TurnMachineState, context: TurnMachineContext): Step {
  const node = current(state, context);
  if (!node) return finish(state);
  const { choices, otherwise } = selectEdge(context.graph, node, {
    trigger: state.trigger,
    variables: context.variables,
    hasSpoken: state.hasSpoken,
    ...(context.onFailure ? { onFailure: context.onFailure } : {}),
  });
  const next = { ...state, choices, otherwise };
  if (choices.length === 0) return follow(next, otherwise, context);
  if (context.style === 'first' || state.trigger.kind !== 'words' || !speaksByModel(node)) {
    return { state: { ...next, phase: 'judging' }, effects: [{ type: 'judge', node, choices }] };
  }
  return speakAt(next, node, context);
}

/** Takes the edge; without one, the current node answers the customer. */
function follow(state: TurnMachineState, edge: PathwayEdge | null, context: TurnMachineContext): Step {
  if (edge) return arrive(state, edge, context);
  const node = current(state, context);
  const isAnswer = state.trigger.kind === 'words' || state.trigger.kind === 'dtmf';
  if (!node || state.hasAnswered || !isAnswer) return finish(state);
  return speakAt({ ...state, choices: [] }, node, context);
}

function arrive(state: TurnMachineState, edge: PathwayEdge, context: TurnMachineContext): Step {
  const node = context.graph.node(edge.target);
  if (!node) return finish(state);
  const entered: TurnMachineState = {
    ...state,
    nodeId: node.id,
    hasSpoken: false,
    hops: state.hops + 1,
    choices: [],
    otherwise: null,
  };
  const enter: TurnMachineEffect = { type: 'enter', node, why: reasonOf(edge) };
  if (entered.hops > MAX_HOPS) {
    return { state: { ...entered, phase: 'done' }, effects: [enter, { type: 'too_many_hops', node }] };
  }
  const next = speakOrPass(entered, node, context);
  return { state: next.state, effects: [enter, ...next.effects] };
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
    moves: style === 'together' ? edgesToOffer(state) : [],
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
  const edge = state.choices.length > 0 ? chosen(state, event.edgeId) : null;
  if (edge) return afterMove(spoken, edge, context.style === 'together' && event.edgeId !== null, context);
  if (node.type === 'end' || node.type === 'transfer') return close(spoken, node);
  if (waitsForCaller(node)) return finish(spoken);
  return route({ ...spoken, trigger: { kind: 'passed' } }, context);
}

/**
 * Moves on after the current node was spoken. A model that took the edge in the same request spoke for the target:
 * a target that waits for the customer counts as spoken, and one that ends the conversation says no second farewell.
 * Any other target is performed now, or in the next turn if it waits.
 */
function afterMove(
  state: TurnMachineState,
  edge: PathwayEdge,
  knewPrompt: boolean,
  context: TurnMachineContext,
): Step {
  const node = context.graph.node(edge.target);
  if (!node || !state.hasAnswered) return arrive(state, edge, context);
  const enter: TurnMachineEffect = { type: 'enter', node, why: reasonOf(edge), hasSpokenFor: knewPrompt };
  const entered = { ...state, nodeId: node.id, hops: state.hops + 1, choices: [], otherwise: null };
  if (waitsForCaller(node)) {
    return { state: { ...entered, phase: 'done', hasSpoken: knewPrompt }, effects: [enter] };
  }
  if (knewPrompt && (node.type === 'end' || node.type === 'transfer')) {
    const closed = close(entered, node);
    return { state: closed.state, effects: [enter, ...closed.effects] };
  }
  return arrive(state, edge, context);
}

function close(state: TurnMachineState, node: PathwayNode): Step {
  const type = node.type === 'end' ? 'end' : 'transfer';
  return { state: { ...state, phase: 'done', hasSpoken: true }, effects: [{ type, node }] };
}

function finish(state: TurnMachineState): Step {
  return { state: { ...state, phase: 'done' }, effects: [] };
}

/** The edges that the answering model may take; the last one is the fallback. */
function edgesToOffer({ choices, otherwise }: TurnMachineState): readonly PathwayEdge[] {
  return choices.length > 0 && otherwise ? [...choices, otherwise] : choices;
}

function chosen(state: TurnMachineState, edgeId: string | null): PathwayEdge | null {
  return state.choices.find(({ id }) => id === edgeId) ?? state.otherwise;
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
