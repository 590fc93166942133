import { invalid } from '../../base/errors.ts';
import type { FunctionCall, SessionMessage } from '../session/session.ts';
import type { ExternalMessage, ToolResult, TurnInput, TurnRequest } from '../turn/turn.ts';
import {
  type ClientConversation,
  type IndexedMessage,
  isEmptyAnswer,
  isPartOf,
  type KnownConversation,
  normalizedContent,
} from './clientConversation.ts';

/** Pending tool calls with the results received so far. */
interface PendingCalls {
  readonly calls: readonly FunctionCall[];
  readonly results: IndexedMessage[];
}

/**
 * Finds the new messages of a request, which may repeat the session's history. Ask {@link mayRepeatAll} before.
 *
 * Where the messages start with the session's whole history, what follows is new; otherwise all of them are. An
 * interrupted answer may be shortened or missing there, since the client may not have received all of it. Of the new
 * messages, the results of pending tool calls, or else the last user message, are the turn's input; those before it are
 * added to the history. A user message without the results of pending calls drops these calls. System messages are
 * instructions at any position; where the last message is one, and no user message is new, the agent speaks unasked.
 *
 * @returns The turn's input and messages, with the digest by which the client's next request is found.
 * @throws {CallwayError} 400 `nothing_to_answer`, `unknown_tool_call` or `missing_tool_results`.
 */
export function newMessages(
  session: KnownConversation,
  conversation: ClientConversation,
): Pick<TurnRequest, 'input' | 'history' | 'instructions' | 'digest'> {
  const { messages, pendingToolCalls } = session.state;
  const continuedAt = conversation.repeatedIn(session);
  const repeated = continuedAt ?? countRepeated(messages, conversation.messages);
  const fresh = conversation.messages.slice(repeated);
  const pending = followCalls(pendingToolCalls, fresh);
  const last = fresh.at(-1);
  const hasInput = last !== undefined && last.message.role !== 'assistant';
  const isAskedToSpeak = conversation.endsWithInstruction && !last?.message.tool_calls?.length;
  if (!hasInput && !isAskedToSpeak) throw nothingToAnswer(last, conversation.givenCount);
  const results = last?.message.role === 'tool' ? pending.results : [];
  const inputLength = hasInput ? Math.max(1, results.length) : 0;
  const history = fresh.slice(0, fresh.length - inputLength).map(({ message }) => message);
  const { instructions } = conversation;
  const sendsAll = continuedAt !== undefined || repeated > 0 || messages.length === 0;
  return {
    input: inputOf(hasInput ? last : undefined, results, pending.calls),
    history: history.length > 0 ? history : undefined,
    instructions: instructions.length > 0 ? instructions : undefined,
    digest: sendsAll ? conversation.digest() : conversation.digest(session.digest ?? null),
  };
}

/**
 * Whether {@link newMessages} needs all messages of the session: the request is long enough to repeat them, and their
 * digest does not tell.
 */
export function mayRepeatAll(session: KnownConversation, conversation: ClientConversation): boolean {
  const { state } = session;
  const repeatable = state.messages.filter((message) => isShown(message) && !message.interrupted);
  return (
    (state.messagesBefore ?? 0) > 0 &&
    repeatable.length <= conversation.messages.length &&
    conversation.repeatedIn(session) === undefined
  );
}

/** Returns how many messages repeat the session's history: the whole history, or none. */
function countRepeated(stored: readonly SessionMessage[], conversation: readonly IndexedMessage[]): number {
  const known = stored.filter(isShown);
  if (known.length === 0) return 0;
  let position = 0;
  let isLastMissing = false;
  for (const message of known) {
    position = skipEmptyAnswers(conversation, position);
    const other = conversation[position]?.message;
    isLastMissing = !other || !isSame(message, other);
    if (!isLastMissing) position += 1;
    else if (!message.interrupted) return 0;
  }
  position = skipEmptyAnswers(conversation, position);
  // The interrupted answer is asked for again: its question counts as new.
  if (isLastMissing && position === conversation.length)
    return conversation.findLastIndex(({ message }) => message.role !== 'tool');
  return position;
}

/** Whether clients see the message. */
function isShown(message: SessionMessage): boolean {
  return !message.internal && !isEmptyAnswer(message);
}

function isSame(stored: SessionMessage, given: ExternalMessage): boolean {
  if (stored.role !== given.role || stored.tool_call_id !== given.tool_call_id) return false;
  if (callIds(stored) !== callIds(given)) return false;
  if (normalizedContent(stored.content) === normalizedContent(given.content)) return true;
  return stored.interrupted === true && isPartOf(given, stored);
}

const callIds = ({ tool_calls }: ExternalMessage) => JSON.stringify((tool_calls ?? []).map(({ id }) => id));

function skipEmptyAnswers(conversation: readonly IndexedMessage[], from: number): number {
  let position = from;
  for (let next = conversation[position]; next && isEmptyAnswer(next.message); next = conversation[position])
    position += 1;
  return position;
}

/** Checks each tool result against the calls that are pending at its position. */
function followCalls(calls: readonly FunctionCall[], fresh: readonly IndexedMessage[]): PendingCalls {
  let pending: PendingCalls = { calls, results: [] };
  for (const indexed of fresh) {
    const { message } = indexed;
    if (message.role === 'tool') {
      requirePending(pending, indexed);
      pending.results.push(indexed);
    } else {
      requireComplete(pending);
      pending = { calls: message.tool_calls ?? [], results: [] };
    }
  }
  requireComplete(pending);
  return pending;
}

function requirePending({ calls, results }: PendingCalls, { message, index }: IndexedMessage): void {
  const id = message.tool_call_id;
  const isKnown = calls.some((call) => call.id === id);
  if (isKnown && !results.some((result) => result.message.tool_call_id === id)) return;
  const problem = isKnown
    ? `tool_call_id ${id} has its result already`
    : `tool_call_id ${id} matches no pending tool call`;
  throw invalid('unknown_tool_call', problem, [
    { path: `/messages/${index}/tool_call_id`, message: problem },
  ]);
}

/** Results come for all pending calls or for none. */
function requireComplete({ calls, results }: PendingCalls): void {
  const [first] = results;
  if (!first) return;
  const missing = calls.filter(({ id }) => !results.some(({ message }) => message.tool_call_id === id));
  if (missing.length === 0) return;
  const problem = `messages lacks the results of the tool calls ${missing.map(({ id }) => id).join(', ')}`;
  throw invalid('missing_tool_results', problem, [{ path: `/messages/${first.index}`, message: problem }]);
}

function nothingToAnswer(last: IndexedMessage | undefined, count: number) {
  const problem = last
    ? 'messages must end with a user message or the results of tool calls, not with an assistant message'
    : 'messages has nothing new to answer; add a user message';
  return invalid('nothing_to_answer', problem, [
    { path: `/messages/${last?.index ?? Math.max(0, count - 1)}`, message: problem },
  ]);
}

/** Returns the turn's input. When there is no message to answer, the agent speaks at its node. */
function inputOf(
  last: IndexedMessage | undefined,
  results: readonly IndexedMessage[],
  calls: readonly FunctionCall[],
): TurnInput {
  if (!last) return { kind: 'begin' };
  if (results.length > 0) return toolResults(results, calls);
  return { kind: 'user_message', text: last.message.content ?? '' };
}

function toolResults(results: readonly IndexedMessage[], calls: readonly FunctionCall[]): TurnInput {
  return {
    kind: 'tool_results',
    results: results.map(({ message }): ToolResult => {
      const toolCallId = message.tool_call_id ?? '';
      const name = message.name ?? calls.find(({ id }) => id === toolCallId)?.function.name;
      return { toolCallId, content: message.content ?? '', name };
    }),
  };
}
