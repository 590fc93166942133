import type { MakeId } from '../../base/ids.ts';
import type { ChatEvent, EndEvent, FinishReason, Usage } from '../ports/chatModel.ts';
import { createToolCallAssembler, type ToolCallAssembler } from './toolCallAssembler.ts';
import { createWholeText } from './wholeText.ts';
import { countOf, isRecord, listOf, textOf } from './wire.ts';

const FINISH_REASONS: Readonly<Record<string, FinishReason>> = {
  stop: 'stop',
  length: 'length',
  max_tokens: 'length',
  tool_calls: 'tool_calls',
  function_call: 'tool_calls',
  content_filter: 'content_filter',
};

/** Turns the chunks of one answer into events. */
export interface ChatReader {
  /** @param chunk - One parsed chunk, or a whole completion where an endpoint does not stream. */
  read(chunk: unknown): ChatEvent[];
  /** Whether the answer's last chunk with content has come; only the usage may still follow. */
  readonly isFinished: boolean;
  /** Whether there was an answer in what was read, be it an empty one. */
  readonly hasAnswer: boolean;
  /** Whether any event was read. */
  readonly hasBegun: boolean;
  /** The end of the answer, after what was still to be told. */
  finish(): ChatEvent[];
}

export function createChatReader(requestedModel: string, makeId: MakeId): ChatReader {
  const calls = createToolCallAssembler(makeId);
  const words = createWholeText();
  let model = requestedModel;
  let usage: Usage | undefined;
  let wireReason: string | undefined;
  let begun = false;
  let hasAnswer = false;

  const readChoice = (choice: Readonly<Record<string, unknown>>): ChatEvent[] => {
    const events: ChatEvent[] = [];
    const delta = isRecord(choice.delta) ? choice.delta : choice.message;
    if (isRecord(delta)) {
      const text = words.add(contentOf(delta.content) || textOf(delta.refusal));
      if (text !== '') events.push({ type: 'text', text });
      for (const piece of listOf(delta.tool_calls)) events.push(...calls.add(piece));
    }
    if (typeof choice.finish_reason === 'string' && choice.finish_reason !== '') {
      wireReason = choice.finish_reason;
      events.push(...calls.finish());
    }
    if (events.length > 0) begun = true;
    return events;
  };

  return {
    get isFinished() {
      return wireReason !== undefined;
    },
    get hasAnswer() {
      return hasAnswer;
    },
    get hasBegun() {
      return begun;
    },
    read(chunk) {
      if (!isRecord(chunk)) return [];
      if (typeof chunk.model === 'string' && chunk.model !== '') model = chunk.model;
      usage = usageOf(chunk.usage) ?? usage;
      const [choice] = listOf(chunk.choices);
      if (!isRecord(choice)) return [];
      hasAnswer = true;
      return readChoice(choice);
    },
    finish() {
      const finishReason = finishReasonOf(wireReason, calls);
      const end: EndEvent = { type: 'end', finishReason, model, ...(usage ? { usage } : {}) };
      const rest = words.finish();
      return [...(rest === '' ? [] : [{ type: 'text' as const, text: rest }]), ...calls.finish(), end];
    },
  };
}

/** Some endpoints end an answer that calls tools with `stop`, and some have reasons of their own. */
function finishReasonOf(wireReason: string | undefined, calls: ToolCallAssembler): FinishReason {
  const reason = FINISH_REASONS[wireReason ?? ''] ?? 'stop';
  if (reason === 'stop' && calls.count > 0) return 'tool_calls';
  return reason === 'tool_calls' && calls.count === 0 ? 'stop' : reason;
}

/** Text, or a list of parts of which those with text count. */
function contentOf(content: unknown): string {
  if (typeof content === 'string') return content;
  return listOf(content)
    .map((part) => (isRecord(part) && part.type === 'text' ? textOf(part.text) : ''))
    .join('');
}

function usageOf(value: unknown): Usage | undefined {
  if (!isRecord(value)) return undefined;
  const promptTokens = countOf(value.prompt_tokens);
  const completionTokens = countOf(value.completion_tokens) ?? 0;
  if (promptTokens === undefined) return undefined;
  const details = isRecord(value.prompt_tokens_details) ? value.prompt_tokens_details : {};
  const cachedTokens = countOf(details.cached_tokens);
  return {
    promptTokens,
    completionTokens,
    totalTokens: countOf(value.total_tokens) ?? promptTokens + completionTokens,
    ...(cachedTokens === undefined ? {} : { cachedTokens }),
  };
}
