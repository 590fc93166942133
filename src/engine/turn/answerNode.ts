import type { PathwayEdge } from '../../agents/pathway/schema/edgeSchema.ts';
import type { PathwayNode } from '../../agents/pathway/schema/nodeSchema.ts';
import type { ChatEvent, ChatModel, ChatRequest, ToolCallEvent } from '../../models/ports/chatModel.ts';
import { ModelError } from '../../models/ports/modelError.ts';
import { isLate } from '../pathway/extraction.ts';
import type { VariableConfig } from '../pathway/requiredVariables.ts';
import { stepPrompt, withInstructions, withStep } from '../prompt/prompts.ts';
import { MOVE_TOOL, moveArguments } from '../prompt/structuredOutput.ts';
import type { FunctionCall } from '../session/session.ts';
import { factsForModel } from '../session/sessionFacts.ts';
import type { Passage } from '../tools/knowledge.ts';
import {
  type OfferedTools,
  offeredTools,
  runToolCalls,
  type ToolCallsOutcome,
  type ToolResultOf,
} from '../tools/toolCalls.ts';
import { parseArguments } from '../tools/toolRunner.ts';
import {
  beginWait,
  emit,
  isSpoken,
  languageOf,
  lineBreakAfter,
  modelAt,
  promptMessages,
  speakingModelAt,
  type TurnContext,
  type UsageMeter,
} from './turnContext.ts';

/** A model that keeps calling tools is asked without tools after this many rounds. */
const MAX_TOOL_ROUNDS = 8;
/** Tools whose result needs no words: they took a note or sent digits. */
const SILENT_TOOLS: ReadonlySet<string> = new Set(['set_variable', 'send_dtmf']);

/** Spaces, punctuation and symbols alone cannot be spoken. */
const SPEAKABLE = /[\p{L}\p{N}]/u;

const GO_ON =
  'Your voice failed in the middle of your last words: finish them, without repeating what you said.';
/** The person hears the answer, or reads it, and then decides whether to take the call. */
const SCREENED =
  'A call screening service answers in place of the person. Say in one short sentence who is calling and why, and ask nothing.';

const NO_TOOLS: OfferedTools = { own: [], callers: [] };
const NO_ANSWER: ModelAnswer = { calls: [], hasWords: false };
const NO_RESULT: ToolCallsOutcome = { halt: null, toolResult: undefined };

/** Whether the model said something; `not_required` after a move, or a tool that needs no words. */
export type SpeechState = 'said' | 'missing' | 'not_required';

export interface NodeAnswer {
  /** The edge that the model took with the move tool. */
  readonly edgeId: string | null;
  /** Fillers included. */
  readonly saidAnything: boolean;
  readonly speech: SpeechState;
  /** The turn ends here: the client runs its tools, or a tool ended or transferred the conversation. */
  readonly halt: 'caller_tools' | 'ended' | 'opted_out' | 'transferred' | null;
  /** The result of a tool that an edge out of the node waits for; the model has not told it. */
  readonly toolResult?: ToolResultOf | undefined;
}

export interface AnswerOptions {
  /** Edges that the model may take in the same request. */
  readonly moves?: readonly PathwayEdge[];
  readonly knowledge?: readonly Passage[];
  /** Required variables to ask for, and nothing else. */
  readonly ask?: readonly VariableConfig[];
  /** Awaited before the first word or tool; false drops the answer. */
  readonly mayBegin?: () => Promise<boolean>;
}

interface NodeRequest extends Required<Omit<AnswerOptions, 'mayBegin'>> {
  readonly node: PathwayNode;
  readonly offered: OfferedTools;
  readonly mayBegin: () => Promise<boolean>;
  /** The model hears the customer and speaks itself. */
  readonly speaksItself?: boolean;
  /** Another model broke off in the middle of its words. */
  readonly goesOn?: boolean;
}

interface ModelAnswer {
  readonly calls: readonly ToolCallEvent[];
  readonly hasWords: boolean;
}

/** Asks the model for a node's answer, and runs the tools that it calls, round by round. */
export async function answerNode(
  turn: TurnContext,
  node: PathwayNode,
  options: AnswerOptions,
): Promise<NodeAnswer> {
  const request = nodeRequest(turn, node, options);
  const saidBefore = turn.journal.said().length;
  const hasSaid = () => turn.journal.said().length > saidBefore;
  let edgeId: string | null = null;
  let speech: SpeechState = 'missing';
  for (let round = 1; ; round += 1) {
    const { calls, hasWords } = await askUntilAnswered(turn, request, round, speech === 'missing');
    const soFar = { edgeId, saidAnything: hasSaid(), speech, halt: null };
    if (!(await request.mayBegin())) return { ...soFar, speech: 'not_required' };
    if (hasWords) speech = 'said';
    edgeId = moveOf(calls, request.moves) ?? edgeId;
    const { halt, toolResult, isOver, isSilent } = await runRound(turn, request, calls);
    if (isOver) {
      const saidAnything = halt === 'caller_tools' || hasSaid();
      return { ...answered(edgeId, speech, halt, saidAnything), toolResult };
    }
    // Words beside a silent tool need no second answer; the result of any other tool has to be told.
    if (isSilent && hasSaid()) return answered(edgeId, speech, null, true);
    if (speech !== 'said') speech = isSilent ? 'not_required' : 'missing';
    if (round > MAX_TOOL_ROUNDS) return answered(edgeId, speech, null, requireWords(hasSaid()));
  }
}

interface Round {
  readonly halt: NodeAnswer['halt'];
  readonly toolResult?: ToolResultOf | undefined;
  /** The model is not asked again. */
  readonly isOver: boolean;
  readonly isSilent: boolean;
}

/** Runs the tools of one answer, and passes the client's on. */
async function runRound(
  turn: TurnContext,
  { node, offered }: NodeRequest,
  calls: readonly ToolCallEvent[],
): Promise<Round> {
  const tools = calls.filter(({ name }) => name !== MOVE_TOOL);
  const isCallers = ({ name }: ToolCallEvent) => offered.callers.some((tool) => tool.name === name);
  const own = tools.filter((call) => !isCallers(call));
  const callers = tools.filter(isCallers);
  const { halt, toolResult } = own.length > 0 ? await runToolCalls(turn, node, own) : NO_RESULT;
  const isSilent = own.every(({ name }) => SILENT_TOOLS.has(name));
  if (toolResult && !halt) return { halt, toolResult, isOver: true, isSilent };
  if (callers.length === 0) return { halt, isOver: halt !== null || own.length === 0, isSilent };
  await passToCaller(turn, callers);
  return { halt: 'caller_tools', isOver: true, isSilent };
}

function nodeRequest(
  turn: TurnContext,
  node: PathwayNode,
  { moves = [], knowledge = [], ask = [], mayBegin = async () => true }: AnswerOptions,
): NodeRequest {
  const offered = ask.length > 0 ? NO_TOOLS : offeredTools(turn, node, moves);
  return { node, moves, knowledge, ask, offered, mayBegin };
}

function answered(
  edgeId: string | null,
  speech: SpeechState,
  halt: NodeAnswer['halt'],
  saidAnything: boolean,
): NodeAnswer {
  const isExcused = speech === 'missing' && (halt !== null || edgeId !== null);
  return { edgeId, saidAnything, speech: isExcused ? 'not_required' : speech, halt };
}

function requireWords(saidAnything: boolean): true {
  if (saidAnything) return true;
  throw new ModelError('model_malformed', 'The model called tools again and again, and never answered', {
    beforeFirstToken: true,
  });
}

/** Asks a second time when a spoken answer came back empty. */
async function askUntilAnswered(
  turn: TurnContext,
  request: NodeRequest,
  round: number,
  needsWords: boolean,
): Promise<ModelAnswer> {
  const saidBefore = turn.journal.said();
  const spoken = await askSpeakingModel(turn, request, round);
  if (spoken && !isEmpty(spoken)) return spoken;
  // A model that cannot hear has to read what was said.
  if (isLate(turn.request.input)) await turn.extraction;
  const goesOn = turn.journal.said() !== saidBefore;
  const { chat, modelName } = modelAt(turn, request.node);
  const ask = () => {
    const asked = requestOf(turn, goesOn ? { ...request, goesOn } : request, round);
    return streamAnswer(turn, chat, { ...asked, model: modelName }, request.mayBegin);
  };
  const answer = await ask();
  if (!isEmpty(answer) || !needsWords || !isSpoken(turn) || !(await request.mayBegin())) return answer;
  return await ask();
}

function isEmpty({ hasWords, calls }: ModelAnswer): boolean {
  return !hasWords && calls.length === 0;
}

/**
 * Asks the model that speaks itself to answer. When it fails, which it reports to the channel, the chat model continues
 * from what was said.
 *
 * @returns The answer; undefined where there is no such model, or it has failed.
 */
async function askSpeakingModel(
  turn: TurnContext,
  request: NodeRequest,
  round: number,
): Promise<ModelAnswer | undefined> {
  const model = speakingModelAt(turn, request.node);
  if (!model) return undefined;
  try {
    const asked = { ...speakingRequest(turn, request, round), model: model.name };
    const answer = await streamAnswer(turn, model, asked, request.mayBegin);
    turn.usage.model = model.name;
    return answer;
  } catch (error) {
    if (turn.signal.aborted || !(error instanceof ModelError)) throw error;
    return undefined;
  }
}

/**
 * Builds the request of the model that speaks itself: its tools stay the same as long as the node does, including those
 * that it must not call yet.
 */
function speakingRequest(turn: TurnContext, request: NodeRequest, round: number) {
  const { node, moves, ask } = request;
  const ways = turn.graph.leaving(node.id).filter(({ data }) => typeof data.condition === 'string');
  const isEarly = ask.length === 0 && moves.length === 0 && ways.length > 0;
  const standing = isEarly ? { ...request, moves: ways, offered: offeredTools(turn, node, ways) } : request;
  return {
    ...requestOf(turn, { ...standing, speaksItself: true }, round),
    step: node.id,
    withheldTools: isEarly ? [MOVE_TOOL] : undefined,
  };
}

function requestOf(turn: TurnContext, request: NodeRequest, round: number) {
  const { moves, offered, speaksItself = false } = request;
  const tools = [...offered.own, ...offered.callers];
  const step = stepOf(turn, request);
  return {
    ...requestedSettings(turn, round),
    messages: (speaksItself ? withInstructions : withStep)(promptMessages(turn), step),
    tools: round <= MAX_TOOL_ROUNDS && tools.length > 0 ? tools : undefined,
    purpose: moves.length > 0 ? ('answer_and_route' as const) : ('answer' as const),
  };
}

function stepOf(turn: TurnContext, { goesOn, offered: _, ...asked }: NodeRequest): string {
  const { request, journal, session, release } = turn;
  const isScreened = request.input.kind === 'user_message' && request.input.isScreening;
  return stepPrompt({
    ...turn,
    ...asked,
    variables: factsForModel(journal.variables, session, release.agent),
    instructions: [
      ...(request.instructions ?? []),
      ...(goesOn ? [GO_ON] : []),
      ...(isScreened ? [SCREENED] : []),
    ],
    language: isSpoken(turn) ? languageOf(turn) : undefined,
  });
}

/** Asks the model for one answer, as a span of the turn's trace. */
async function streamAnswer(
  turn: TurnContext,
  chat: ChatModel,
  request: ChatRequest,
  mayBegin: () => Promise<boolean>,
): Promise<ModelAnswer> {
  const { signal, startSpan } = turn;
  const span = startSpan?.(request, chat.name);
  beginWait(turn, 'model');
  try {
    return await deliverAnswer(turn, chat.stream(request, signal), mayBegin, () => span?.onEvent());
  } catch (error) {
    if (!signal.aborted) span?.recordError(error);
    throw error;
  } finally {
    span?.end();
  }
}

/**
 * Streams one answer of the model to the sink. A spoken one starts with its first speakable text, or with the speech of a
 * model that speaks itself.
 *
 * @param mayBegin - Awaited before the first word; false drops the answer.
 * @throws {ModelError}
 */
async function deliverAnswer(
  turn: TurnContext,
  events: AsyncIterable<ChatEvent>,
  mayBegin: () => Promise<boolean>,
  onEvent: () => void,
): Promise<ModelAnswer> {
  const { signal, usage, journal, sink } = turn;
  const calls: ToolCallEvent[] = [];
  let hasWords = false;
  let text = '';
  for await (const event of events) {
    onEvent();
    text += textOf(event, calls, usage);
    if (!hasWords) {
      if (event.type === 'thought') text = '';
      if (!canBegin(turn, event, text)) continue;
      if (!(await mayBegin())) return NO_ANSWER;
      text = lineBreakAfter(journal.said()) + text;
      hasWords = true;
    }
    signal.throwIfAborted();
    if (event.type === 'speech') await sink(event);
    if (text === '') continue;
    journal.say(text);
    const written = sink({ type: 'text', text, isSpoken: isSpokenByModel(event) ? true : undefined });
    text = '';
    if (written) await written;
  }
  return { calls, hasWords };
}

/** Whether the model speaks itself what it writes. */
function isSpokenByModel(event: ChatEvent): boolean {
  return event.type === 'speech' || (event.type === 'text' && event.isSpoken === true);
}

/** Notes what is no text of the answer. */
function textOf(event: ChatEvent, calls: ToolCallEvent[], usage: UsageMeter): string {
  if (event.type === 'text') return event.text;
  if (event.type === 'tool_call') calls.push(event);
  if (event.type === 'end') usage.add(event);
  return '';
}

/** A client that reads the answer as a whole gets it at its end, when all thoughts in it are known. */
function canBegin(turn: TurnContext, event: ChatEvent, text: string): boolean {
  if (event.type === 'speech') return true;
  if (turn.request.isWhole) return event.type === 'end' && text !== '';
  return text !== '' && (!isSpoken(turn) || SPEAKABLE.test(text));
}

/** The client's settings for the model; its tool choice applies to the first round only. */
function requestedSettings({ request }: TurnContext, round: number) {
  const { toolChoice, parallelToolCalls, responseFormat } = request;
  const { temperature, maxOutputTokens, passthrough, callerTools } = request;
  return {
    toolChoice: round === 1 && callerTools?.length ? toolChoice : undefined,
    parallelToolCalls,
    responseFormat,
    temperature,
    maxOutputTokens,
    passthrough,
  };
}

/** Sends calls of the client's own tools, whose results come with its next request. */
async function passToCaller(turn: TurnContext, events: readonly ToolCallEvent[]): Promise<void> {
  const calls = events.map(
    ({ id, name, arguments: text }): FunctionCall => ({
      id,
      type: 'function',
      function: { name, arguments: text },
    }),
  );
  turn.journal.callerCalls(calls);
  for (const [index, call] of calls.entries()) {
    turn.journal.event('tool_called', { ...call.function, by: 'caller' });
    await emit(turn, { type: 'tool_call', index, call });
  }
}

/** The edge that the model takes with the move tool. */
function moveOf(calls: readonly ToolCallEvent[], moves: readonly PathwayEdge[]): string | undefined {
  const move = calls.find(({ name }) => name === MOVE_TOOL);
  const parsed = moveArguments.safeParse(move && parseArguments(move.arguments));
  return parsed.success ? moves.find(({ id }) => id === parsed.data.edge)?.id : undefined;
}
