import { z } from 'zod';

const toolCall = z.object({
  id: z.string(),
  type: z.literal('function'),
  function: z.object({ name: z.string(), arguments: z.string().describe('JSON.') }),
});

const toolCallDelta = z
  .object({
    index: z.int(),
    id: z.string().optional(),
    type: z.literal('function').optional(),
    function: z.object({ name: z.string().optional(), arguments: z.string() }),
  })
  .describe('The first delta of an index has id, type and name; join the arguments of all its deltas.');

const usage = z
  .object({ prompt_tokens: z.int(), completion_tokens: z.int(), total_tokens: z.int() })
  .describe('All -1, unless `stream_options.include_usage` or the project’s `reportUsage` asks for counts.');

const finishReason = z.enum(['stop', 'tool_calls']);

const common = {
  id: z.string().meta({ example: 'chatcmpl-019cebdc-6f41-7c3e-9d55-0a6c1f0e7b21' }),
  created: z.int().describe('Unix time in seconds.'),
  model: z.string().describe('The model that answered.'),
  session_id: z.string().describe('Also in the header X-Session-ID.'),
};

export const completion = z
  .object({
    ...common,
    object: z.literal('chat.completion'),
    choices: z.array(
      z.object({
        index: z.literal(0),
        message: z.object({
          role: z.literal('assistant'),
          content: z.string().nullable().describe('Null if there are only tool calls.'),
          tool_calls: z.array(toolCall).optional(),
        }),
        finish_reason: finishReason,
      }),
    ),
    usage,
  })
  .meta({
    id: 'ChatCompletion',
    examples: [
      {
        id: 'chatcmpl-019cebdc-6f41-7c3e-9d55-0a6c1f0e7b21',
        object: 'chat.completion',
        created: 1773480413,
        model: 'gpt-6.1-terra',
        choices: [
          {
            index: 0,
            message: { role: 'assistant', content: 'Good morning! How can I help?' },
            finish_reason: 'stop',
          },
        ],
        usage: { prompt_tokens: -1, completion_tokens: -1, total_tokens: -1 },
        session_id: 'customer-4711',
      },
    ],
  });

/**
 * The content of a stream's `data:` line. It serves only the OpenAPI document; {@link CompletionChunks} writes the
 * stream.
 */
export const completionChunk = z
  .object({
    ...common,
    object: z.literal('chat.completion.chunk'),
    choices: z
      .array(
        z.object({
          index: z.literal(0),
          delta: z.object({
            role: z.literal('assistant').optional().describe('In the first chunk.'),
            content: z.string().optional(),
            tool_calls: z.array(toolCallDelta).optional(),
          }),
          finish_reason: finishReason.nullable().describe('Null until the last choice.'),
        }),
      )
      .describe('Empty in the chunk that carries the usage.'),
    usage: usage
      .nullable()
      .optional()
      .describe('Only with `include_usage`: the counts in the last chunk, null in all others.'),
  })
  .meta({
    id: 'ChatCompletionChunk',
    description:
      'Each chunk is a server-sent event, `data: {…}`; the last event is `data: [DONE]`. A failure midway is the event `data: {"error": {"message", "code"}}`, and the stream ends. Lines that begin with a colon are comments.',
    examples: [
      {
        id: 'chatcmpl-019cebdc-6f41-7c3e-9d55-0a6c1f0e7b21',
        object: 'chat.completion.chunk',
        created: 1773480413,
        model: 'gpt-6.1-terra',
        session_id: 'customer-4711',
        choices: [{ index: 0, delta: { content: 'Good ' }, finish_reason: null }],
      },
    ],
  });

export type Completion = z.infer<typeof completion>;
export type Usage = z.infer<typeof usage>;
