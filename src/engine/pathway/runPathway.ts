import { isEventCondition } from '../../agents/pathway/schema/edgeSchema.ts';
import type { PathwayNode } from '../../agents/pathway/schema/nodeSchema.ts';
import { renderDeep } from '../../agents/pathway/templates.ts';
import { ModelError } from '../../providers/ports/modelError.ts';
import { executionMode, MOVE_STYLES } from '../prompt/models.ts';
import { askForRoute, askForVariables } from '../prompt/questions.ts';
import type { Passage } from '../tools/passage.ts';
import { findKnowledge, prefetchRetrievalAt, questionAt } from '../tools/retrieval.ts';
import { noteResult } from '../tools/toolCalls.ts';
import { toolsOfNode } from '../tools/toolRunner.ts';
import { answerNode, type Words } from '../turn/answerNode.ts';
import { placeOf } from '../turn/delivery.ts';
import { sayPlaceholder, withPlaceholder } from '../turn/filler.ts';
import type { Journal } from '../turn/journal.ts';
import type { TurnDone, TurnInput, TurnOutput } from '../turn/turn.ts';
import { askingOf, isListenedTo, type TurnContext } from '../turn/turnContext.ts';
import type { TurnTrigger } from './selectEdge.ts';
import {
  advanceTurn,
  initialTurn,
  type TurnMachineEffect,
  type TurnMachineEvent,
  type TurnMachineState,
} from './turnMachine.ts';

/** What edges for its outcome name, whether a model called it or a node transfers by itself. */
const TRANSFER_TOOL = 'transfer_call';

/** Who listens waits for an answer to these; where there is none to others, the channel has words of its own. */
const AWAITED: ReadonlySet<TurnInput['kind']> = new Set(['begin', 'words', 'dtmf']);
/** Where the pathway has nothing to say. */
const UNANSWERED: ReadonlySet<TurnInput['kind']> = new Set(['notice', 'last_words']);

export interface TurnEnd {
  readonly hasSpoken: boolean;
  readonly ended: TurnDone['ended'];
}

/** Takes one turn: drives the machine over the pathway, and does what it wants done. */
export async function* runPathway(run: TurnContext): AsyncGenerator<TurnOutput, TurnEnd> {
  noteInput(run);
  if (UNANSWERED.has(run.request.input.kind)) return { hasSpoken: run.session.state.hasSpoken, ended: null };
  if (run.request.input.kind === 'failure') yield* sayPlaceholder(run);
  const extraction = extractVariables(run);
  try {
    return yield* drive(run, extraction);
  } finally {
    // Whatever became of the turn, nothing goes on behind its back.
    await extraction;
  }
}

async function* drive(run: TurnContext, extraction: Promise<void>): AsyncGenerator<TurnOutput, TurnEnd> {
  const { session, graph, journal } = run;
  const here = session.state.currentNodeId === null ? undefined : graph.node(session.state.currentNodeId);
  if (here) run.request.delivery?.onNode(placeOf(graph, here, prefetchRetrievalAt(run, here)));
  let state = initialTurn(session.state.currentNodeId, session.state.hasSpoken);
  let ended: TurnDone['ended'] = null;
  let words: Words = 'not_due';
  let event: TurnMachineEvent | undefined = { type: 'start', stimulus: stimulusOf(run.request.input) };
  if (needsVariablesFirst(run, state)) await extraction;
  while (event) {
    const step = advanceTurn(state, event, {
      graph,
      style: MOVE_STYLES[executionMode(run.release.agent)],
      variables: journal.variables,
      onFailure: (edge, reason) =>
        journal.event('error', { code: 'expression_failed', edgeId: edge.id, message: reason }),
    });
    state = step.state;
    event = undefined;
    for (const effect of step.effects) {
      if (effect.type === 'end') ended = 'end_node';
      const outcome: Outcome = yield* perform(run, effect);
      if (outcome.halt === 'ended') ended = 'end_call_tool';
      words = wordsAfter(words, outcome);
      event = outcome.event ?? event;
      if (event && event.type !== 'judged') await extraction;
    }
  }
  if (words === 'missing') requireWords(run);
  return { hasSpoken: state.hasSpoken, ended };
}

interface Outcome {
  readonly event?: TurnMachineEvent;
  readonly halt?: 'ended';
  /** Absent where it had nothing to do with words. */
  readonly words?: Words;
}

function wordsAfter(words: Words, outcome: Outcome): Words {
  return words === 'said' ? words : (outcome.words ?? words);
}

/** Who listens, and waits for an answer, is not left in silence by a model that has none. */
function requireWords({ request }: TurnContext): void {
  if (!isListenedTo({ request }) || !AWAITED.has(request.input.kind)) return;
  throw new ModelError('model_malformed', 'The model answered without a word', { beforeFirstToken: true });
}

async function* perform(run: TurnContext, effect: TurnMachineEffect): AsyncGenerator<TurnOutput, Outcome> {
  const { node } = effect;
  switch (effect.type) {
    case 'enter':
      run.journal.moveTo(node.id);
      run.request.delivery?.onNode(placeOf(run.graph, node, prefetchRetrievalAt(run, node)));
      run.journal.event('node_entered', { nodeId: node.id, title: node.data.title, why: effect.why });
      return {};
    case 'judge':
      return {
        event: {
          type: 'judged',
          edgeId: await askForRoute(askingOf(run, node), node, effect.choices, run.render),
        },
      };
    case 'say':
      return yield* sayFixed(run, node);
    case 'speak':
      return yield* speakAtNode(run, effect);
    case 'run_tool':
      return yield* runToolNode(run, node);
    case 'transfer':
      return yield* transfer(run, node);
    case 'end':
      return { words: 'not_due' };
    case 'too_many_hops':
      run.journal.event('error', {
        code: 'too_many_hops',
        nodeId: node.id,
        message: 'The pathway goes round and round',
      });
      return {};
  }
}

async function* speakAtNode(
  run: TurnContext,
  { node, moves, beside }: Extract<TurnMachineEffect, { type: 'speak' }>,
): AsyncGenerator<TurnOutput, Outcome> {
  const judged =
    beside.length > 0
      ? askForRoute(askingOf(run, node), node, beside, run.render).catch((error: unknown) => {
          run.journal.event('error', {
            code: 'route_failed',
            message: error instanceof Error ? error.message : '',
          });
          return null;
        })
      : null;
  const knowledge = await knowledgeFor(run, node);
  const spoken = yield* answerNode(run, node, moves, knowledge);
  const edgeId = judged ? await judged : spoken.edgeId;
  if (spoken.halt)
    return {
      event: { type: 'halted' },
      words: 'not_due',
      ...(spoken.halt === 'ended' ? { halt: 'ended' } : {}),
    };
  const words = spoken.words === 'missing' && edgeId !== null ? 'not_due' : spoken.words;
  return { event: { type: 'spoke', edgeId, saidAnything: spoken.saidAnything }, words };
}

async function* sayFixed(run: TurnContext, node: PathwayNode): AsyncGenerator<TurnOutput, Outcome> {
  const { journal } = run;
  const text = run.render(node.data.prompt);
  if (text.trim() !== '') {
    const words = `${journal.said() !== '' && !/\s$/.test(journal.said()) ? '\n' : ''}${text}`;
    journal.say(words);
    yield { type: 'text', text: words };
  }
  const saidAnything = text.trim() !== '';
  return { event: { type: 'spoke', edgeId: null, saidAnything }, words: saidAnything ? 'said' : 'not_due' };
}

/** Runs a tool node's tool; its JSON answer becomes the variable of the tool's name. */
async function* runToolNode(run: TurnContext, node: PathwayNode): AsyncGenerator<TurnOutput, Outcome> {
  const { journal, deps } = run;
  const [tool] = toolsOfNode(run.release, node).project;
  if (node.type !== 'tool' || !tool) {
    journal.event('error', {
      code: 'unknown_tool',
      nodeId: node.id,
      message: 'The node’s tool does not exist',
    });
    return { event: { type: 'tool_ran', ok: false, tool: node.data.tools[0] ?? '' } };
  }
  const args = withTypes(
    renderDeep(node.data.arguments ?? {}, journal.variables, { cache: deps.templates }),
    tool.parameters,
  );
  const text = JSON.stringify(args);
  journal.event('tool_called', { name: tool.name, arguments: text, by: 'pathway' });
  const outcome = yield* withPlaceholder(
    run,
    deps.tools.run(tool, text, journal.variables, run.signal, run.traceparent),
  );
  noteResult(run, tool.name, outcome);
  if (outcome.ok && outcome.value !== undefined) journal.setVariable(tool.name, outcome.value, 'tool');
  return { event: { type: 'tool_ran', ok: outcome.ok, tool: tool.id } };
}

async function* transfer(run: TurnContext, node: PathwayNode): AsyncGenerator<TurnOutput, Outcome> {
  if (node.type !== 'transfer') return {};
  const to = run.render(node.data.to);
  run.journal.event('transfer', { to, nodeId: node.id });
  yield { type: 'action', action: { kind: 'transfer', to } };
  return { words: 'not_due' };
}

async function knowledgeFor(run: TurnContext, node: PathwayNode): Promise<readonly Passage[]> {
  if (node.type !== 'knowledge') return [];
  const words = run.request.input.kind === 'words' ? run.request.input.text : '';
  return await findKnowledge(run, questionAt(node, words, run.render));
}

function noteInput({ request, journal }: TurnContext): void {
  const { input } = request;
  for (const message of request.history ?? []) journal.add(message);
  switch (input.kind) {
    case 'words':
      journal.add({ role: 'user', content: input.text });
      return;
    case 'dtmf':
      journal.event('dtmf', { digits: input.digits });
      journal.add({ role: 'user', content: input.digits });
      return;
    case 'silence':
      journal.event('silence', { durationMs: input.durationMs });
      return;
    case 'voicemail':
      journal.event('answering_machine', {
        kind: 'voicemail',
        ...(input.evidence === undefined ? {} : { evidence: input.evidence }),
      });
      return;
    case 'notice':
      journal.event('error', { code: input.code, message: input.message });
      return;
    case 'tool_results':
      for (const { toolCallId, name, content } of input.results) {
        journal.add({
          role: 'tool',
          content,
          tool_call_id: toolCallId,
          ...(name === undefined ? {} : { name }),
        });
        journal.event('tool_result', { name: name ?? null, ok: true, result: content, by: 'caller' });
      }
      return;
    case 'transfer_failed':
      noteFailedTransfer(journal, input.to, input.reason);
      return;
    case 'last_words':
      if (input.text !== '') journal.add({ role: 'user', content: input.text });
      return;
    case 'begin':
    case 'failure':
      return;
  }
}

/** For the history, and for the model, which would take the customer for gone. */
function noteFailedTransfer(journal: Journal, to: string, reason: string): void {
  journal.event('tool_result', { name: TRANSFER_TOOL, ok: false, result: reason, to });
  journal.add({
    role: 'user',
    content: `[The transfer to ${to} failed (${reason}); the customer is back.]`,
    internal: true,
  });
}

/** The results of the caller's tools let the node go on speaking where it stopped, as a beginning does. */
function stimulusOf(input: TurnInput): TurnTrigger | 'begin' {
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

/** Draws the agent's variables from what was said, beside the answer. Never fails: what is not found stays open. */
async function extractVariables(run: TurnContext): Promise<void> {
  const configs = run.release.agent.variableConfigs;
  if (run.request.input.kind !== 'words' || !configs || configs.length === 0) return;
  const { currentNodeId } = run.session.state;
  const node = currentNodeId === null ? run.graph.start : run.graph.node(currentNodeId);
  try {
    for (const [name, value] of await askForVariables(askingOf(run, node), configs)) {
      run.journal.setVariable(name, value, 'extracted');
    }
  } catch (error) {
    if (run.signal.aborted) return;
    run.journal.event('error', {
      code: 'extraction_failed',
      message: error instanceof Error ? error.message : '',
    });
  }
}

/** Whether the first move may depend on what is being drawn from the words. */
function needsVariablesFirst({ graph }: TurnContext, { nodeId }: TurnMachineState): boolean {
  const node = nodeId === null ? graph.start : graph.node(nodeId);
  if (!node) return false;
  return graph
    .outgoing(node.id)
    .some(({ data }) => typeof data.condition !== 'string' && !isEventCondition(data.condition));
}

/** Templates give text; a tool whose schema wants a number or a truth value gets it. */
function withTypes(value: unknown, parameters: Readonly<Record<string, unknown>>): unknown {
  const properties = parameters.properties;
  if (typeof value !== 'object' || value === null || typeof properties !== 'object' || properties === null)
    return value;
  const types = properties as Record<string, { type?: unknown } | undefined>;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => {
      const type = Object.hasOwn(types, key) ? types[key]?.type : undefined;
      if (typeof item !== 'string') return [key, item];
      if ((type === 'number' || type === 'integer') && item.trim() !== '' && Number.isFinite(Number(item))) {
        return [key, Number(item)];
      }
      if (type === 'boolean' && (item === 'true' || item === 'false')) return [key, item === 'true'];
      return [key, item];
    }),
  );
}
