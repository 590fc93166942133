import { z } from 'zod';

import type { GivenMessage } from '../../engine/history/clientConversation.ts';
import { MOVE_TOOL } from '../../engine/prompt/structuredOutput.ts';
import type { TurnRequest } from '../../engine/turn/turn.ts';
import { PASSED_THROUGH, type ResponseFormat } from '../../models/ports/chatModel.ts';
import { sessionIdField } from '../requestHeaders.ts';

/** The limits of OpenAI's API. */
const MAX_TOOLS = 128;
export const MAX_MESSAGES = 2_048;
const TOOL_NAME = /^[\w-]{1,64}$/;

const textPart = z.object({
  type: z.literal('text', 'only parts of type "text" are supported'),
  text: z.string(),
});
const refusalPart = z.object({ type: z.literal('refusal'), refusal: z.string() });

/** Text, or text parts, which are joined. */
const text = z
  .union([z.string(), z.array(textPart).transform((parts) => parts.map((part) => part.text).join(''))])
  .describe('Text, or an array of parts of the type `text`.');

/** The same of an assistant, which may have refused. */
const answerText = z
  .union([
    z.string(),
    z
      .array(z.discriminatedUnion('type', [textPart, refusalPart]))
      .transform((parts) => parts.map((part) => (part.type === 'text' ? part.text : part.refusal)).join('')),
  ])
  .describe('Text, or an array of parts of the types `text` and `refusal`.');

const calledFunction = z.object({
  name: z.string().min(1),
  arguments: z.string().describe('JSON.'),
});

const toolCall = z.object({
  id: z.string().min(1),
  type: z.literal('function').default('function'),
  function: calledFunction,
});

const message = z
  .discriminatedUnion('role', [
    z.object({ role: z.enum(['system', 'developer']), content: text }),
    z.object({ role: z.literal('user'), content: text }),
    z.object({
      role: z.literal('assistant'),
      content: answerText.nullish(),
      refusal: z.string().nullish().describe('Its words where `content` has none.'),
      tool_calls: z.array(toolCall).nullish(),
      function_call: calledFunction.nullish().describe('Deprecated by OpenAI; a tool call without an id.'),
    }),
    z.object({
      role: z.literal('tool'),
      content: text,
      tool_call_id: z.string().min(1).describe('Id of the tool call that this result belongs to.'),
      name: z.string().nullish().describe('Name of the tool.'),
    }),
    z.object({
      role: z.literal('function').describe('Deprecated by OpenAI; the result of the `function_call` before.'),
      content: text.nullish(),
      name: z.string().min(1).describe('Name of the function.'),
    }),
  ])
  .meta({ id: 'ChatMessage' });

const tool = z
  .object({
    type: z.literal('function', 'only tools of type "function" are supported'),
    function: z.object({
      name: z
        .string()
        .regex(TOOL_NAME, '{field} must be 1 to 64 letters, digits, underscores or hyphens')
        .refine(
          (name) => name !== MOVE_TOOL,
          `{field} must not be ${MOVE_TOOL}, which the agent itself uses`,
        ),
      description: z.string().nullish(),
      parameters: z.record(z.string(), z.unknown()).nullish().describe('JSON Schema of the arguments.'),
    }),
  })
  .meta({ id: 'ChatTool' });

const namedTool = z.object({ type: z.literal('function'), function: z.object({ name: z.string() }) });

const toolChoice = z
  .union([
    z.enum(['auto', 'none', 'required']),
    namedTool,
    z.object({
      type: z.literal('allowed_tools'),
      allowed_tools: z.object({ mode: z.enum(['auto', 'required']), tools: z.array(namedTool).min(1) }),
    }),
  ])
  .describe('Whether to call a tool, and which; with `allowed_tools`, only these are offered.');

const responseFormat = z
  .discriminatedUnion('type', [
    z.object({ type: z.literal('text') }),
    z.object({ type: z.literal('json_object') }),
    z.object({
      type: z.literal('json_schema'),
      json_schema: z.object({
        name: z.string().regex(TOOL_NAME, '{field} must be 1 to 64 letters, digits, underscores or hyphens'),
        description: z.string().nullish(),
        schema: z.record(z.string(), z.unknown()).nullish(),
        strict: z.boolean().nullish(),
      }),
    }),
  ])
  .describe('Format of the model’s answer. Fixed texts of the pathway are not affected.');

const tokens = z.int().min(1).nullish();

/** The limits of OpenAI's API. */
const MAX_METADATA = 16;
const MAX_METADATA_CHARACTERS = 512;

/** Voice platforms send objects and numbers; models take texts alone. */
const metadata = z
  .record(z.string(), z.unknown())
  .transform((given) =>
    Object.fromEntries(
      Object.entries(given)
        .filter(([, value]) => ['string', 'number', 'boolean'].includes(typeof value))
        .slice(0, MAX_METADATA)
        .map(([key, value]) => [key, String(value).slice(0, MAX_METADATA_CHARACTERS)]),
    ),
  )
  .describe('Texts, numbers and booleans reach the model as texts, up to 16; other values are ignored.');

/** Passed to the model; typed here, so that invalid values are refused before the model is called. */
const passedThrough = {
  user: z.union([z.string(), z.number()]).transform(String).nullish(),
  seed: z.int().nullish(),
  stop: z.union([z.string(), z.array(z.string()).max(4)]).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  presence_penalty: z.number().min(-2).max(2).nullish(),
  frequency_penalty: z.number().min(-2).max(2).nullish(),
  logit_bias: z.record(z.string(), z.number()).nullish(),
  metadata: metadata.nullish(),
  reasoning_effort: z.string().nullish(),
  service_tier: z.string().nullish(),
} satisfies Record<(typeof PASSED_THROUGH)[number], z.ZodType>;

/** A chat completion request. Unknown fields are accepted, so that OpenAI's clients work unchanged. */
export const chatBody = z
  .looseObject({
    messages: z
      .array(message)
      .min(1)
      .max(MAX_MESSAGES)
      .describe(
        'If they begin with all messages of the session, only the rest is new; else all of them are new.',
      ),
    stream: z.boolean().nullish().describe('Answer as a stream of server-sent events. Default: false.'),
    session_id: sessionIdField.nullish().describe('The session, if the header X-Session-ID is absent.'),
    tools: z
      .array(tool)
      .max(MAX_TOOLS)
      .refine(hasDistinctNames, 'each tool needs a unique name')
      .nullish()
      .describe('Functions that the client runs; offered to the model in addition to the agent’s own tools.'),
    tool_choice: toolChoice.nullish(),
    stream_options: z
      .looseObject({ include_usage: z.boolean().nullish() })
      .nullish()
      .describe('With `include_usage`, actual token counts.'),
    parallel_tool_calls: z.boolean().nullish().describe('Whether one answer may call several tools.'),
    response_format: responseFormat.nullish(),
    model: z.string().nullish().describe('Ignored: the agent’s execution mode chooses the model.'),
    n: z.literal(1, 'n must be 1: there is always one answer').nullish(),
    temperature: z.number().min(0).max(2).nullish(),
    max_tokens: tokens,
    max_completion_tokens: tokens,
    ...passedThrough,
  })
  .refine(hasChosenTool, { path: ['tool_choice'], message: 'tool_choice names none of the tools' })
  .meta({ id: 'ChatCompletionRequest' });

export type ChatBody = z.infer<typeof chatBody>;

type BodyMessage = ChatBody['messages'][number];

/** The messages of the body, as the engine takes them. */
export function toGivenMessages(messages: readonly BodyMessage[]): GivenMessage[] {
  let functionCallId: string | undefined;
  return messages.map((one, index): GivenMessage => {
    if (one.role === 'function') {
      const { name, content } = one;
      return { role: 'tool', content: content ?? '', tool_call_id: functionCallId ?? name, name };
    }
    if (one.role !== 'assistant' || !one.function_call) return toGivenMessage(one);
    functionCallId = `function_call_${index}`;
    const call = { id: functionCallId, type: 'function', function: one.function_call } as const;
    return toGivenMessage({ ...one, tool_calls: [...(one.tool_calls ?? []), call] });
  });
}

function toGivenMessage(one: Exclude<BodyMessage, { role: 'function' }>): GivenMessage {
  switch (one.role) {
    case 'system':
    case 'developer':
      return { role: 'system', content: one.content };
    case 'user':
      return { role: 'user', content: one.content };
    case 'assistant':
      return {
        role: 'assistant',
        content: one.content || one.refusal || null,
        tool_calls: one.tool_calls?.length ? one.tool_calls : undefined,
      };
    case 'tool':
      return {
        role: 'tool',
        content: one.content,
        tool_call_id: one.tool_call_id,
        name: one.name || undefined,
      };
  }
}

/** The turn request without its messages. */
export function turnSettings(
  body: ChatBody,
): Omit<TurnRequest, 'input' | 'history' | 'instructions' | 'digest'> {
  const maxOutputTokens = body.max_completion_tokens ?? body.max_tokens;
  const passthrough = Object.fromEntries(
    PASSED_THROUGH.flatMap((name) => (body[name] == null ? [] : [[name, body[name]]])),
  );
  const { tool_choice: choice, parallel_tool_calls: parallel } = body;
  const tools = offeredTools(body);
  const format = toResponseFormat(body.response_format);
  return {
    callerTools: tools.length > 0 ? tools.map((one) => toDefinition(one.function)) : undefined,
    toolChoice: choice ? toToolChoice(choice) : undefined,
    parallelToolCalls: parallel ?? undefined,
    responseFormat: format,
    passthrough: Object.keys(passthrough).length > 0 ? passthrough : undefined,
    temperature: body.temperature ?? undefined,
    maxOutputTokens: maxOutputTokens ?? undefined,
  };
}

function toResponseFormat(
  format: z.infer<typeof responseFormat> | null | undefined,
): ResponseFormat | undefined {
  if (!format || format.type === 'text') return undefined;
  if (format.type === 'json_object') return format;
  const { name, description, schema, strict } = format.json_schema;
  return {
    type: 'json_schema',
    json_schema: {
      name,
      description: description ?? undefined,
      schema: schema ?? undefined,
      strict: strict ?? undefined,
    },
  };
}

function toDefinition({ name, description, parameters }: z.infer<typeof tool>['function']) {
  return { name, description: description ?? undefined, parameters: parameters ?? undefined };
}

function hasDistinctNames(tools: readonly z.infer<typeof tool>[]): boolean {
  return new Set(tools.map((one) => one.function.name)).size === tools.length;
}

interface ToolsOfBody {
  readonly tools?: readonly z.infer<typeof tool>[] | null | undefined;
  readonly tool_choice?: z.infer<typeof toolChoice> | null | undefined;
}

/** The names that the choice allows; undefined where it names none. */
function chosenNames({ tool_choice: choice }: ToolsOfBody): string[] | undefined {
  if (!choice || typeof choice === 'string') return undefined;
  const named = choice.type === 'function' ? [choice] : choice.allowed_tools.tools;
  return named.map((one) => one.function.name);
}

function hasChosenTool(body: ToolsOfBody): boolean {
  const names = body.tools?.map((one) => one.function.name) ?? [];
  return chosenNames(body)?.every((name) => names.includes(name)) ?? true;
}

function offeredTools(body: ToolsOfBody): readonly z.infer<typeof tool>[] {
  const { tools, tool_choice: choice } = body;
  const isLimited = typeof choice === 'object' && choice?.type === 'allowed_tools';
  const names = isLimited ? chosenNames(body) : undefined;
  return (tools ?? []).filter((one) => names?.includes(one.function.name) ?? true);
}

function toToolChoice(choice: z.infer<typeof toolChoice>): NonNullable<TurnRequest['toolChoice']> {
  if (typeof choice === 'string') return choice;
  return choice.type === 'function' ? { name: choice.function.name } : choice.allowed_tools.mode;
}
