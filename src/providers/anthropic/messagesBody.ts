import { omitUndefined } from '../../base/omitUndefined.ts';
import type { ChatMessage, ToolCall } from '../ports/chatMessage.ts';
import type { ChatRequest } from '../ports/chatModel.ts';
import type { JsonSchema, ToolChoice, ToolDefinition } from '../ports/toolDefinition.ts';

/** The API requires a limit. */
const MAX_TOKENS = 4096;
const NO_ARGUMENTS: JsonSchema = { type: 'object', properties: {} };
const EFFORTS: readonly unknown[] = ['low', 'medium', 'high'];

type Block =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'tool_use'; readonly id: string; readonly name: string; readonly input: unknown }
  | { readonly type: 'tool_result'; readonly tool_use_id: string; readonly content: string };

interface Message {
  readonly role: 'user' | 'assistant';
  readonly content: Block[];
}

export interface MessagesRequest {
  readonly body: Readonly<Record<string, unknown>>;
  /** The tool whose input is the answer. */
  readonly answerTool: string | undefined;
}

/** Writes a request as it goes over the wire. JSON of a schema is the input of a tool that must be called. */
export function messagesBody(request: ChatRequest): MessagesRequest {
  const [first, ...others] = request.messages;
  const [system, conversation] = first?.role === 'system' ? [first.content, others] : ['', request.messages];
  const format = formatOf(request);
  const { temperature, maxOutputTokens = MAX_TOKENS } = request;
  const body = {
    model: request.model,
    max_tokens: maxOutputTokens,
    stream: true,
    ...(system === ''
      ? {}
      : { system: [{ type: 'text', text: system, cache_control: { type: 'ephemeral' } }] }),
    messages: messagesOf(conversation),
    ...(temperature === undefined ? {} : { temperature: Math.min(1, temperature) }),
    ...(format ? answerBy(format) : toolsOf(request)),
    ...passedThrough(request.passthrough ?? {}),
  };
  return { body, answerTool: format?.name };
}

/** Consecutive messages of one side become one; the first and the last are the person's. */
function messagesOf(conversation: readonly ChatMessage[]): Message[] {
  const messages: Message[] = [];
  const add = (role: Message['role'], blocks: readonly Block[]) => {
    if (blocks.length === 0) return;
    const last = messages.at(-1);
    if (last?.role === role) last.content.push(...blocks);
    else messages.push({ role, content: [...blocks] });
  };
  for (const message of conversation) {
    if (messages.length === 0 && message.role === 'assistant')
      add('user', text('[The conversation begins.]'));
    if (message.role === 'assistant')
      add('assistant', [...text(message.content ?? ''), ...(message.toolCalls ?? []).map(toolUse)]);
    else if (message.role === 'tool')
      add('user', [{ type: 'tool_result', tool_use_id: message.toolCallId, content: message.content }]);
    // There is no system message between others.
    else if (message.role === 'system')
      add('user', text(`<instructions>\n${message.content}\n</instructions>`));
    else add('user', text(message.content));
  }
  if (messages.at(-1)?.role !== 'user') add('user', text('[Go on.]'));
  return messages;
}

function text(content: string): Block[] {
  return content.trim() === '' ? [] : [{ type: 'text', text: content }];
}

function toolUse({ id, name, arguments: json }: ToolCall): Block {
  return { type: 'tool_use', id, name, input: inputOf(json) };
}

function inputOf(json: string): unknown {
  try {
    const read: unknown = JSON.parse(json);
    return typeof read === 'object' && read !== null ? read : {};
  } catch {
    return {};
  }
}

interface Format {
  readonly name: string;
  readonly schema: JsonSchema;
}

function formatOf({ jsonSchema, responseFormat }: ChatRequest): Format | undefined {
  if (jsonSchema) return jsonSchema;
  if (responseFormat?.type === 'json_object') return { name: 'answer', schema: { type: 'object' } };
  if (!responseFormat) return undefined;
  const { name, schema = { type: 'object' } } = responseFormat.json_schema;
  return { name, schema };
}

function answerBy({ name, schema }: Format) {
  const tool = { name, description: 'Gives the answer.', input_schema: schema };
  return { tools: [tool], tool_choice: { type: 'tool', name, disable_parallel_tool_use: true } };
}

function toolsOf({ tools = [], toolChoice, parallelToolCalls }: ChatRequest) {
  if (tools.length === 0) return {};
  const isSingle = parallelToolCalls === false ? { disable_parallel_tool_use: true } : {};
  const choice = wireChoice(toolChoice);
  return {
    tools: tools.map(wireTool),
    ...(toolChoice === undefined && parallelToolCalls !== false
      ? {}
      : { tool_choice: choice.type === 'none' ? choice : { ...choice, ...isSingle } }),
  };
}

function wireTool({ name, description, parameters = NO_ARGUMENTS }: ToolDefinition) {
  return { name, ...omitUndefined({ description }), input_schema: parameters };
}

function wireChoice(choice: ToolChoice = 'auto') {
  if (typeof choice !== 'string') return { type: 'tool', name: choice.name };
  return { type: choice === 'required' ? 'any' : choice };
}

/** What the API has of the fields of OpenAI's. */
function passedThrough({ stop, top_p, user, reasoning_effort }: Readonly<Record<string, unknown>>) {
  return {
    ...(stop === undefined ? {} : { stop_sequences: [stop].flat() }),
    ...omitUndefined({ top_p }),
    ...(user === undefined ? {} : { metadata: { user_id: user } }),
    ...(EFFORTS.includes(reasoning_effort) ? { output_config: { effort: reasoning_effort } } : {}),
  };
}
