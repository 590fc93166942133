import type { ExecutionMode } from '../../agents/agentConfig.ts';
import type { PathwayGraph } from '../../agents/pathway/graph.ts';
import type { PathwayEdge } from '../../agents/pathway/schema/edgeSchema.ts';
import type { PathwayNode } from '../../agents/pathway/schema/nodeSchema.ts';
import type { Variables } from '../../agents/pathway/templates.ts';
import type { TransferOutcome } from '../../agents/transferOptions.ts';
import type { ComputeShare } from '../../base/async/computeShares.ts';
import type { PendingRoute } from '../session/session.ts';
import type { VariableConfig } from './requiredVariables.ts';
import type { TurnTrigger } from './selectEdge.ts';

/**
 * How the edge is selected that the customer's words take, where sentences are left to a model.
 *
 * - `first`: one model request selects the edge, then another one answers.
 * - `together`: one model request answers and selects the edge.
 * - `beside`: one model request answers at once while another one selects the edge.
 * - `called`: a model that speaks itself answers or calls for the edge, and speaks again at its target.
 *
 * Every mode uses `first` where the current node will not answer: where an edge is certain to be taken if no sentence
 * holds, or a required variable may have to be asked for.
 */
export type MoveStyle = 'first' | 'together' | 'beside' | 'called';

export const MOVE_STYLES: Readonly<Record<ExecutionMode, MoveStyle>> = {
  smart: 'first',
  balance: 'together',
  turbo: 'beside',
};

type TurnPhase = 'begin' | 'judging' | 'speaking' | 'asking' | 'running' | 'done';

export interface TurnMachineState {
  readonly phase: TurnPhase;
  readonly nodeId: string | null;
  /** Whether the current node has been spoken. */
  readonly hasSpoken: boolean;
  /** Whether the agent has said anything in this turn. */
  readonly hasAnswered: boolean;
  readonly trigger: TurnTrigger;
  /** Whether the customer can be asked for a required variable. */
  readonly isAttended: boolean;
  readonly returnTo: PendingRoute['returnTo'];
  /** Waits for a required variable. */
  readonly held: PathwayEdge | null;
  /** Nodes entered in this turn. */
  readonly hops: number;
  /** The edges that a model selects from, and the one to take when it selects none. */
  readonly choices: readonly PathwayEdge[];
  readonly otherwise: PathwayEdge | null;
}

export type TurnMachineEvent =
  | { readonly type: 'start'; readonly trigger: TurnTrigger | 'begin' }
  /** The edge that a model selected; undefined where its verdict cannot be read. */
  | { readonly type: 'judged'; readonly edgeId: string | null | undefined }
  /** The node was spoken; `edgeId` is the edge that the model took meanwhile. */
  | { readonly type: 'spoke'; readonly edgeId: string | null; readonly saidAnything: boolean }
  /** The tool of a tool node, or one that the model called and an edge waits for. */
  | {
      readonly type: 'tool_ran';
      readonly ok: boolean;
      readonly tool: string;
      readonly transfer?: TransferOutcome;
      readonly saidAnything?: boolean;
    }
  /** A tool that the model called ended the conversation, or is for the client to run. */
  | { readonly type: 'halted' };

export type TurnMachineEffect =
  | {
      readonly type: 'enter';
      readonly node: PathwayNode;
      readonly why: string;
      /** The edge that led to the node; undefined for the first one, and one that is returned to. */
      readonly edgeId?: string;
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
  /** Ask the customer for required variables. */
  | { readonly type: 'ask'; readonly node: PathwayNode; readonly variables: readonly VariableConfig[] }
  | { readonly type: 'say'; readonly node: PathwayNode }
  | { readonly type: 'run_tool'; readonly node: PathwayNode }
  | { readonly type: 'transfer'; readonly node: PathwayNode }
  | { readonly type: 'end'; readonly node: PathwayNode }
  /** The customer is not understood, and no edge leads on. */
  | { readonly type: 'give_up'; readonly node: PathwayNode }
  /** The pathway moves in circles without a word. */
  | { readonly type: 'too_many_hops'; readonly node: PathwayNode };

export interface TurnMachineContext {
  readonly graph: PathwayGraph;
  readonly style: MoveStyle;
  /** Returns the variables of an expression at the moment of the transition. */
  readonly variables: (expression: PathwayEdge) => Variables;
  /** The required variables to ask for before the edge is taken. */
  readonly dueBefore: (edge: PathwayEdge) => readonly VariableConfig[];
  readonly onFailure?: (edge: PathwayEdge, reason: string) => void;
  /** Counts the time of expressions. */
  readonly share?: ComputeShare;
}

/** The next state, and the effects of the step to it. */
export interface TurnMachineStep {
  readonly state: TurnMachineState;
  readonly effects: readonly TurnMachineEffect[];
}
