import { expressionVariables } from '../../agents/pathway/expressions.ts';
import type { PathwayNode } from '../../agents/pathway/schema/nodeSchema.ts';
import { currentSpeech, switchedLanguage } from '../../agents/speech/language.ts';
import {
  pickTransferOptions,
  type TransferOptions,
  targetsOf,
  transferOrder,
} from '../../agents/transferOptions.ts';
import { allowedTarget, type TransferTarget, toTransferTarget } from '../../agents/transferTarget.ts';
import { ModelError } from '../../models/ports/modelError.ts';
import type { Passage } from '../tools/knowledge.ts';
import { prefetchRetrievalAt, queryOf, retrieve } from '../tools/retrieval.ts';
import { runToolOfNode } from '../tools/toolCalls.ts';
import { answerNode, type NodeAnswer, type SpeechState } from '../turn/answerNode.ts';
import { currentNodeOf } from '../turn/delivery.ts';
import { sayFiller } from '../turn/filler.ts';
import type { TurnDone, TurnInput } from '../turn/turn.ts';
import {
  currentNode,
  emit,
  executionMode,
  isSpoken,
  renderInLanguage,
  say,
  speakingModelAt,
  type TurnContext,
} from '../turn/turnContext.ts';
import { extractedNames, extractFromInput, isLate, readsInput } from './extraction.ts';
import {
  afterOptOut,
  confirmOptOut,
  hearsOptOut,
  isOverAfterOptOut,
  leadsOnAfterOptOut,
  OPTED_OUT,
} from './optOutTurn.ts';
import { dueBefore, missingVariables, stillToAsk } from './requiredVariables.ts';
import { edgeOfEvent, failedTransfer, type TurnTrigger, triggerOf } from './selectEdge.ts';
import { advanceTurn, initialTurn } from './turnMachine.ts';
import {
  MOVE_STYLES,
  type MoveStyle,
  type TurnMachineEffect,
  type TurnMachineEvent,
  type TurnMachineState,
  type TurnMachineStep,
} from './turnMachineState.ts';
import { holdUntil, judge, judgeBeside } from './verdict.ts';

/** Inputs after which a spoken turn without words has failed; after others the channel may stay silent. */
const NEEDS_ANSWER: ReadonlySet<TurnInput['kind']> = new Set(['begin', 'user_message', 'dtmf', 'given_back']);
/** Inputs that the pathway does not answer. */
const RECORDED_ONLY: ReadonlySet<TurnInput['kind']> = new Set([
  'channel_error',
  'unanswered_message',
  'transfer_update',
  'say',
]);

export interface PathwayResult {
  /** Whether the current node has been spoken. */
  readonly hasSpoken: boolean;
  readonly ended: TurnDone['ended'];
}

function isRecordedOnly(input: TurnInput): boolean {
  return RECORDED_ONLY.has(input.kind) || (input.kind === 'not_understood' && !input.leadsOn);
}

/** Runs the pathway for one turn, while the agent's variables are extracted from what the customer said. */
export async function runPathway(started: TurnContext): Promise<PathwayResult> {
  const { session, request, journal } = started;
  journal.recordInput(request);
  const node = currentNode(started);
  if (request.input.kind === 'disclosure') return await disclose(started, request.input.id);
  if (isRecordedOnly(request.input)) {
    await hearsOptOut(started);
    // The channel may have lost the node, with the stream before this one.
    if (node) await announce(started, node);
    if (request.input.kind === 'say') await say(started, 'text', request.input.text);
    return { hasSpoken: session.state.hasSpoken, ended: null };
  }
  switchLanguage(started, node);
  if (await hearsOptOut(started)) return await leaveAfterOptOut(started);
  if (request.input.kind === 'failure') await sayFiller(started);
  const extraction = extractFromInput(started);
  let result: PathwayResult;
  try {
    result = await runTurnMachine({ ...started, extraction });
  } finally {
    // A turn that fails waits for it too, so that nothing of it is left running.
    await extraction;
  }
  if (!isLate(request.input)) return result;
  // A model that speaks itself has answered before the words were known.
  const input = { ...request.input, text: await request.input.late };
  const known = { ...started, request: { ...request, input, history: [] } };
  return (await hearsOptOut(known)) && result.ended === null ? await leaveAfterOptOut(known) : result;
}

/** The person wants no more calls: an edge leads on, or the agent confirms it and the call ends. */
async function leaveAfterOptOut(turn: TurnContext): Promise<PathwayResult> {
  const node = currentNode(turn);
  if (node && leadsOnAfterOptOut(turn, node)) return await runTurnMachine(turn, OPTED_OUT);
  if (node) await announce(turn, node);
  await confirmOptOut(turn);
  return { hasSpoken: turn.session.state.hasSpoken, ended: 'end_call_tool' };
}

/** Says what goes before the first node, in that node's language and voice. */
async function disclose(turn: TurnContext, id: string): Promise<PathwayResult> {
  const { release, graph, session } = turn;
  const node = currentNode(turn) ?? graph.start;
  if (node) await announce(turn, node);
  const template = release.agent.disclosures?.find((one) => one.id === id)?.text ?? '';
  const text = renderInLanguage(turn, template, node);
  if (text.trim() !== '') await say(turn, 'text', text);
  return { hasSpoken: session.state.hasSpoken, ended: null };
}

/** Drives the turn machine: performs its effects, and feeds back what came of the last one. */
export async function runTurnMachine(
  turn: TurnContext,
  trigger: TurnTrigger | 'begin' = triggerOf(turn.request.input),
): Promise<PathwayResult> {
  const { session, graph, journal } = turn;
  const { currentNodeId: nodeId, hasSpoken } = session.state;
  const node = currentNode(turn);
  if (node) await announce(turn, node);
  let state = initialTurn({ nodeId, hasSpoken }, journal.route, graph);
  let event: TurnMachineEvent | undefined = { type: 'start', trigger };
  let ended: TurnDone['ended'] = null;
  let speech: SpeechState = 'not_required';
  while (event) {
    const step: TurnMachineStep = await advance(turn, state, event);
    state = step.state;
    journal.setRoute({ returnTo: state.returnTo, heldEdgeId: state.held?.id ?? null });
    event = undefined;
    for (const effect of step.effects) {
      const outcome: Outcome = performWalked(turn, effect) ?? (await perform(turn, effect));
      ended = outcome.ended ?? ended;
      if (speech !== 'said') speech = outcome.speech ?? speech;
      event = outcome.event ?? event;
    }
  }
  if (speech === 'missing') requireWords(turn);
  return { hasSpoken: state.hasSpoken, ended };
}

/**
 * Advances the turn machine. Where the step depends on a variable that is still being extracted, it is taken once more
 * with the value.
 */
async function advance(
  turn: TurnContext,
  state: TurnMachineState,
  event: TurnMachineEvent,
): Promise<TurnMachineStep> {
  const { graph, journal, release } = turn;
  const extracted = extractedNames(turn);
  let failures: { readonly edgeId: string; readonly message: string }[] = [];
  let isDependent = false;
  const take = () => {
    failures = [];
    return advanceTurn(state, event, {
      graph,
      style: moveStyle(turn, state),
      variables({ data }) {
        isDependent ||= expressionVariables(data.condition).some((name) => extracted.has(name));
        return journal.variables;
      },
      dueBefore(edge) {
        const missing = missingVariables(release.agent, journal.variables);
        const due = stillToAsk(dueBefore(missing, edge, graph), journal.route.asked);
        isDependent ||= due.length > 0;
        return due;
      },
      share: turn.share,
      onFailure: ({ id }, message) => failures.push({ edgeId: id, message }),
    });
  };
  let step = take();
  if (isDependent) {
    await turn.extraction;
    step = take();
  }
  for (const failure of failures) journal.event('error', { code: 'expression_failed', ...failure });
  return step;
}

/** A walked turn has no answer beside which an edge could be selected. */
function moveStyle(turn: TurnContext, { nodeId }: TurnMachineState): MoveStyle {
  if (turn.isWalked) return 'first';
  const speaks = nodeId !== null && speakingModelAt(turn, turn.graph.node(nodeId)) !== undefined;
  return speaks ? 'called' : MOVE_STYLES[executionMode(turn.release.agent)];
}

/** The outcome of an effect. */
interface Outcome {
  readonly event?: TurnMachineEvent;
  readonly ended?: TurnDone['ended'];
  /** What is spoken; undefined for effects that say nothing. */
  readonly speech?: SpeechState;
}

/** A customer who listens is not left in silence by a model that says nothing. */
function requireWords(turn: TurnContext): void {
  if (!isSpoken(turn) || !NEEDS_ANSWER.has(turn.request.input.kind)) return;
  throw new ModelError('model_malformed', 'The model answered without a word', { beforeFirstToken: true });
}

async function perform(turn: TurnContext, effect: TurnMachineEffect): Promise<Outcome> {
  if (readsInput(turn, effect)) await turn.extraction;
  const { node } = effect;
  const { journal } = turn;
  switch (effect.type) {
    case 'enter':
      journal.moveTo(node.id, effect.hasSpokenFor);
      await announce(turn, node, effect.hasSpokenFor);
      journal.event('node_entered', {
        nodeId: node.id,
        title: node.data.title,
        why: effect.why,
        edgeId: effect.edgeId,
      });
      return {};
    case 'judge':
      return { event: { type: 'judged', edgeId: await judge(turn, node, effect.choices) } };
    case 'ask': {
      journal.addQuestion(effect.variables.map(({ name }) => name));
      const { saidAnything, speech } = await answerNode(turn, node, { ask: effect.variables });
      return { event: { type: 'spoke', edgeId: null, saidAnything }, speech };
    }
    case 'say':
      return (await greet(turn)) ?? (await sayPrompt(turn, node));
    case 'speak':
      return (await greet(turn)) ?? (await speakAtNode(turn, effect));
    case 'run_tool': {
      const { halt, ...result } = await runToolOfNode(turn, node);
      if (halt === 'opted_out' && isOverAfterOptOut(turn, node)) return await afterOptOut(turn, node);
      return halt && halt !== 'opted_out' ? haltedBy(halt) : { event: { type: 'tool_ran', ...result } };
    }
    case 'transfer':
      return await transfer(turn, node);
    case 'end':
      return { ended: 'end_node', speech: 'not_required' };
    case 'give_up': {
      const to = turn.release.agent.notUnderstood?.transferTo;
      return to === undefined ? {} : await requestTransfer(turn, node, [toTransferTarget(to)], {});
    }
    case 'too_many_hops': {
      const message = 'The pathway moves in circles without a word';
      journal.event('error', { code: 'too_many_hops', nodeId: node.id, message });
      return {};
    }
  }
}

/** Returns the outcome of an effect in a turn that was answered long ago; undefined for effects that only move. */
function performWalked({ isWalked, journal }: TurnContext, effect: TurnMachineEffect): Outcome | undefined {
  if (!isWalked) return undefined;
  switch (effect.type) {
    case 'ask':
      journal.addQuestion(effect.variables.map(({ name }) => name));
      return { event: { type: 'spoke', edgeId: null, saidAnything: true } };
    case 'say':
    case 'speak':
      return { event: { type: 'spoke', edgeId: null, saidAnything: true } };
    case 'run_tool':
      return { event: { type: 'tool_ran', ok: true, tool: effect.node.data.tools[0] ?? '' } };
    case 'transfer':
      return { ended: 'end_node' };
    default:
      return undefined;
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

/** Asks the model to answer at a node. In turbo a second request selects the edge meanwhile. */
async function speakAtNode(
  turn: TurnContext,
  { node, moves, beside }: Extract<TurnMachineEffect, { type: 'speak' }>,
): Promise<Outcome> {
  const verdict = beside.length > 0 ? judgeBeside(turn, node, beside) : undefined;
  const answer = await answerNode(turn, node, {
    moves,
    knowledge: await knowledgeFor(turn, node),
    mayBegin: verdict ? holdUntil(turn.deps.clock, verdict) : undefined,
  });
  const edgeId = verdict ? await verdict : answer.edgeId;
  const { saidAnything, toolResult } = answer;
  if (answer.halt === 'opted_out' && !toolResult) return await afterOptOut(turn, node);
  if (answer.halt && answer.halt !== 'opted_out') return haltedBy(answer.halt);
  if (toolResult) return { event: { type: 'tool_ran', ...toolResult, saidAnything }, speech: 'not_required' };
  const speech = answer.speech === 'missing' && edgeId !== null ? 'not_required' : answer.speech;
  return { event: { type: 'spoke', edgeId, saidAnything }, speech };
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
  const { transferTargets } = turn.release.agent;
  const targets = (targetsOf(node.data) ?? []).map(({ to: template, trunkId }) => {
    const target = { to: turn.render(template), trunkId };
    // A variable may hold what the model put there.
    return { target, allowed: target.to === template ? target : allowedTarget(transferTargets, target) };
  });
  const refused = targets.find(({ allowed }) => allowed === undefined);
  if (refused) {
    const message = `${refused.target.to} is none of the agent's transferTargets`;
    turn.journal.event('error', { code: 'transfer_target_not_allowed', message, nodeId: node.id });
    const failure = failedTransfer();
    if (!edgeOfEvent(turn.graph, node, failure)) return { speech: 'missing' };
    const { ok, tool, transfer: outcome } = failure;
    return { event: { type: 'tool_ran', ok, tool, transfer: outcome } };
  }
  const all = targets.flatMap(({ allowed }) => allowed ?? []);
  return await requestTransfer(turn, node, all, pickTransferOptions(node.data));
}

async function requestTransfer(
  turn: TurnContext,
  node: PathwayNode,
  targets: readonly TransferTarget[],
  options: TransferOptions,
): Promise<Outcome> {
  const order = transferOrder(targets, options);
  turn.journal.event('transfer', { status: 'requested', to: order.to, nodeId: node.id, ...order.options });
  await emit(turn, { type: 'action', action: { kind: 'transfer', ...order } });
  return { speech: 'not_required' };
}

async function knowledgeFor(turn: TurnContext, node: PathwayNode): Promise<readonly Passage[]> {
  if (node.type !== 'knowledge') return [];
  const { input } = turn.request;
  return await retrieve(turn, queryOf(node, input.kind === 'user_message' ? input.text : '', turn.render));
}

/** The conversation goes on in the language that the person has switched to. */
function switchLanguage({ request: { input }, release, journal }: TurnContext, node?: PathwayNode): void {
  if (input.kind !== 'user_message' || input.language === undefined) return;
  const current = currentSpeech(release.agent.speech, node?.data.speech, journal.variables);
  const language = switchedLanguage(input.language, current);
  if (language !== undefined) journal.setVariable('language', language, 'heard');
}

async function announce(turn: TurnContext, node: PathwayNode, hasSpokenFor = false): Promise<void> {
  const { graph, journal, release } = turn;
  const { returnTo } = journal.route;
  const origin = returnTo ? graph.node(returnTo.nodeId) : undefined;
  const current = currentNodeOf(
    release.agent,
    graph,
    node,
    journal.variables,
    prefetchRetrievalAt(turn, node),
    origin,
  );
  await turn.request.delivery?.onNode(current, hasSpokenFor);
}
