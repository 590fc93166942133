import type { PathwayEdge } from '../../agents/pathway/schema/edgeSchema.ts';
import type { PathwayNode } from '../../agents/pathway/schema/nodeSchema.ts';
import type { ToolCallEvent } from '../../providers/ports/chatModel.ts';
import { ModelError } from '../../providers/ports/modelError.ts';
import type { ToolDefinition } from '../../providers/ports/toolDefinition.ts';
import { stepPrompt, withStep } from '../prompt/prompts.ts';
import { toChoice } from '../prompt/questions.ts';
import { rehearsalOptions } from '../prompt/rehearsal.ts';
import { MOVE_TOOL, moveArguments, moveTool } from '../prompt/structuredOutput.ts';
import type { FunctionCall } from '../session/session.ts';
import { BUILT_IN_DEFINITIONS } from '../tools/builtInTools.ts';
import type { Passage } from '../tools/passage.ts';
import { runCalls } from '../tools/toolCalls.ts';
import { parseArguments, toDefinition, toolsOfNode } from '../tools/toolRunner.ts';
import { fromFirstWord } from './firstWord.ts';
import type { TurnOutput } from './turn.ts';
import { isListenedTo, situationOf, type TurnContext, talkOf } from './turnContext.ts';

/** A model that calls tools again and again is made to answer after so many rounds. */
const MAX_TOOL_ROUNDS = 8;
/** Tools that need not be talked about: they took a note, or spoke to a machine by its keys. */
const SILENT_TOOLS: ReadonlySet<string> = new Set(['set_variable', 'send_dtmf']);

/** Whether the customer got words of the model's: they are not due where it led on, or called a tool that does without. */
export type Words = 'said' | 'missing' | 'not_due';

/** What came of a node's speech. */
export interface Spoken {
  readonly edgeId: string | null;
  /** Placeholders included. */
  readonly saidAnything: boolean;
  readonly words: Words;
  /** The turn stops here: for the caller's tools, or because a tool ended or handed over the talk. */
  readonly halt: 'caller_tools' | 'ended' | 'transferred' | null;
}

/** Asks the model for a node's words, and runs the tools that it calls on the way. */
export async function* answerNode(
  run: TurnContext,
  node: PathwayNode,
  moves: readonly PathwayEdge[],
  knowledge: readonly Passage[],
): AsyncGenerator<TurnOutput, Spoken> {
  const offered = offeredTools(run, node, moves);
  const asking: NodeAsking = { node, moves, knowledge, offered };
  const before = run.journal.said().length;
  let edgeId: string | null = null;
  let words: Words = 'missing';
  const spoken = (halt: Spoken['halt'], saidAnything = run.journal.said().length > before): Spoken => ({
    edgeId,
    saidAnything,
    words: wordsOf(words, halt !== null || edgeId !== null),
    halt,
  });
  for (let round = 1; ; round += 1) {
    const answer: Answer = yield* askForWords(run, asking, round, words === 'missing');
    const { calls } = answer;
    if (answer.hasWords) words = 'said';
    const move = calls.find(({ name }) => name === MOVE_TOOL);
    if (move) edgeId = edgeOf(move, moves) ?? edgeId;
    const others = calls.filter(({ name }) => name !== MOVE_TOOL);
    const isCallers = ({ name }: ToolCallEvent) => offered.callers.some((tool) => tool.name === name);
    const own = others.filter((call) => !isCallers(call));
    const callers = others.filter(isCallers);
    const halt = own.length > 0 ? yield* runCalls(run, node, own) : null;
    if (callers.length > 0) {
      yield* handOver(run, callers);
      return spoken('caller_tools', true);
    }
    if (halt || own.length === 0) return spoken(halt);
    // Words beside a tool that only took a note need no second answer; a look-up's result has to be told.
    const isQuiet = own.every(({ name }) => SILENT_TOOLS.has(name));
    if (isQuiet && spoken(null).saidAnything) return spoken(null);
    words = wordsOf(words === 'not_due' ? 'missing' : words, isQuiet);
    if (round > MAX_TOOL_ROUNDS) return spoken(null, requireWords(spoken(null).saidAnything));
  }
}

function wordsOf(words: Words, needsNone: boolean): Words {
  return words === 'missing' && needsNone ? 'not_due' : words;
}

/** Nobody is left in silence by a model that went on calling tools when it had none any more. */
function requireWords(saidAnything: boolean): true {
  if (saidAnything) return true;
  throw new ModelError('model_malformed', 'The model called tools again and again, and never answered', {
    beforeFirstToken: true,
  });
}

/** What is asked of the model at a node, in each round. */
interface NodeAsking {
  readonly node: PathwayNode;
  readonly moves: readonly PathwayEdge[];
  readonly knowledge: readonly Passage[];
  readonly offered: OfferedTools;
}

interface Answer {
  readonly calls: readonly ToolCallEvent[];
  /** Where nobody listens, anything that was written counts. */
  readonly hasWords: boolean;
}

/** To who listens, an answer with nothing in it failed before its first word: it is asked for once more. */
async function* askForWords(
  run: TurnContext,
  asking: NodeAsking,
  round: number,
  needsWords: boolean,
): AsyncGenerator<TurnOutput, Answer> {
  const answer = yield* askOnce(run, asking, round);
  const isEmpty = !answer.hasWords && answer.calls.length === 0;
  return isEmpty && needsWords && isListenedTo(run) ? yield* askOnce(run, asking, round) : answer;
}

async function* askOnce(
  run: TurnContext,
  { node, moves, knowledge, offered }: NodeAsking,
  round: number,
): AsyncGenerator<TurnOutput, Answer> {
  const { request, journal } = run;
  const step = stepPrompt({
    ...run,
    node,
    moves,
    knowledge,
    variables: journal.variables,
    instructions: request.instructions ?? [],
  });
  const calls: ToolCallEvent[] = [];
  const stream = run.deps.models.chat.stream(
    {
      ...wishesOf(run, round),
      model: run.modelName,
      messages: withStep(talkOf(run), step),
      ...(round <= MAX_TOOL_ROUNDS ? toolsOf(offered) : {}),
      purpose: moves.length > 0 ? 'answer_and_route' : 'answer',
      ...rehearsalOptions({
        ...situationOf(run, node),
        choices: moves.map(toChoice),
        ...(knowledge.length > 0 ? { knowledge: knowledge.map(({ content }) => content) } : {}),
      }),
    },
    run.signal,
  );
  let isFirst = true;
  for await (const event of isListenedTo(run) ? fromFirstWord(stream) : stream) {
    if (event.type === 'text') {
      // What a second node, or a second round, says begins a line of its own.
      const gap = isFirst && journal.said() !== '' && !/\s$/.test(journal.said()) ? '\n' : '';
      isFirst = false;
      journal.say(gap + event.text);
      yield { type: 'text', text: gap + event.text };
    } else if (event.type === 'tool_call') calls.push(event);
    else if (event.type === 'end') run.meter.add(event.usage);
  }
  return { calls, hasWords: !isFirst };
}

/** What the caller's request says of how the model is to answer; a choice of tools is for the first round. */
function wishesOf({ request }: TurnContext, round: number) {
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

interface OfferedTools {
  readonly own: readonly ToolDefinition[];
  /** Run by the caller; one that has the name of an own tool is not among them. */
  readonly callers: readonly ToolDefinition[];
}

function toolsOf({ own, callers }: OfferedTools): { tools?: ToolDefinition[] } {
  const tools = [...own, ...callers];
  return tools.length > 0 ? { tools } : {};
}

function offeredTools(run: TurnContext, node: PathwayNode, moves: readonly PathwayEdge[]): OfferedTools {
  const { project, builtIn } = toolsOfNode(run.release, node);
  const own = [
    ...(moves.length > 0 ? [moveTool(moves.map(toChoice))] : []),
    // A tool node has run its tool by itself.
    ...(node.type === 'tool' ? [] : project.map(toDefinition)),
    ...builtIn.flatMap((name) => BUILT_IN_DEFINITIONS[name] ?? []),
  ];
  const callers = (run.request.callerTools ?? []).filter(
    ({ name }) => !own.some((tool) => tool.name === name),
  );
  return { own, callers };
}

async function* handOver(
  run: TurnContext,
  events: readonly ToolCallEvent[],
): AsyncGenerator<TurnOutput, void> {
  const calls = events.map(
    ({ id, name, arguments: text }): FunctionCall => ({
      id,
      type: 'function',
      function: { name, arguments: text },
    }),
  );
  run.journal.callerCalls(calls);
  for (const [index, call] of calls.entries()) {
    run.journal.event('tool_called', {
      name: call.function.name,
      arguments: call.function.arguments,
      by: 'caller',
    });
    yield { type: 'tool_call', index, call };
  }
}

function edgeOf(move: ToolCallEvent, moves: readonly PathwayEdge[]): string | undefined {
  const parsed = moveArguments.safeParse(parseArguments(move.arguments));
  return parsed.success ? moves.find(({ id }) => id === parsed.data.edge)?.id : undefined;
}
