import { z } from 'zod';
import type { StreamedResponse } from '../../models/failover/streamWithRetry.ts';
import type { EventData } from '../../models/http/serverSentEvents.ts';
import { type ChatEvent, type FinishReason, MAX_TOOL_CALLS } from '../../models/ports/chatModel.ts';
import { ModelError } from '../../models/ports/modelError.ts';
import { streamedError } from './errors.ts';

/** The longest answer, far above what a model writes. */
const MAX_ANSWER_CHARACTERS = 1_000_000;

const FINISH_REASONS: Readonly<Record<string, FinishReason>> = {
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  tool_use: 'tool_calls',
  refusal: 'content_filter',
};

const count = z.number().nullish();
const usage = z.object({
  input_tokens: count,
  output_tokens: count,
  cache_read_input_tokens: count,
  cache_creation_input_tokens: count,
});
const known = z.discriminatedUnion('type', [
  z.object({ type: z.literal('message_start'), message: z.object({ model: z.string(), usage }) }),
  z.object({
    type: z.literal('content_block_start'),
    index: z.number(),
    content_block: z.object({ type: z.string(), id: z.string().optional(), name: z.string().optional() }),
  }),
  z.object({
    type: z.literal('content_block_delta'),
    index: z.number(),
    delta: z.object({ type: z.string(), text: z.string().optional(), partial_json: z.string().optional() }),
  }),
  z.object({ type: z.literal('content_block_stop'), index: z.number() }),
  z.object({
    type: z.literal('message_delta'),
    delta: z.object({ stop_reason: z.string().nullish() }),
    usage: usage.optional(),
  }),
  z.object({ type: z.literal('message_stop') }),
]);
const named = z.looseObject({ type: z.string() });

interface OpenCall {
  readonly index: number;
  readonly id: string;
  readonly name: string;
  json: string;
}

export interface DecoderOptions {
  /** The model's name as the request had it. */
  readonly model: string;
  readonly redact: (text: string) => string;
}

export class AnthropicDecoder implements StreamedResponse<ChatEvent> {
  readonly chunks: AsyncIterable<EventData> | Iterable<EventData>;
  readonly #options: DecoderOptions;
  /** The open tool calls by the index of their content blocks. */
  readonly #calls = new Map<number, OpenCall>();
  #callCount = 0;
  #characters = 0;
  #model: string;
  #usage: z.infer<typeof usage> = {};
  #stopReason: string | undefined;
  #isDone = false;

  constructor(chunks: AsyncIterable<EventData> | Iterable<EventData>, options: DecoderOptions) {
    this.chunks = chunks;
    this.#options = options;
    this.#model = options.model;
  }

  get isComplete(): boolean {
    return this.#stopReason !== undefined;
  }

  decode({ data }: EventData): ChatEvent[] {
    if (this.#isDone || data.trim() === '') return [];
    const read = named.safeParse(parse(data));
    if (!read.success) throw malformed('something that is no event');
    if (read.data.type === 'error') throw streamedError(read.data, this.#options.redact);
    this.#characters += data.length;
    if (this.#characters > MAX_ANSWER_CHARACTERS) throw malformed('an answer that does not end');
    // Events of later versions are ignored, as the API wants it.
    const event = known.safeParse(read.data);
    return event.success ? this.#on(event.data) : [];
  }

  finish(): ChatEvent[] {
    if (this.#stopReason === undefined) throw malformed('an answer that broke off');
    const reason = FINISH_REASONS[this.#stopReason] ?? 'stop';
    const { input_tokens, output_tokens, cache_read_input_tokens, cache_creation_input_tokens } = this.#usage;
    const cachedTokens = cache_read_input_tokens ?? 0;
    const promptTokens = (input_tokens ?? 0) + cachedTokens + (cache_creation_input_tokens ?? 0);
    const completionTokens = output_tokens ?? 0;
    const totalTokens = promptTokens + completionTokens;
    return [
      {
        type: 'end',
        finishReason: reason,
        model: this.#model,
        usage: { promptTokens, completionTokens, totalTokens, cachedTokens },
      },
    ];
  }

  #on(event: z.infer<typeof known>): ChatEvent[] {
    switch (event.type) {
      case 'message_start':
        this.#model = event.message.model;
        this.#noteUsage(event.message.usage);
        return [];
      case 'content_block_start':
        return this.#onBlock(event.index, event.content_block);
      case 'content_block_delta':
        return this.#onDelta(event.index, event.delta);
      case 'content_block_stop':
        return this.#onBlockEnd(event.index);
      case 'message_delta':
        this.#stopReason = event.delta.stop_reason ?? this.#stopReason;
        this.#noteUsage(event.usage);
        return [];
      case 'message_stop':
        this.#isDone = true;
        return [];
    }
  }

  /** Later counts include earlier ones. Some gateways know those of the input only at the end. */
  #noteUsage(told: z.infer<typeof usage> = {}): void {
    const known = Object.entries(told).filter(([, tokens]) => tokens != null);
    this.#usage = { ...this.#usage, ...Object.fromEntries(known) };
  }

  #onBlock(
    block: number,
    { type, id = '', name = '' }: { type: string; id?: string | undefined; name?: string | undefined },
  ): ChatEvent[] {
    if (type !== 'tool_use') return [];
    const index = this.#callCount;
    this.#callCount += 1;
    if (this.#callCount > MAX_TOOL_CALLS) throw malformed('an answer that does not end');
    this.#calls.set(block, { index, id, name, json: '' });
    return [{ type: 'tool_call_delta', index, id, name, argumentsDelta: '' }];
  }

  #onDelta(
    block: number,
    { text = '', partial_json: json = '' }: { text?: string | undefined; partial_json?: string | undefined },
  ): ChatEvent[] {
    const call = this.#calls.get(block);
    if (call) {
      call.json += json;
      return json === '' ? [] : [{ type: 'tool_call_delta', index: call.index, argumentsDelta: json }];
    }
    return text === '' ? [] : [{ type: 'text', text }];
  }

  #onBlockEnd(block: number): ChatEvent[] {
    const call = this.#calls.get(block);
    if (!call) return [];
    this.#calls.delete(block);
    const { index, id, name, json } = call;
    return [{ type: 'tool_call', index, id, name, arguments: json === '' ? '{}' : json }];
  }
}

function parse(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    throw malformed('invalid JSON');
  }
}

function malformed(what: string): ModelError {
  return new ModelError('model_malformed', `Anthropic sent ${what}`);
}
