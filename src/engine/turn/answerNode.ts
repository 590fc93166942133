import type { PathwayEdge } from '../../agents/pathway/schema/edgeSchema.ts';
import type { PathwayNode } from '../../agents/pathway/schema/nodeSchema.ts';
import type { ChatRequest, ToolCallEvent } from '../../providers/ports/chatModel.ts';
import { ModelError } from '../../providers/ports/modelError.ts';
import { stepPrompt, withStep } from '../prompt/prompts.ts';
import { toChoice } from '../prompt/questions.ts';
import { rehearsalOptions, situationOf } from '../prompt/rehearsal.ts';
import { MOVE_TOOL, moveArguments } from '../prompt/structuredOutput.ts';
import type { FunctionCall } from '../session/session.ts';
import { factsForModel } from '../session/sessionFacts.ts';
import type { Passage } from '../tools/knowledge.ts';
import { type OfferedTools, offeredTools, runToolCalls } from '../tools/toolCalls.ts';
import { parseArguments } from '../tools/toolRunner.ts';
import { emit, isSpoken, lineBreakAfter, promptMessages, type TurnContext } from './turnContext.ts';

/** A model that keeps calling tools is asked without tools after this many rounds. */
const MAX_TOOL_ROUNDS = 8;
/** Tools whose result needs no words: they took a note or sent digits. */
const SILENT_TOOLS: ReadonlySet<string> = new Set(['set_variable', 'send_dtmf']);
/** Spaces, punctuation and symbols alone cannot be spoken. */
const SPEAKABLE = /[\p{L}\p{N}]/u;

/** Whether the model said something; `not_required` after a move, or a tool that needs no words. */
export type SpeechState = 'said' | 'missing' | 'not_required';

export interface NodeAnswer {
  /** The edge that the model took with the move tool. */
  readonly edgeId: string | null;
  /** Fillers included. */
  readonly saidAnything: boolean;
  readonly speech: SpeechState;
  /** The turn ends here: the client runs its tools, or a tool ended or transferred the conversation. */
  readonly halt: 'caller_tools' | 'ended' | 'transferred' | null;
}

interface NodeRequest {
  readonly node: PathwayNode;
  readonly moves: readonly PathwayEdge[];
  readonly knowledge: readonly Passage[];
  readonly offered: OfferedTools;
}

/** Asks the model for a node's answer, and runs the tools that it calls, round by round. */
export async function answerNode(
  turn: TurnContext,
  node: PathwayNode,
  moves: readonly PathwayEdge[],
  knowledge: readonly Passage[],
): Promise<NodeAnswer> {
  const offered = offeredTools(turn, node, moves);
  const request: NodeRequest = { node, moves, knowledge, offered };
  const saidBefore = turn.journal.said().length;
  const hasSaid = () => turn.journal.said().length > saidBefore;
  let edgeId: string | null = null;
  let speech: SpeechState = 'missing';
  const answer = (halt: NodeAnswer['halt'], saidAnything = hasSaid()): NodeAnswer => {
    const isExcused = speech === 'missing' && (halt !== null || edgeId !== null);
    return { edgeId, saidAnything, speech: isExcused ? 'not_required' : speech, halt };
  };
  for (let round = 1; ; round += 1) {
    const { calls, hasWords } = await askUntilAnswered(turn, request, round, speech === 'missing');
    if (hasWords) speech = 'said';
    const move = calls.find(({ name }) => name === MOVE_TOOL);
    if (move) edgeId = edgeOf(move, moves) ?? edgeId;
    const isCallers = ({ name }: ToolCallEvent) => offered.callers.some((tool) => tool.name === name);
    const own = calls.filter((call) => call.name !== MOVE_TOOL && !isCallers(call));
    const callers = calls.filter((call) => call.name !== MOVE_TOOL && isCallers(call));
    const halt = own.length > 0 ? await runToolCalls(turn, node, own) : null;
    if (callers.length > 0) {
      await passToCaller(turn, callers);
      return answer('caller_tools', true);
    }
    if (halt || own.length === 0) return answer(halt);
    // Words beside a silent tool need no second answer; the result of any other tool has to be told.
    const isSilent = own.every(({ name }) => SILENT_TOOLS.has(name));
    if (isSilent && hasSaid()) return answer(null);
    if (speech !== 'said') speech = isSilent ? 'not_required' : 'missing';
    if (round > MAX_TOOL_ROUNDS) return answer(null, requireWords(hasSaid()));
  }
}

function requireWords(saidAnything: boolean): true {
  if (saidAnything) return true;
  throw new ModelError('model_malformed', 'The model called tools again and again, and never answered', {
    beforeFirstToken: true,
  });
}

interface ModelAnswer {
  readonly calls: readonly ToolCallEvent[];
  readonly hasWords: boolean;
}

/** Asks a second time when a spoken answer came back empty. */
async function askUntilAnswered(
  turn: TurnContext,
  request: NodeRequest,
  round: number,
  needsWords: boolean,
): Promise<ModelAnswer> {
  const answer = await streamAnswer(turn, requestOf(turn, request, round));
  const isEmpty = !answer.hasWords && answer.calls.length === 0;
  if (!isEmpty || !needsWords || !isSpoken(turn)) return answer;
  return await streamAnswer(turn, requestOf(turn, request, round));
}

/** Streams one answer of the model to the sink. A spoken one starts with its first speakable text. */
async function streamAnswer(turn: TurnContext, request: ChatRequest): Promise<ModelAnswer> {
  const { chat, signal, journal, sink, usage, startSpan } = turn;
  const calls: ToolCallEvent[] = [];
  const span = startSpan?.(request);
  let isFirst = true;
  let held = '';
  try {
    for await (const event of chat.stream(request, signal)) {
      span?.onEvent();
      if (event.type === 'tool_call') calls.push(event);
      if (event.type === 'end') usage.add(event.usage);
      if (event.type !== 'text') continue;
      let { text } = event;
      if (isFirst) {
        held += text;
        if (isSpoken(turn) && !SPEAKABLE.test(held)) continue;
        text = lineBreakAfter(journal.said()) + held;
        isFirst = false;
      }
      signal.throwIfAborted();
      journal.say(text);
      const written = sink({ type: 'text', text });
      if (written) await written;
    }
    return { calls, hasWords: !isFirst };
  } catch (error) {
    if (!signal.aborted) span?.recordError(error);
    throw error;
  } finally {
    span?.end();
  }
}

function requestOf(turn: TurnContext, { node, moves, knowledge, offered }: NodeRequest, round: number) {
  const { request, journal, session, release } = turn;
  const step = stepPrompt({
    ...turn,
    node,
    moves,
    knowledge,
    variables: factsForModel(journal.variables, session, release.agent),
    instructions: request.instructions ?? [],
  });
  const tools = [...offered.own, ...offered.callers];
  return {
    ...requestedSettings(turn, round),
    model: turn.modelName,
    messages: withStep(promptMessages(turn), step),
    ...(round <= MAX_TOOL_ROUNDS && tools.length > 0 ? { tools } : {}),
    purpose: moves.length > 0 ? ('answer_and_route' as const) : ('answer' as const),
    ...rehearsalOptions({
      ...situationOf(turn, node),
      choices: moves.map(toChoice),
      ...(knowledge.length > 0 ? { knowledge: knowledge.map(({ content }) => content) } : {}),
    }),
  };
}

/** The client's settings for the model; its tool choice applies to the first round only. */
function requestedSettings({ request }: TurnContext, round: number) {
  const { toolChoice, parallelToolCalls, responseFormat } = request;
  const { temperature, maxOutputTokens, passthrough, callerTools } = request;
  return {
    ...(round === 1 && toolChoice && callerTools?.length ? { toolChoice } : {}),
    ...(parallelToolCalls === undefined ? {} : { parallelToolCalls }),
    ...(responseFormat ? { responseFormat } : {}),
    ...(temperature === undefined ? {} : { temperature }),
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
    ...(passthrough ? { passthrough } : {}),
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

function edgeOf(move: ToolCallEvent, moves: readonly PathwayEdge[]): string | undefined {
  const parsed = moveArguments.safeParse(parseArguments(move.arguments));
  return parsed.success ? moves.find(({ id }) => id === parsed.data.edge)?.id : undefined;
}
