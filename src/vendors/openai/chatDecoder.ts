import type { MakeId } from '../../base/values/ids.ts';
import type { StreamedResponse } from '../../models/failover/streamWithRetry.ts';
import { DONE, type EventData } from '../../models/http/serverSentEvents.ts';
import {
  type ChatEvent,
  type FinishReason,
  MAX_TOOL_CALLS,
  type Usage,
} from '../../models/ports/chatModel.ts';
import { ModelError } from '../../models/ports/modelError.ts';
import type { OpenAiEndpoint } from './endpoint.ts';
import { streamedError } from './errors.ts';
import { asArray, asCount, asText, isRecord } from './looseJson.ts';
import { ToolCallAssembler } from './toolCallAssembler.ts';
import { WellFormedText } from './wellFormedText.ts';

/** The longest answer. It ends the answer of a model that repeats itself. */
const MAX_ANSWER_CHARACTERS = 1_000_000;

const FINISH_REASONS: Readonly<Record<string, FinishReason>> = {
  stop: 'stop',
  length: 'length',
  max_tokens: 'length',
  tool_calls: 'tool_calls',
  function_call: 'tool_calls',
  content_filter: 'content_filter',
};

export interface ChatDecoderOptions {
  readonly endpoint: Pick<OpenAiEndpoint, 'redact'>;
  readonly makeId: MakeId;
  readonly requestedModel: string;
}

/** Decodes the chunks of one answer, or a whole completion where an endpoint does not stream. */
export class ChatDecoder implements StreamedResponse<ChatEvent> {
  readonly chunks: AsyncIterable<EventData> | Iterable<EventData>;
  readonly #options: ChatDecoderOptions;
  readonly #calls: ToolCallAssembler;
  readonly #text = new WellFormedText();
  #characters = 0;
  #model: string;
  #usage: Usage | undefined;
  #finishReason: string | undefined;
  #hasChoice = false;
  #isDone = false;

  constructor(chunks: AsyncIterable<EventData> | Iterable<EventData>, options: ChatDecoderOptions) {
    this.chunks = chunks;
    this.#options = options;
    this.#calls = new ToolCallAssembler(options.makeId);
    this.#model = options.requestedModel;
  }

  get isComplete(): boolean {
    return this.#hasChoice && (this.#isDone || this.#finishReason !== undefined);
  }

  decode({ data }: EventData): ChatEvent[] {
    if (data === DONE) this.#isDone = true;
    if (this.#isDone || data.trim() === '') return [];
    const chunk = parse(data);
    if (!isRecord(chunk)) return [];
    if (chunk.error) throw streamedError(chunk.error, this.#options.endpoint);
    this.#model = asText(chunk.model) || this.#model;
    this.#usage = readUsage(chunk.usage) ?? this.#usage;
    // Only one is asked for; what a server sends of others is none of the answer.
    const choice = asArray(chunk.choices).find((one) => isRecord(one) && (one.index ?? 0) === 0);
    return isRecord(choice) ? this.#decodeChoice(choice) : [];
  }

  finish(): ChatEvent[] {
    if (!this.#hasChoice) throw malformed('sent no choice in');
    if (!this.isComplete) throw malformed('broke off in the middle of');
    const rest = this.#text.finish();
    const usage = this.#usage ? { usage: this.#usage } : {};
    return [
      ...(rest === '' ? [] : [{ type: 'text' as const, text: rest }]),
      ...this.#calls.finish(),
      { type: 'end', finishReason: this.#readFinishReason(), model: this.#model, ...usage },
    ];
  }

  #decodeChoice(choice: Readonly<Record<string, unknown>>): ChatEvent[] {
    this.#hasChoice = true;
    const events: ChatEvent[] = [];
    const delta = isRecord(choice.delta) ? choice.delta : choice.message;
    if (isRecord(delta)) {
      const text = this.#text.add(readContent(delta.content) || asText(delta.refusal));
      if (text !== '') events.push({ type: 'text', text });
      const calls = asArray(delta.tool_calls).flatMap((part) => this.#calls.add(part));
      this.#characters += calls.reduce((sum, { argumentsDelta }) => sum + argumentsDelta.length, text.length);
      if (this.#characters > MAX_ANSWER_CHARACTERS || this.#calls.count > MAX_TOOL_CALLS)
        throw malformed('does not end');
      events.push(...calls);
    }
    if (choice.finish_reason === 'error') throw streamedError(choice.error, this.#options.endpoint);
    if (asText(choice.finish_reason) !== '') {
      this.#finishReason = asText(choice.finish_reason);
      events.push(...this.#calls.finish());
    }
    return events;
  }

  /** Some endpoints finish an answer that calls tools with `stop`, and some have reasons of their own. */
  #readFinishReason(): FinishReason {
    const reason = FINISH_REASONS[this.#finishReason ?? ''] ?? 'stop';
    if (reason === 'stop' && this.#calls.count > 0) return 'tool_calls';
    return reason === 'tool_calls' && this.#calls.count === 0 ? 'stop' : reason;
  }
}

function parse(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    // The parser's own message would quote the answer.
    throw malformed('sent invalid JSON in');
  }
}

function malformed(problem: string): ModelError {
  return new ModelError('model_malformed', `The model's endpoint ${problem} its answer`);
}

/** Text, or a list of parts of which those with text count. */
function readContent(content: unknown): string {
  if (typeof content === 'string') return content;
  return asArray(content)
    .map((part) => (isRecord(part) && part.type === 'text' ? asText(part.text) : ''))
    .join('');
}

function readUsage(value: unknown): Usage | undefined {
  if (!isRecord(value)) return undefined;
  const promptTokens = asCount(value.prompt_tokens);
  const completionTokens = asCount(value.completion_tokens) ?? 0;
  if (promptTokens === undefined) return undefined;
  const details = isRecord(value.prompt_tokens_details) ? value.prompt_tokens_details : {};
  const cachedTokens = asCount(details.cached_tokens);
  return {
    promptTokens,
    completionTokens,
    totalTokens: asCount(value.total_tokens) ?? promptTokens + completionTokens,
    cachedTokens,
  };
}
