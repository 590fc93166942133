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
  .describe(
    'Id, type and name are in the first delta of an index; the arguments of all of them are to be joined.',
  );

const usage = z
  .object({ prompt_tokens: z.int(), completion_tokens: z.int(), total_tokens: z.int() })
  .describe(
    '-1 in all three unless `stream_options.include_usage` or the project’s `reportUsage` asks for counts.',
  );

const finishReason = z.enum(['stop', 'tool_calls']);

const common = {
  id: z.string().meta({ example: 'chatcmpl-019cebdc-6f41-7c3e-9d55-0a6c1f0e7b21' }),
  created: z.int().describe('Unix time in seconds.'),
  model: z.string().describe('The model that was used.'),
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
          content: z.string().nullable().describe('Null where there are only tool calls.'),
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
        model: 'gpt-5-mini',
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

/** What each `data:` line of a stream holds; for the document only, since the stream is written by hand. */
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
      .describe('With `include_usage` only: null, and the counts in the last chunk.'),
  })
  .meta({
    id: 'ChatCompletionChunk',
    description:
      'A server-sent event each, as `data: {…}`; after the last one comes `data: [DONE]`. A failure midway is `data: {"error": {"message", "code"}}` and the end. Lines that begin with a colon are comments.',
    examples: [
      {
        id: 'chatcmpl-019cebdc-6f41-7c3e-9d55-0a6c1f0e7b21',
        object: 'chat.completion.chunk',
        created: 1773480413,
        model: 'gpt-5-mini',
        session_id: 'customer-4711',
        choices: [{ index: 0, delta: { content: 'Good ' }, finish_reason: null }],
      },
    ],
  });

export type Completion = z.infer<typeof completion>;
export type Usage = z.infer<typeof usage>;
