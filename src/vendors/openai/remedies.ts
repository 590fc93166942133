import type { ChatCompletionMessageParam } from 'openai/resources';
import { type Remedy, without } from '../../models/chat/refusals.ts';
import type { ChatBody } from './chatBody.ts';

/** Fields that no request goes without. */
export const REQUIRED_FIELDS: readonly string[] = ['model', 'messages', 'stream', 'tools'];

/**
 * Lists the features that some models behind OpenAI-compatible endpoints refuse, and how a request does without each.
 */
export const REMEDIES: readonly Remedy<ChatBody>[] = [
  {
    // Models that reason before they answer have the limit under another name, since their thoughts count.
    name: 'max_tokens in place of max_completion_tokens',
    refusal: /max_completion_tokens/,
    isIn: (body) => body.max_tokens !== undefined,
    apply: ({ max_tokens = null, ...body }) => ({ ...body, max_completion_tokens: max_tokens }),
  },
  {
    name: 'max_completion_tokens in place of max_tokens',
    refusal: /max_completion_tokens/,
    isIn: (body) => body.max_completion_tokens !== undefined,
    apply: ({ max_completion_tokens = null, ...body }) => ({ ...body, max_tokens: max_completion_tokens }),
  },
  {
    name: 'reasoning beside tools',
    refusal: /tools.*reasoning_effort|reasoning_effort.*(?:tools|'none')/i,
    isIn: (body) => body.tools !== undefined && body.reasoning_effort !== 'none',
    apply: (body) => ({ ...body, reasoning_effort: 'none' }),
  },
  {
    name: 'forced tool_choice',
    refusal: /tool[_ ]choice/i,
    isIn: ({ tool_choice: choice }) => choice === 'required' || typeof choice === 'object',
    apply: (body) => ({
      ...body,
      messages: [...body.messages, { role: 'system', content: choicePrompt(body) }],
      tool_choice: 'auto',
    }),
  },
  without('stream_options', { isGuessed: true }),
  {
    name: 'json_schema',
    refusal: /response_format|json_schema/,
    isGuessed: true,
    isIn: ({ response_format: format }) => format?.type === 'json_schema',
    apply: (body) => ({
      ...body,
      messages: [...body.messages, ...schemaPrompt(body)],
      response_format: { type: 'json_object' },
    }),
  },
  // Several servers take a format or tools.
  without('response_format', { refusal: /json mode|response mime type|grammar/i }),
  without('temperature', { isGuessed: true }),
  // Ollama and Google say what the effort becomes.
  without('reasoning_effort', { refusal: /\bthink(?:ing)?\b/i, isGuessed: true }),
  {
    // Chat templates of several open models accept a system message only at the start.
    name: 'system messages after the first',
    refusal: /system|\broles?\b|jinja|chat template/i,
    isVague: true,
    isGuessed: true,
    isIn: ({ messages }) => messages.some(({ role }, index) => role === 'system' && index > 0),
    apply: (body) => ({ ...body, messages: mergeSystemMessages(body.messages) }),
  },
];

function choicePrompt({ tool_choice: choice }: ChatBody): string {
  const isNamed = typeof choice === 'object' && choice.type === 'function';
  return isNamed ? `Answer by calling the tool ${choice.function.name}.` : 'Answer by calling a tool.';
}

/** Returns a prompt with the schema, since plain JSON mode does not give the model the keys. */
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
