import { omitUndefined } from '../../base/values/omitUndefined.ts';
import type { ChatMessage, ToolCall } from '../../models/ports/chatMessage.ts';
import type { ChatRequest } from '../../models/ports/chatModel.ts';
import type { JsonSchema, ToolChoice, ToolDefinition } from '../../models/ports/toolDefinition.ts';

/** The limit of answers, which the API requires. */
const MAX_TOKENS = 4096;
const NO_ARGUMENTS: JsonSchema = { type: 'object', properties: {} };
const EFFORTS: readonly unknown[] = ['low', 'medium', 'high', 'xhigh', 'max'];

type Block =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'tool_use'; readonly id: string; readonly name: string; readonly input: unknown }
  | { readonly type: 'tool_result'; readonly tool_use_id: string; readonly content: string };

interface Message {
  readonly role: 'user' | 'assistant';
  readonly content: Block[];
}

/** A request as it goes over the wire. */
export interface MessagesBody {
  readonly model: string;
  readonly max_tokens: number;
  readonly stream: true;
  readonly system?: readonly { type: 'text'; text: string; cache_control?: { type: 'ephemeral' } }[];
  readonly messages: readonly Message[];
  readonly temperature?: number;
  readonly tools?: readonly object[];
  readonly tool_choice?: {
    readonly type: string;
    readonly name?: string;
    readonly disable_parallel_tool_use?: boolean;
  };
  readonly output_config?: { readonly effort?: unknown; readonly format?: Format };
}

interface Format {
  readonly type: 'json_schema';
  readonly schema: JsonSchema;
}

export function messagesBody(request: ChatRequest): MessagesBody {
  const [first, ...others] = request.messages;
  const [system, conversation] = first?.role === 'system' ? [first.content, others] : ['', request.messages];
  const { temperature, maxOutputTokens = MAX_TOKENS, passthrough = {} } = request;
  const body: MessagesBody = {
    model: request.model,
    max_tokens: maxOutputTokens,
    stream: true,
    system:
      system === '' ? undefined : [{ type: 'text', text: system, cache_control: { type: 'ephemeral' } }],
    messages: messagesOf(conversation),
    temperature: temperature === undefined ? undefined : Math.min(1, temperature),
    ...toolsOf(request),
    ...passedThrough(passthrough),
    ...outputOf(request, passthrough.reasoning_effort),
  };
  return request.responseFormat && !schemaOf(request)
    ? withInstruction(body, 'Answer with one JSON object, and nothing else.')
    : body;
}

/** Tells the model something that its parameters do not. */
export function withInstruction(body: MessagesBody, content: string): MessagesBody {
  const last = body.messages.at(-1);
  if (!last) return body;
  const told = { ...last, content: [...last.content, ...text(instruction(content))] };
  return { ...body, messages: [...body.messages.slice(0, -1), told] };
}

function instruction(content: string): string {
  return `<instructions>\n${content}\n</instructions>`;
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
    else if (message.role === 'system') add('user', text(instruction(message.content)));
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

function schemaOf({ jsonSchema, responseFormat }: ChatRequest): JsonSchema | undefined {
  if (jsonSchema) return jsonSchema.schema;
  return responseFormat?.type === 'json_schema' ? responseFormat.json_schema.schema : undefined;
}

function outputOf(request: ChatRequest, effort: unknown): Pick<MessagesBody, 'output_config'> {
  const schema = schemaOf(request);
  const format = schema && { type: 'json_schema' as const, schema };
  const hasEffort = EFFORTS.includes(effort);
  return {
    output_config: format || hasEffort ? { effort: hasEffort ? effort : undefined, format } : undefined,
  };
}

function toolsOf({ tools = [], toolChoice, parallelToolCalls }: ChatRequest) {
  if (tools.length === 0) return {};
  const isSingle = parallelToolCalls === false ? { disable_parallel_tool_use: true } : {};
  const choice = wireChoice(toolChoice);
  const isDefault = toolChoice === undefined && parallelToolCalls !== false;
  return {
    tools: tools.map(wireTool),
    tool_choice: isDefault ? undefined : choice.type === 'none' ? choice : { ...choice, ...isSingle },
  };
}

function wireTool({ name, description, parameters = NO_ARGUMENTS }: ToolDefinition) {
  return { name, ...omitUndefined({ description }), input_schema: parameters };
}

function wireChoice(choice: ToolChoice = 'auto') {
  if (typeof choice !== 'string') return { type: 'tool', name: choice.name };
  return { type: choice === 'required' ? 'any' : choice };
}

/** Translates OpenAI's request fields that the API has under other names. */
function passedThrough({ stop, top_p, user }: Readonly<Record<string, unknown>>) {
  return {
    stop_sequences: stop === undefined ? undefined : [stop].flat(),
    top_p,
    metadata: user === undefined ? undefined : { user_id: user },
  };
}
