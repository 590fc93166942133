import type { ZodType } from 'zod';
import type { PathwayEdge } from '../../agents/pathway/schema/edgeSchema.ts';
import type { PathwayNode } from '../../agents/pathway/schema/nodeSchema.ts';
import type { AgentRelease } from '../../agents/releases/release.ts';
import type { ChatMessage } from '../../models/ports/chatMessage.ts';
import type { ChatRequest, EndEvent } from '../../models/ports/chatModel.ts';
import { ModelError } from '../../models/ports/modelError.ts';
import { type ModelAccess, modelAt, promptMessages, type TurnContext } from '../turn/turnContext.ts';
import { coerceVariable } from './coerceVariable.ts';
import { EXTRACT_PROMPT, type Render, routePrompt, SUMMARY_PROMPT, todayIs } from './prompts.ts';
import { type Choice, extractAnswer, extractFormat, routeAnswer, routeFormat } from './structuredOutput.ts';

/** No answer to a question of the engine's own has as many; a model that goes on and on is not read any further. */
const MAX_ANSWER_CHARACTERS = 100_000;

/** What the engine asks a model on its own behalf, beside the answer to the customer. */
export interface Question {
  readonly access: ModelAccess;
  /** The stable prompt and the conversation. */
  readonly messages: readonly ChatMessage[];
  /** {@link TurnContext.now}; undefined after the session. */
  readonly now?: string;
}

export function questionAt(turn: TurnContext, node: PathwayNode | undefined): Question {
  const access = {
    ...modelAt(turn, node),
    usage: turn.usage,
    signal: turn.signal,
    startSpan: turn.startSpan,
  };
  return { access, messages: promptMessages(turn), now: turn.now };
}

/** An edge as a model is shown it. */
export function toChoice({ id, data }: PathwayEdge): Choice {
  return { id, label: data.label, sentence: typeof data.condition === 'string' ? data.condition : '' };
}

/** Asks which edge's condition holds. @returns Its id; null for none. @throws {ModelError} */
export async function askForRoute(
  question: Question,
  node: PathwayNode,
  edges: readonly PathwayEdge[],
  render: Render,
): Promise<string | null> {
  const choices = edges.map(toChoice);
  const request: ChatRequest = {
    ...requestOf(question, routePrompt(node, edges, render)),
    jsonSchema: routeFormat(choices),
    temperature: 0,
    purpose: 'route',
  };
  const { edge } = await askForJson(question.access, request, routeAnswer);
  if (edge === null || edges.some(({ id }) => id === edge)) return edge;
  throw new ModelError('model_malformed', 'The model selected an edge that was not offered', {
    beforeFirstToken: false,
  });
}

/** Extracts variables from the conversation. @returns Those found with a value of their type. @throws {ModelError} */
export async function askForVariables(
  question: Question,
  configs: NonNullable<AgentRelease['agent']['variableConfigs']>,
): Promise<ReadonlyMap<string, unknown>> {
  const request: ChatRequest = {
    ...requestOf(question, EXTRACT_PROMPT),
    jsonSchema: extractFormat(configs),
    temperature: 0,
    purpose: 'extract',
  };
  const answer = await askForJson(question.access, request, extractAnswer);
  const found = configs.map((config) => [config.name, coerceVariable(config, answer[config.name])] as const);
  return new Map(found.filter(([, value]) => value !== undefined));
}

/** Summarises the conversation. @throws {ModelError} */
export async function askForSummary(question: Question): Promise<string> {
  const { text } = await askForText(question.access, {
    ...requestOf(question, SUMMARY_PROMPT),
    purpose: 'summarise',
  });
  return text;
}

function requestOf(
  { access, messages, now }: Question,
  prompt: string,
): Pick<ChatRequest, 'model' | 'messages'> {
  const content = now === undefined ? prompt : `${prompt}\n\n${todayIs(now)}`;
  return { model: access.modelName, messages: [...messages, { role: 'system', content }] };
}

/**
 * Asks a model for one JSON document.
 *
 * @throws {ModelError} `model_malformed` when the answer is not JSON or does not match the schema.
 */
export async function askForJson<Answer>(
  access: ModelAccess,
  request: ChatRequest,
  schema: ZodType<Answer>,
): Promise<Answer> {
  const { text } = await askForText(access, request);
  const parsed = schema.safeParse(parseJson(text));
  if (parsed.success) return parsed.data;
  throw new ModelError('model_malformed', 'The model answered with something other than the JSON asked for', {
    beforeFirstToken: false,
    cause: parsed.error,
  });
}

/**
 * Asks a model for a whole text.
 *
 * @returns The text, the model that wrote it, and why it stopped.
 * @throws {ModelError} `model_malformed` also for a text that is too long.
 */
export async function askForText(
  access: ModelAccess,
  request: ChatRequest,
): Promise<{ readonly text: string } & Omit<EndEvent, 'type'>> {
  const { chat, usage, signal, startSpan } = access;
  const span = startSpan?.(request, chat.name);
  let text = '';
  let end: Omit<EndEvent, 'type'> = { model: request.model, finishReason: 'stop' };
  try {
    for await (const event of chat.stream(request, signal)) {
      span?.onEvent();
      if (event.type === 'text') text += event.text;
      if (event.type === 'thought') text = '';
      if (event.type === 'end') {
        usage.add(event);
        end = event;
      }
      if (text.length > MAX_ANSWER_CHARACTERS) throw tooLong();
    }
    return { ...end, text };
  } catch (error) {
    if (!signal.aborted) span?.recordError(error);
    throw error;
  } finally {
    span?.end();
  }
}

function tooLong(): ModelError {
  const message = `The model wrote more than ${MAX_ANSWER_CHARACTERS} characters`;
  return new ModelError('model_malformed', message, { beforeFirstToken: false, retryable: false });
}

/**
 * Some models wrap their JSON into a Markdown fence or into prose, which may have braces of its own beside lines of JSON.
 *
 * @returns Undefined where there is no JSON.
 */
export function parseJson(text: string): unknown {
  const widest = parsed(text, text.indexOf('{'), text.lastIndexOf('}'));
  if (widest !== undefined) return widest;
  const lastLine = [...text.matchAll(/\}[ \t]*$/gm)].at(-1)?.index ?? -1;
  return parsed(text, text.search(/^[ \t]*\{/m), lastLine);
}

function parsed(text: string, from: number, to: number): unknown {
  try {
    return JSON.parse(from >= 0 && to > from ? text.slice(from, to + 1) : text);
  } catch {
    return undefined;
  }
}
