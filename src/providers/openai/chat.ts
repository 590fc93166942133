import type { ChatCompletionCreateParamsStreaming, ChatCompletionMessageParam } from 'openai/resources';

import type { MakeId } from '../../base/ids.ts';
import { eventData } from '../http/serverSentEvents.ts';
import type { ChatMessage, ToolCall } from '../ports/chatMessage.ts';
import { type ChatRequest, PASSED_THROUGH } from '../ports/chatModel.ts';
import type { ToolChoice, ToolDefinition } from '../ports/toolDefinition.ts';
import type { ChatProvider } from '../streamWithRetry.ts';
import { ChatDecoder } from './chatDecoder.ts';
import type { OpenAiEndpoint } from './endpoint.ts';
import { refusalMessage, toModelError } from './errors.ts';

export type ChatBody = ChatCompletionCreateParamsStreaming;

/** Endpoints whose newer models refuse the field that all others know. */
const HOSTS_WITH_COMPLETION_LIMIT = /(^|\.)openai(\.azure)?\.com$/;

/** A parameter that not every compatible endpoint supports, and how to do without it. */
interface OptionalParameter {
  readonly name: 'usage' | 'jsonSchema' | 'laterSystemMessage';
  /** Matches a refusal that is about this parameter. */
  readonly refusal: RegExp;
  isIn(body: ChatBody): boolean;
  removeFrom(body: ChatBody): ChatBody;
}

const OPTIONAL_PARAMETERS: readonly OptionalParameter[] = [
  {
    name: 'usage',
    refusal: /stream_options|include_usage/,
    isIn: (body) => body.stream_options !== undefined,
    removeFrom({ stream_options: _, ...body }) {
      return body;
    },
  },
  {
    name: 'jsonSchema',
    refusal: /response_format|json_schema/,
    isIn: ({ response_format: format }) => format?.type === 'json_schema',
    removeFrom: (body) => ({
      ...body,
      messages: [...body.messages, ...schemaPrompt(body)],
      response_format: { type: 'json_object' },
    }),
  },
  {
    // Chat templates of several open models accept a system message only at the start.
    name: 'laterSystemMessage',
    refusal: /system|\broles?\b|jinja|chat template/i,
    isIn: ({ messages }) => messages.some(({ role }, index) => role === 'system' && index > 0),
    removeFrom: (body) => ({ ...body, messages: mergeSystemMessages(body.messages) }),
  },
];

export interface OpenAiChatDeps {
  readonly endpoint: OpenAiEndpoint;
  /** For tool calls to which the endpoint gave no id. */
  readonly makeId: MakeId;
  /** Of another vendor that speaks the same. */
  readonly name?: string;
  /** What that vendor needs. */
  readonly adapt?: (body: ChatBody) => ChatBody;
}

/**
 * A model behind an OpenAI-compatible chat completions endpoint.
 *
 * @see https://platform.openai.com/docs/api-reference/chat-streaming
 */
export function createOpenAiChat({
  endpoint,
  makeId,
  name = 'openai',
  adapt = (body) => body,
}: OpenAiChatDeps): ChatProvider {
  const unsupported = new UnsupportedParameters();
  return {
    name,
    async open(request, signal) {
      const response = await send(adapt(chatBody(request, endpoint.host)), signal, unsupported, endpoint);
      return new ChatDecoder(await eventData(response), { endpoint, makeId, requestedModel: request.model });
    },
    toModelError: (error, beforeFirstToken) => toModelError(error, endpoint, beforeFirstToken),
    close: () => endpoint.close(),
  };
}

/** Sends the request again without a parameter that the endpoint refuses. */
async function send(
  wanted: ChatBody,
  signal: AbortSignal,
  unsupported: UnsupportedParameters,
  { client }: OpenAiEndpoint,
): Promise<Response> {
  const removed = new Set<string>();
  let body = unsupported.removeFrom(wanted);
  for (;;) {
    try {
      const response = await client.chat.completions.create(body, { signal }).asResponse();
      unsupported.learn(body, removed);
      return response;
    } catch (error) {
      const refusal = refusalMessage(error);
      const reduced = refusal === undefined ? undefined : unsupported.removeRefused(body, refusal);
      if (!reduced) throw error;
      removed.add(reduced.name);
      body = reduced.body;
    }
  }
}

/**
 * Learns which parameters one endpoint supports. A parameter that a refusal names is removed from the request; where the
 * refusal names none of them, one that the endpoint has not accepted yet is removed. What is learned holds for the life
 * of the instance.
 */
class UnsupportedParameters {
  readonly #unsupported = new Set<string>();
  readonly #supported = new Set<string>();

  /** Removes what the endpoint is known not to support. */
  removeFrom(body: ChatBody): ChatBody {
    return OPTIONAL_PARAMETERS.filter(({ name, isIn }) => this.#unsupported.has(name) && isIn(body)).reduce(
      (reduced, parameter) => parameter.removeFrom(reduced),
      body,
    );
  }

  /**
   * @param refusal - The endpoint's error message.
   * @returns The body without the refused parameter, and its name; undefined when no parameter may be the cause.
   */
  removeRefused(body: ChatBody, refusal: string): { body: ChatBody; name: string } | undefined {
    const present = OPTIONAL_PARAMETERS.filter(({ isIn }) => isIn(body));
    const refused =
      present.find((parameter) => parameter.refusal.test(refusal)) ??
      present.find(({ name }) => !this.#supported.has(name));
    return refused && { body: refused.removeFrom(body), name: refused.name };
  }

  /** @param body - Accepted by the endpoint, once `removed` were left out. */
  learn(body: ChatBody, removed: ReadonlySet<string>): void {
    for (const name of removed) this.#unsupported.add(name);
    for (const { name, isIn } of OPTIONAL_PARAMETERS) if (isIn(body)) this.#supported.add(name);
  }
}

/** Plain JSON mode does not tell the model which keys are wanted. */
function schemaPrompt({ response_format: format }: ChatBody): ChatCompletionMessageParam[] {
  if (format?.type !== 'json_schema' || !format.json_schema.schema) return [];
  const content = `Answer with JSON of this schema: ${JSON.stringify(format.json_schema.schema)}`;
  return [{ role: 'system', content }];
}

/** Moves system messages to the first one, and those after the conversation into its last user message. */
function mergeSystemMessages(messages: readonly ChatCompletionMessageParam[]): ChatCompletionMessageParam[] {
  const lastOther = messages.findLastIndex(({ role }) => role !== 'system');
  const instructions = messages.slice(0, Math.max(1, lastOther)).filter(({ role }) => role === 'system');
  const finalInstructions = messages.slice(Math.max(1, lastOther + 1)).map(contentOf);
  const conversation = messages.slice(0, lastOther + 1).filter(({ role }) => role !== 'system');
  const last = conversation.at(-1);
  const isUserLast = last?.role === 'user';
  const finalTexts = isUserLast ? [contentOf(last), ...finalInstructions] : finalInstructions;
  return joinUserMessages([
    { role: 'system', content: instructions.map(contentOf).join('\n\n') },
    ...(isUserLast ? conversation.slice(0, -1) : conversation),
    ...(finalTexts.length > 0 ? [{ role: 'user' as const, content: finalTexts.join('\n\n') }] : []),
  ]);
}

/** The same templates want the roles to alternate: an unanswered message and the next one become one. */
function joinUserMessages(messages: readonly ChatCompletionMessageParam[]): ChatCompletionMessageParam[] {
  const joined: ChatCompletionMessageParam[] = [];
  for (const message of messages) {
    const last = joined.at(-1);
    if (message.role !== 'user' || last?.role !== 'user') joined.push(message);
    else joined[joined.length - 1] = { role: 'user', content: `${contentOf(last)}\n\n${contentOf(message)}` };
  }
  return joined;
}

function contentOf({ content }: ChatCompletionMessageParam): string {
  return typeof content === 'string' ? content : '';
}

/**
 * Writes a request as it goes over the wire.
 *
 * @param host - The endpoint's host name, since the field of the output limit depends on it.
 */
function chatBody(request: ChatRequest, host: string): ChatBody {
  const { tools, maxOutputTokens } = request;
  const limitField = HOSTS_WITH_COMPLETION_LIMIT.test(host) ? 'max_completion_tokens' : 'max_tokens';
  const hasTools = tools !== undefined && tools.length > 0;
  return {
    ...passedThrough(request.passthrough ?? {}),
    model: request.model,
    messages: request.messages.map(wireMessage),
    stream: true,
    stream_options: { include_usage: true },
    ...(hasTools ? { tools: tools.map(wireTool) } : {}),
    ...(hasTools && request.toolChoice ? { tool_choice: wireToolChoice(request.toolChoice) } : {}),
    ...(hasTools && request.parallelToolCalls !== undefined
      ? { parallel_tool_calls: request.parallelToolCalls }
      : {}),
    ...(request.temperature === undefined ? {} : { temperature: request.temperature }),
    ...(maxOutputTokens === undefined ? {} : { [limitField]: maxOutputTokens }),
    ...wireFormat(request),
  };
}

function wireFormat({ jsonSchema, responseFormat }: ChatRequest): Pick<ChatBody, 'response_format'> {
  if (jsonSchema) {
    return { response_format: { type: 'json_schema', json_schema: { ...jsonSchema, strict: true } } };
  }
  if (responseFormat?.type !== 'json_schema')
    return responseFormat ? { response_format: responseFormat } : {};
  const { schema, ...named } = responseFormat.json_schema;
  const jsonFormat = { ...named, ...(schema ? { schema: { ...schema } } : {}) };
  return { response_format: { type: 'json_schema', json_schema: jsonFormat } };
}

function passedThrough(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    PASSED_THROUGH.filter((name) => fields[name] !== undefined).map((name) => [name, fields[name]]),
  );
}

function wireMessage(message: ChatMessage): ChatCompletionMessageParam {
  switch (message.role) {
    case 'tool':
      return { role: 'tool', tool_call_id: message.toolCallId, content: message.content };
    case 'assistant': {
      const { content, toolCalls = [] } = message;
      if (toolCalls.length === 0) return { role: 'assistant', content: content ?? '' };
      return { role: 'assistant', content, tool_calls: toolCalls.map(wireToolCall) };
    }
    default:
      return { role: message.role, content: message.content };
  }
}

function wireToolCall({ id, name, arguments: json }: ToolCall) {
  return { id, type: 'function' as const, function: { name, arguments: json } };
}

function wireTool({ name, description, parameters }: ToolDefinition) {
  return {
    type: 'function' as const,
    function: {
      name,
      ...(description === undefined ? {} : { description }),
      parameters: { ...(parameters ?? { type: 'object', properties: {} }) },
    },
  };
}

function wireToolChoice(choice: ToolChoice) {
  return typeof choice === 'string' ? choice : { type: 'function' as const, function: { name: choice.name } };
}
