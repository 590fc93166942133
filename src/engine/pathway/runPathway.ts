import { isEventCondition } from '../../agents/pathway/schema/edgeSchema.ts';
import type { PathwayNode } from '../../agents/pathway/schema/nodeSchema.ts';
import { ModelError } from '../../providers/ports/modelError.ts';
import { askForRoute, askForVariables, questionAt } from '../prompt/questions.ts';
import type { Passage } from '../tools/knowledge.ts';
import { prefetchRetrievalAt, queryOf, retrieve } from '../tools/retrieval.ts';
import { runToolOfNode } from '../tools/toolCalls.ts';
import { answerNode, type NodeAnswer, type SpeechState } from '../turn/answerNode.ts';
import { currentNodeOf } from '../turn/delivery.ts';
import { sayFiller } from '../turn/filler.ts';
import type { TurnDone, TurnInput } from '../turn/turn.ts';
import { emit, isSpoken, say, type TurnContext } from '../turn/turnContext.ts';
import { triggerOf } from './selectEdge.ts';
import {
  advanceTurn,
  initialTurn,
  MOVE_STYLES,
  type TurnMachineEffect,
  type TurnMachineEvent,
} from './turnMachine.ts';

/** Inputs after which a spoken turn without words has failed; after others the channel may stay silent. */
const NEEDS_ANSWER: ReadonlySet<TurnInput['kind']> = new Set(['begin', 'words', 'dtmf']);
/** Inputs that the pathway does not answer. */
const RECORDED_ONLY: ReadonlySet<TurnInput['kind']> = new Set(['notice', 'last_words']);

export interface PathwayResult {
  /** Whether the current node has been spoken. */
  readonly hasSpoken: boolean;
  readonly ended: TurnDone['ended'];
}

/** Runs the pathway for one turn, while the agent's variables are extracted from what the customer said. */
export async function runPathway(turn: TurnContext): Promise<PathwayResult> {
  const { session, request, journal } = turn;
  journal.recordInput(request);
  if (RECORDED_ONLY.has(request.input.kind)) return { hasSpoken: session.state.hasSpoken, ended: null };
  if (request.input.kind === 'failure') await sayFiller(turn);
  const extraction = extractVariables(turn);
  try {
    return await drive(turn, extraction);
  } finally {
    // A turn that fails waits for it too, so that nothing of it is left running.
    await extraction;
  }
}

/** Drives the turn machine: performs its effects, and feeds back what came of the last one. */
async function drive(turn: TurnContext, extraction: Promise<void>): Promise<PathwayResult> {
  const { session, graph, journal, request } = turn;
  const { currentNodeId, hasSpoken } = session.state;
  const node = currentNodeId === null ? graph.start : graph.node(currentNodeId);
  if (currentNodeId !== null && node) announce(turn, node);
  let state = initialTurn(currentNodeId, hasSpoken);
  let event: TurnMachineEvent | undefined = { type: 'start', trigger: triggerOf(request.input) };
  let ended: TurnDone['ended'] = null;
  let speech: SpeechState = 'not_required';
  if (node && needsVariablesFirst(turn, node)) await extraction;
  while (event) {
    const step = advanceTurn(state, event, {
      graph,
      style: MOVE_STYLES[turn.release.agent.executionMode ?? 'balance'],
      variables: journal.variables,
      onFailure: (edge, message) =>
        journal.event('error', { code: 'expression_failed', edgeId: edge.id, message }),
    });
    state = step.state;
    event = undefined;
    for (const effect of step.effects) {
      const outcome: Outcome = await perform(turn, effect);
      ended = outcome.ended ?? ended;
      if (speech !== 'said') speech = outcome.speech ?? speech;
      event = outcome.event ?? event;
      if (event && event.type !== 'judged') await extraction;
    }
  }
  if (speech === 'missing') requireWords(turn);
  return { hasSpoken: state.hasSpoken, ended };
}

/** What came of an effect. */
interface Outcome {
  readonly event?: TurnMachineEvent;
  readonly ended?: TurnDone['ended'];
  /** Absent for effects that say nothing. */
  readonly speech?: SpeechState;
}

/** A customer who listens is not left in silence by a model that says nothing. */
function requireWords(turn: TurnContext): void {
  if (!isSpoken(turn) || !NEEDS_ANSWER.has(turn.request.input.kind)) return;
  throw new ModelError('model_malformed', 'The model answered without a word', { beforeFirstToken: true });
}

async function perform(turn: TurnContext, effect: TurnMachineEffect): Promise<Outcome> {
  const { node } = effect;
  const { journal } = turn;
  switch (effect.type) {
    case 'enter':
      journal.moveTo(node.id);
      announce(turn, node, effect.hasSpokenFor);
      journal.event('node_entered', { nodeId: node.id, title: node.data.title, why: effect.why });
      return {};
    case 'judge': {
      const edgeId = await askForRoute(questionAt(turn, node), node, effect.choices, turn.render);
      return { event: { type: 'judged', edgeId } };
    }
    case 'say':
      return (await greet(turn)) ?? (await sayPrompt(turn, node));
    case 'speak':
      return (await greet(turn)) ?? (await speakAtNode(turn, effect));
    case 'run_tool': {
      const { halt, ...result } = await runToolOfNode(turn, node);
      return halt ? haltedBy(halt) : { event: { type: 'tool_ran', ...result } };
    }
    case 'transfer':
      return await transfer(turn, node);
    case 'end':
      return { ended: 'end_node', speech: 'not_required' };
    case 'too_many_hops': {
      const message = 'The pathway moves in circles without a word';
      journal.event('error', { code: 'too_many_hops', nodeId: node.id, message });
      return {};
    }
  }
}

/** Says the greeting that the session starts with: in place of the first node's words, or before an answer. */
async function greet(turn: TurnContext): Promise<Outcome | undefined> {
  const greeting = turn.journal.takeGreeting();
  if (greeting === undefined) return undefined;
  await say(turn, 'text', greeting);
  if (turn.request.input.kind !== 'begin') return undefined;
  return { event: { type: 'spoke', edgeId: null, saidAnything: true }, speech: 'said' };
}

/** Has the model answer at a node. In turbo a second request selects the edge meanwhile. */
async function speakAtNode(
  turn: TurnContext,
  { node, moves, beside }: Extract<TurnMachineEffect, { type: 'speak' }>,
): Promise<Outcome> {
  const selecting =
    beside.length > 0
      ? askForRoute(questionAt(turn, node), node, beside, turn.render).catch((error: unknown) => {
          const message = error instanceof Error ? error.message : '';
          turn.journal.event('error', { code: 'route_failed', message });
          return null;
        })
      : undefined;
  const answer = await answerNode(turn, node, moves, await knowledgeFor(turn, node));
  const edgeId = selecting ? await selecting : answer.edgeId;
  if (answer.halt) return haltedBy(answer.halt);
  const speech = answer.speech === 'missing' && edgeId !== null ? 'not_required' : answer.speech;
  return { event: { type: 'spoke', edgeId, saidAnything: answer.saidAnything }, speech };
}

/** A tool ended or transferred the conversation, or is for the client to run. */
function haltedBy(halt: NonNullable<NodeAnswer['halt']>): Outcome {
  const ended = halt === 'ended' ? ({ ended: 'end_call_tool' } as const) : {};
  return { event: { type: 'halted' }, speech: 'not_required', ...ended };
}

async function sayPrompt(turn: TurnContext, node: PathwayNode): Promise<Outcome> {
  const text = turn.render(node.data.prompt);
  const saidAnything = text.trim() !== '';
  if (saidAnything) await say(turn, 'text', text);
  const speech = saidAnything ? 'said' : 'not_required';
  return { event: { type: 'spoke', edgeId: null, saidAnything }, speech };
}

async function transfer(turn: TurnContext, node: PathwayNode): Promise<Outcome> {
  if (node.type !== 'transfer') return {};
  const to = turn.render(node.data.to);
  turn.journal.event('transfer', { to, nodeId: node.id });
  await emit(turn, { type: 'action', action: { kind: 'transfer', to } });
  return { speech: 'not_required' };
}

async function knowledgeFor(turn: TurnContext, node: PathwayNode): Promise<readonly Passage[]> {
  if (node.type !== 'knowledge') return [];
  const { input } = turn.request;
  return await retrieve(turn, queryOf(node, input.kind === 'words' ? input.text : '', turn.render));
}

function announce(turn: TurnContext, node: PathwayNode, hasSpokenFor = false): void {
  const current = currentNodeOf(turn.graph, node, prefetchRetrievalAt(turn, node));
  turn.request.delivery?.onNode(current, hasSpokenFor);
}

/** Extracts the agent's variables from the customer's words. A failure leaves them unset and is recorded. */
async function extractVariables(turn: TurnContext): Promise<void> {
  const { release, request, session, graph, journal, signal } = turn;
  const configs = release.agent.variableConfigs;
  if (request.input.kind !== 'words' || !configs || configs.length === 0) return;
  const { currentNodeId } = session.state;
  const node = currentNodeId === null ? graph.start : graph.node(currentNodeId);
  try {
    const found = await askForVariables(questionAt(turn, node), configs);
    for (const [name, value] of found) journal.setVariable(name, value, 'extracted');
  } catch (error) {
    if (signal.aborted) return;
    const message = error instanceof Error ? error.message : '';
    journal.event('error', { code: 'extraction_failed', message });
  }
}

/** Whether an edge out of the node evaluates an expression over the variables. */
function needsVariablesFirst({ graph }: TurnContext, node: PathwayNode): boolean {
  return graph
    .outgoing(node.id)
    .some(({ data }) => typeof data.condition !== 'string' && !isEventCondition(data.condition));
}
