import { invalid } from '../../base/errors.ts';
import type { FunctionCall, SessionMessage, SessionState } from '../session/session.ts';
import type { ExternalMessage, ToolResult, TurnInput, TurnRequest } from '../turn/turn.ts';

/** A message as a caller sends it, who keeps the talk on their side and sends all of it each time. */
export type GivenMessage = ExternalMessage | { readonly role: 'system'; readonly content: string };

/** A message of the talk, with its place in what was sent. */
interface Placed {
  readonly message: ExternalMessage;
  readonly index: number;
}

/** The calls that wait for their results, and those that have come. */
interface Waiting {
  readonly calls: readonly FunctionCall[];
  readonly results: Placed[];
}

/**
 * Tells what a caller's messages ask of a session, whose history they may repeat.
 *
 * Where they begin with all that the session knows, what follows is new; otherwise all of them are. An answer that was
 * interrupted may be shorter there, or missing: nobody knows how much of it had arrived. Of the new messages, results
 * of pending calls, or else the last words of the user, are the turn's input; what stands before is taken over as
 * history. A user who goes on talking without the results of pending calls lets these go. System messages are
 * instructions, wherever they stand.
 *
 * @param given - In the order of the talk; an error's path counts them from `/messages/0`.
 * @throws {CallwayError} 400 `nothing_to_answer`, `unknown_tool_call` or `missing_tool_results`.
 */
export function newMessages(
  state: Pick<SessionState, 'messages' | 'pendingToolCalls'>,
  given: readonly GivenMessage[],
): Pick<TurnRequest, 'input' | 'history' | 'instructions'> {
  const talk = given.flatMap((message, index) => (message.role === 'system' ? [] : [{ message, index }]));
  const fresh = talk.slice(countKnown(state.messages, talk));
  const instructions = given.flatMap(({ role, content }) => (role === 'system' && content ? [content] : []));
  const waiting = followCalls(state.pendingToolCalls, fresh);
  const last = fresh.at(-1);
  if (!last || last.message.role === 'assistant') throw nothingToAnswer(last, given.length);
  const results = last.message.role === 'tool' ? waiting.results : [];
  const history = fresh.slice(0, results.length > 0 ? -results.length : -1).map(({ message }) => message);
  return {
    input: results.length > 0 ? toolResults(results, waiting.calls) : words(last.message),
    ...(history.length > 0 ? { history } : {}),
    ...(instructions.length > 0 ? { instructions } : {}),
  };
}

/** How many of the given messages the session knows already: all that it has, or none. */
function countKnown(stored: readonly SessionMessage[], talk: readonly Placed[]): number {
  const known = stored.filter((message) => !message.internal && !isEmptyAnswer(message));
  if (known.length === 0) return 0;
  let position = 0;
  let isLastMissing = false;
  for (const message of known) {
    position = skipEmptyAnswers(talk, position);
    const other = talk[position]?.message;
    isLastMissing = !other || !isSame(message, other);
    if (!isLastMissing) position += 1;
    else if (!message.interrupted) return 0;
  }
  position = skipEmptyAnswers(talk, position);
  // Asked once more, since the answer broke off: what it answered counts as new.
  if (isLastMissing && position === talk.length)
    return talk.findLastIndex(({ message }) => message.role !== 'tool');
  return position;
}

function isSame(stored: SessionMessage, given: ExternalMessage): boolean {
  if (stored.role !== given.role || stored.tool_call_id !== given.tool_call_id) return false;
  if (callIds(stored) !== callIds(given)) return false;
  const ours = normalised(stored.content);
  const theirs = normalised(given.content);
  if (ours === theirs) return true;
  return stored.interrupted === true && theirs !== '' && (ours.startsWith(theirs) || theirs.startsWith(ours));
}

const callIds = ({ tool_calls }: Pick<ExternalMessage, 'tool_calls'>) =>
  JSON.stringify((tool_calls ?? []).map(({ id }) => id));

/** No words and empty words are the same, and so are texts that differ in the space around them or their line ends. */
function normalised(content: string | null): string {
  return (content ?? '').replaceAll('\r\n', '\n').trim();
}

/** Clients keep an answer without words or calls as a message; the session does not. */
function isEmptyAnswer(message: ExternalMessage): boolean {
  return message.role === 'assistant' && normalised(message.content) === '' && !message.tool_calls?.length;
}

function skipEmptyAnswers(talk: readonly Placed[], from: number): number {
  let position = from;
  for (let next = talk[position]; next && isEmptyAnswer(next.message); next = talk[position]) position += 1;
  return position;
}

/** Walks over the new messages, and holds each tool's result against the calls that were waiting there. */
function followCalls(pending: readonly FunctionCall[], fresh: readonly Placed[]): Waiting {
  let waiting: Waiting = { calls: pending, results: [] };
  for (const placed of fresh) {
    const { message } = placed;
    if (message.role === 'tool') {
      requireWaiting(waiting, placed);
      waiting.results.push(placed);
    } else {
      requireComplete(waiting);
      waiting = { calls: message.tool_calls ?? [], results: [] };
    }
  }
  requireComplete(waiting);
  return waiting;
}

function requireWaiting({ calls, results }: Waiting, { message, index }: Placed): void {
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

/** All results come together, or none. */
function requireComplete({ calls, results }: Waiting): void {
  const [first] = results;
  if (!first) return;
  const missing = calls.filter(({ id }) => !results.some(({ message }) => message.tool_call_id === id));
  if (missing.length === 0) return;
  const problem = `messages lacks the results of the tool calls ${missing.map(({ id }) => id).join(', ')}`;
  throw invalid('missing_tool_results', problem, [{ path: `/messages/${first.index}`, message: problem }]);
}

function nothingToAnswer(last: Placed | undefined, count: number) {
  const problem = last
    ? 'messages must end with a user message or the results of tool calls, not with an assistant message'
    : 'messages has nothing new to answer; add a user message';
  return invalid('nothing_to_answer', problem, [
    { path: `/messages/${last?.index ?? Math.max(0, count - 1)}`, message: problem },
  ]);
}

function words({ content }: ExternalMessage): TurnInput {
  return { kind: 'words', text: content ?? '' };
}

function toolResults(results: readonly Placed[], calls: readonly FunctionCall[]): TurnInput {
  return {
    kind: 'tool_results',
    results: results.map(({ message }): ToolResult => {
      const toolCallId = message.tool_call_id ?? '';
      const name = message.name ?? calls.find(({ id }) => id === toolCallId)?.function.name;
      return { toolCallId, content: message.content ?? '', ...(name === undefined ? {} : { name }) };
    }),
  };
}
