import type { MakeId } from '../../base/values/ids.ts';
import type { StreamedResponse } from '../../models/failover/streamWithRetry.ts';
import { DONE, type EventData } from '../../models/http/serverSentEvents.ts';
import {
  type ChatEvent,
  type FinishReason,
  MAX_TOOL_CALLS,
  type ToolCallDeltaEvent,
  type ToolCallEvent,
  type Usage,
} from '../../models/ports/chatModel.ts';
import { ModelError } from '../../models/ports/modelError.ts';
import { asArray, asCount, asText, isRecord, type Redactor, streamedError } from './errors.ts';

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
  readonly endpoint: Redactor;
  readonly makeId: MakeId;
  readonly requestedModel: string;
}

interface Draft {
  readonly index: number;
  /** The index that the endpoint sent; it may be missing, and several calls may share one. */
  readonly wireIndex: number | undefined;
  readonly wireId: string;
  readonly id: string;
  name: string;
  arguments: string;
  isAnnounced: boolean;
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
    const ofGroq = isRecord(chunk.x_groq) ? chunk.x_groq.usage : undefined;
    this.#usage = readUsage(chunk.usage) ?? readUsage(ofGroq) ?? this.#usage;
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
    // Moonshot has it here.
    this.#usage = readUsage(choice.usage) ?? this.#usage;
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
  if (promptTokens === undefined) return undefined;
  const answeredTokens = asCount(value.completion_tokens) ?? 0;
  const totalTokens = asCount(value.total_tokens) ?? promptTokens + answeredTokens;
  const details = isRecord(value.prompt_tokens_details) ? value.prompt_tokens_details : {};
  return {
    promptTokens,
    // Some endpoints, such as Google's and xAI's, leave the tokens of thoughts out of all but the total.
    completionTokens: Math.max(answeredTokens, totalTokens - promptTokens),
    totalTokens,
    // The names of DeepSeek, of Moonshot and Together, and of Mistral.
    cachedTokens:
      asCount(details.cached_tokens) ??
      asCount(value.prompt_cache_hit_tokens) ??
      asCount(value.cached_tokens) ??
      asCount(value.num_cached_tokens),
  };
}

/**
 * Assembles tool calls from an endpoint's deltas. Endpoints differ: some leave out `index` or use 0 for every call and
 * tell calls apart by their ids, some leave out ids, some repeat id and name in every delta, some send arguments as an
 * object. A call is announced with its first arguments, so that a name that comes in several deltas is complete.
 */
class ToolCallAssembler {
  readonly #makeId: MakeId;
  readonly #drafts: Draft[] = [];
  #isFinished = false;

  constructor(makeId: MakeId) {
    this.#makeId = makeId;
  }

  get count(): number {
    return this.#drafts.length;
  }

  /** @param delta - One element of a chunk's `tool_calls`; anything else is ignored. */
  add(delta: unknown): ToolCallDeltaEvent[] {
    if (this.#isFinished || !isRecord(delta)) return [];
    const called = isRecord(delta.function) ? delta.function : {};
    const name = asText(called.name);
    const wireIndex = typeof delta.index === 'number' ? delta.index : undefined;
    const draft = this.#findOrAdd(wireIndex, asText(delta.id), name);
    if (!draft) return [];
    if (!draft.isAnnounced && name !== draft.name) draft.name += name;
    const argumentsDelta = isRecord(called.arguments)
      ? JSON.stringify(called.arguments)
      : asText(called.arguments);
    if (argumentsDelta === '') return [];
    draft.arguments += argumentsDelta;
    return draft.name === '' ? [] : [announce(draft, argumentsDelta)];
  }

  /** @returns Announcements that are left and then every call, in order; nothing the second time. */
  finish(): (ToolCallDeltaEvent | ToolCallEvent)[] {
    if (this.#isFinished) return [];
    this.#isFinished = true;
    return this.#drafts
      .filter(({ name }) => name !== '')
      .flatMap((draft) => {
        const { index, id, name } = draft;
        const json = draft.arguments.trim() === '' ? '{}' : draft.arguments;
        const call: ToolCallEvent = { type: 'tool_call', index, id, name, arguments: json };
        return draft.isAnnounced ? [call] : [announce(draft, json), call];
      });
  }

  #findOrAdd(wireIndex: number | undefined, wireId: string, name: string): Draft | undefined {
    const known = this.#drafts.findLast((draft) => isSameCall(draft, wireIndex, wireId));
    if (known) return known;
    // A delta with neither a name nor an id belongs to no call.
    if (name === '' && wireId === '') return undefined;
    const id = wireId === '' ? `call_${this.#makeId().replaceAll('-', '')}` : wireId;
    const index = this.#drafts.length;
    const draft = { index, wireIndex, wireId, id, name: '', arguments: '', isAnnounced: false };
    this.#drafts.push(draft);
    return draft;
  }
}

function announce(draft: Draft, argumentsDelta: string): ToolCallDeltaEvent {
  const { index, id, name } = draft;
  if (draft.isAnnounced) return { type: 'tool_call_delta', index, argumentsDelta };
  draft.isAnnounced = true;
  return { type: 'tool_call_delta', index, id, name, argumentsDelta };
}

function isSameCall(draft: Draft, wireIndex: number | undefined, wireId: string): boolean {
  if (wireId !== '' && draft.wireId !== '' && wireId !== draft.wireId) return false;
  if (wireId !== '' && wireId === draft.wireId) return true;
  if (wireIndex !== undefined) return wireIndex === draft.wireIndex;
  return wireId === '';
}

/**
 * Joins surrogate pairs that an endpoint splits between two chunks. A lone surrogate and NUL become U+FFFD: neither can
 * be stored, and an endpoint refuses them when they are sent back.
 */
class WellFormedText {
  #highSurrogate = '';

  /** @returns The text up to the last whole character. */
  add(chunk: string): string {
    const text = this.#highSurrogate + chunk;
    this.#highSurrogate = endsWithHighSurrogate(text) ? text.slice(-1) : '';
    return clean(this.#highSurrogate === '' ? text : text.slice(0, -1));
  }

  /** @returns The remaining text. */
  finish(): string {
    const text = clean(this.#highSurrogate);
    this.#highSurrogate = '';
    return text;
  }
}

function endsWithHighSurrogate(text: string): boolean {
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd800 && last < 0xdc00;
}

function clean(text: string): string {
  return text.replaceAll('\0', '\ufffd').toWellFormed();
}
