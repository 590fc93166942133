import type { ChatMessage } from '../../models/ports/chatMessage.ts';
import type { FunctionCall, SessionMessage, SessionState } from '../session/session.ts';

/** The share of a model's context for the conversation; the rest is for prompts, tools and the answer. */
export const CONTEXT_BUDGET_TOKENS = 8_000;
/** About; in Chinese, Japanese, Korean or Thai one character is about one token. */
const LATIN_CHARACTERS_PER_TOKEN = 4;
const FIRST_WIDE_CHARACTER = 0xe00;
const [FIRST_LOW_SURROGATE, LAST_LOW_SURROGATE] = [0xdc00, 0xdfff];
const MESSAGE_OVERHEAD_TOKENS = 4;
/** What is left of each message of a conversation that is too long as a whole. */
const MAX_SHORTENED_CHARACTERS = 2_000;

/** A cautious estimate: each model counts differently. */
export function estimateTokens(text: string): number {
  let wide = 0;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    if (unit >= FIRST_WIDE_CHARACTER && !(unit >= FIRST_LOW_SURROGATE && unit <= LAST_LOW_SURROGATE))
      wide += 1;
  }
  return wide + Math.ceil((text.length - wide) / LATIN_CHARACTERS_PER_TOKEN);
}

export type SummarizedMessages = Pick<SessionState, 'messages' | 'summary'>;

/**
 * The conversation as a model gets it: the summary, then the newest messages that fit. Never starts with a tool result
 * whose call is left out.
 */
export function contextMessages(state: SummarizedMessages): ChatMessage[] {
  const from = state.summary?.upTo ?? 0;
  const recent = newestThatFit(state.messages.slice(from), CONTEXT_BUDGET_TOKENS * 2);
  const summary: ChatMessage[] = state.summary
    ? [{ role: 'system', content: `What was said before:\n${state.summary.text}` }]
    : [];
  return [...summary, ...completed(recent).map(toChatMessage)];
}

/**
 * A whole conversation as a model gets it after its end. Of one that has more bytes, what was said first and last, without
 * tools.
 */
export function wholeConversation(messages: readonly SessionMessage[], maxBytes: number): ChatMessage[] {
  const all = completed(messages).map(toChatMessage);
  if (bytesOf(all) <= maxBytes) return all;
  const words = messages.flatMap(({ role, content }): ChatMessage[] =>
    (role === 'user' || role === 'assistant') && content
      ? [{ role, content: content.slice(0, MAX_SHORTENED_CHARACTERS).toWellFormed() }]
      : [],
  );
  let left = maxBytes;
  const take = (from: readonly ChatMessage[], leave: number): number => {
    const end = from.findIndex((message) => {
      const bytes = bytesOf(message);
      if (left - bytes < leave) return true;
      left -= bytes;
      return false;
    });
    return end < 0 ? from.length : end;
  };
  const first = take(words, (maxBytes * 2) / 3);
  const last = take(words.slice(first).reverse(), 0);
  const leftOut = words.length - first - last;
  if (leftOut === 0) return words;
  const gap: ChatMessage = { role: 'system', content: `${leftOut} messages are left out here.` };
  return [...words.slice(0, first), gap, ...words.slice(words.length - last)];
}

function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

/** Needed where a summary failed. */
function newestThatFit(messages: readonly SessionMessage[], budgetTokens: number): readonly SessionMessage[] {
  let left = budgetTokens;
  let first = messages.length;
  while (first > 0) {
    left -= messageTokens(messages[first - 1]);
    if (left < 0 && first < messages.length) break;
    first -= 1;
  }
  while (messages[first]?.role === 'tool') first += 1;
  return messages.slice(first);
}

/** @returns 0 for no message. */
export function messageTokens(message: SessionMessage | undefined): number {
  if (!message) return 0;
  const calls = message.tool_calls ? JSON.stringify(message.tool_calls) : '';
  return MESSAGE_OVERHEAD_TOKENS + estimateTokens((message.content ?? '') + calls);
}

/** Providers reject a tool call without its result: such a call is left out, its words stay. */
function completed(messages: readonly SessionMessage[]): SessionMessage[] {
  const answered = new Set(messages.map(({ tool_call_id }) => tool_call_id));
  const called = new Set<string>();
  return messages.flatMap((message) => {
    if (message.role === 'user' || message.role === 'system') return message;
    if (message.role === 'tool') return called.has(message.tool_call_id ?? '') ? [message] : [];
    const calls = (message.tool_calls ?? []).filter(({ id }) => answered.has(id));
    for (const { id } of calls) called.add(id);
    return withCalls(message, calls);
  });
}

function withCalls(message: SessionMessage, calls: readonly FunctionCall[]): SessionMessage[] {
  if (calls.length > 0) return [{ ...message, tool_calls: calls }];
  // The customer heard nothing of this answer.
  if (!message.content) return [];
  const { tool_calls: uncalled, ...words } = message;
  return [uncalled ? words : message];
}

function toChatMessage(message: SessionMessage): ChatMessage {
  if (message.role === 'tool') {
    return { role: 'tool', toolCallId: message.tool_call_id ?? '', content: message.content ?? '' };
  }
  if (message.role === 'user' || message.role === 'system')
    return { role: message.role, content: message.content ?? '' };
  const toolCalls = message.tool_calls?.map(({ id, function: called }) => ({ id, ...called }));
  return { role: 'assistant', content: message.content, toolCalls };
}
