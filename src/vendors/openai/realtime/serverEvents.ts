import { z } from 'zod';
import type { Usage } from '../../../models/ports/chatModel.ts';

/** The messages of the Realtime API that are read. Other messages are ignored. */
const error = z.object({
  message: z.string().default(''),
  type: z.string().nullish(),
  code: z.string().nullish(),
  event_id: z.string().nullish(),
});
const ofItem = { item_id: z.string() };
const ofResponse = { response_id: z.string().optional(), item_id: z.string().default('') };
const functionCall = z.object({
  type: z.literal('function_call'),
  call_id: z.string(),
  name: z.string(),
  arguments: z.string().default('{}'),
});
const outputItem = z.union([functionCall, z.object({ type: z.string() })]);
/** Tokens are counted whole: a server of the user's own may send an estimate, or none. */
const count = z.int().min(0).catch(0);
const usage = z.object({
  input_tokens: count,
  output_tokens: count,
  total_tokens: count,
  input_token_details: z.object({ cached_tokens: count }).nullish(),
});
const response = z.object({
  id: z.string().default(''),
  status: z.string().default('completed'),
  status_details: z.object({ error: error.nullish(), reason: z.string().nullish() }).nullish(),
  usage: usage.nullish(),
  output: z.array(outputItem).nullish(),
});

const serverEvent = z.discriminatedUnion('type', [
  z.object({ type: z.literal('input_audio_buffer.committed'), ...ofItem }),
  z.object({
    type: z.literal('conversation.item.input_audio_transcription.delta'),
    ...ofItem,
    delta: z.string().default(''),
  }),
  z.object({
    type: z.literal('conversation.item.input_audio_transcription.completed'),
    ...ofItem,
    transcript: z.string(),
  }),
  z.object({ type: z.literal('conversation.item.input_audio_transcription.failed'), ...ofItem }),
  z.object({ type: z.literal('response.created'), response }),
  z.object({ type: z.literal('response.output_audio.delta'), ...ofResponse, delta: z.string() }),
  z.object({ type: z.literal('response.output_audio_transcript.delta'), ...ofResponse, delta: z.string() }),
  z.object({
    type: z.literal('response.output_audio_transcript.done'),
    ...ofResponse,
    transcript: z.string(),
  }),
  z.object({ type: z.literal('response.output_text.delta'), ...ofResponse, delta: z.string() }),
  z.object({
    type: z.literal('response.function_call_arguments.delta'),
    response_id: z.string().optional(),
  }),
  z.object({
    type: z.literal('response.output_item.done'),
    response_id: z.string().optional(),
    item: outputItem,
  }),
  z.object({ type: z.literal('response.done'), response }),
  z.object({ type: z.literal('error'), error }),
]);

export type ServerEvent = z.infer<typeof serverEvent>;
export type OutputItem = z.infer<typeof outputItem>;
export type ReportedError = z.infer<typeof error>;
export type ServerResponse = z.infer<typeof response>;

const KNOWN: ReadonlySet<string> = new Set(serverEvent.options.map(({ shape }) => shape.type.value));
const message = z.looseObject({ type: z.string() });
/** Servers of before the API's general availability call speech and texts of an answer so. */
const OLDER_NAME = /^response\.(?=audio|text)/;

/** @returns Undefined for a message that is ignored. @throws {ZodError | SyntaxError} When the message is malformed. */
export function readServerEvent(text: string): ServerEvent | undefined {
  const read = message.parse(JSON.parse(text));
  const type = read.type.replace(OLDER_NAME, 'response.output_');
  return KNOWN.has(type) ? serverEvent.parse({ ...read, type }) : undefined;
}

export function usageOf(usage: NonNullable<ServerResponse['usage']>): Usage {
  return {
    promptTokens: usage.input_tokens,
    completionTokens: usage.output_tokens,
    totalTokens: usage.total_tokens,
    cachedTokens: usage.input_token_details?.cached_tokens ?? 0,
  };
}
