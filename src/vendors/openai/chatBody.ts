import type { ChatCompletionCreateParamsStreaming, ChatCompletionMessageParam } from 'openai/resources';

import type { ChatMessage, ToolCall } from '../../models/ports/chatMessage.ts';
import { type ChatRequest, PASSED_THROUGH } from '../../models/ports/chatModel.ts';
import type { ToolChoice, ToolDefinition } from '../../models/ports/toolDefinition.ts';

export type ChatBody = ChatCompletionCreateParamsStreaming;

/** Endpoints whose newer models refuse the field that all others know. */
const HOSTS_WITH_COMPLETION_LIMIT = /(^|\.)openai(\.azure)?\.com$/;
/**
 * OpenAI's models that reason unless they are told not to, which a person on the phone would wait for. Beside reasoning they
 * take neither tools nor a temperature on this API.
 */
const REASONS_BY_DEFAULT = /^gpt-(?:5\.[1-9]|[6-9])/;

/**
 * Writes a request as it goes over the wire.
 *
 * @param host - The endpoint's host name, since the field of the output limit depends on it.
 */
export function chatBody(request: ChatRequest, host: string): ChatBody {
  const { tools, maxOutputTokens } = request;
  const limitField = HOSTS_WITH_COMPLETION_LIMIT.test(host) ? 'max_completion_tokens' : 'max_tokens';
  const hasTools = tools !== undefined && tools.length > 0;
  return {
    reasoning_effort: REASONS_BY_DEFAULT.test(request.model) ? 'none' : undefined,
    ...passedThrough(request.passthrough ?? {}),
    model: request.model,
    messages: request.messages.map(wireMessage),
    stream: true,
    stream_options: { include_usage: true },
    tools: hasTools ? tools.map(wireTool) : undefined,
    tool_choice: hasTools && request.toolChoice ? wireToolChoice(request.toolChoice) : undefined,
    parallel_tool_calls: hasTools ? request.parallelToolCalls : undefined,
    temperature: request.temperature,
    [limitField]: maxOutputTokens,
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
  const json_schema = { ...named, schema: schema && { ...schema } };
  return { response_format: { type: 'json_schema', json_schema } };
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
      description,
      parameters: { ...(parameters ?? { type: 'object', properties: {} }) },
    },
  };
}

function wireToolChoice(choice: ToolChoice) {
  return typeof choice === 'string' ? choice : { type: 'function' as const, function: { name: choice.name } };
}
