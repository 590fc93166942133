import type { FastifyReply, FastifyRequest } from 'fastify';

import type { ExecutionMode } from '../../agents/agentConfig.ts';
import { CallwayError } from '../../base/errors.ts';
import { noopTracer, withSpan } from '../../base/tracing.ts';
import type { BuildTurnRequest } from '../../engine/conversationEngine.ts';
import { ClientConversation } from '../../engine/history/clientConversation.ts';
import { mayRepeatAll, newMessages } from '../../engine/history/newMessages.ts';
import {
  type FunctionCall,
  MAX_SESSION_CHARACTERS,
  type NewSession,
  type Session,
} from '../../engine/session/session.ts';
import type { TurnDone, TurnRequest, TurnSink, TurnUsage } from '../../engine/turn/turn.ts';
import { ModelError } from '../../models/ports/modelError.ts';
import { disconnectSignal } from '../disconnectSignal.ts';
import { errorBody } from '../errors.ts';
import { type EventStream, openEventStream } from '../eventStream.ts';
import { keyOf } from '../plugins/accessControl.ts';
import type { HttpDeps } from '../ports.ts';
import { sessionIdOfHeader, setSessionIdHeader, traceparentOf, wantsDraft } from '../requestHeaders.ts';
import { providerOf, requireOwnSession, requireVisitorChat, visitorOf } from '../visitors.ts';
import { CompletionChunks, failureEvent, STREAM_DONE } from './completionChunks.ts';
import type { Completion, Usage } from './completionSchemas.ts';
import { type ChatBody, toGivenMessages, turnSettings } from './requestBody.ts';

const UNREPORTED: Usage = { prompt_tokens: -1, completion_tokens: -1, total_tokens: -1 };

/** Other requests may continue the same session; after so many a new one is quicker. */
const MAX_SESSIONS_TRIED = 3;

/** The session that the request continues went on, ended, or is too long for it. */
class SessionGoneOnError extends Error {
  override readonly name = 'SessionGoneOnError';
}

/** How a family of chat routes differs from the others. */
export interface ChatFlavor {
  /** Whether a whole answer has its token counts unasked. */
  readonly reportsUsage: boolean;
  /** Whether each failure before the model's first token is 500 `model_unavailable`. */
  readonly namesModelFailure: boolean;
  /** The execution mode that a new session is asked to have. */
  executionMode(body: ChatBody): ExecutionMode | undefined;
}

/** One request as its route got it. */
export interface ChatCall {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly projectId: string;
  readonly body: ChatBody;
}

interface ChatRequest extends ChatCall {
  readonly flavor: ChatFlavor;
  readonly session: NewSession;
  readonly conversation: ClientConversation;
  /** Whether the session was named, continued or created. */
  readonly choice: 'named' | 'continued' | 'new';
  /** Aborted when the client disconnects. */
  readonly signal: AbortSignal;
}

type RunTurn = (sink: TurnSink) => Promise<void>;

/** Answers a chat completion request on its session, as a stream or whole. */
export async function answerChat(
  deps: HttpDeps,
  flavor: ChatFlavor,
  call: ChatCall,
): Promise<Completion | FastifyReply> {
  const { request, reply, projectId, body } = call;
  const signal = disconnectSignal(reply);
  const draft = wantsDraft(request);
  const { keyId } = keyOf(request);
  const visitor = visitorOf(request);
  if (visitor) requireVisitorChat(body);
  const conversation = new ClientConversation(toGivenMessages(body.messages), { keyId, draft });
  const executionMode = flavor.executionMode(body);
  const answerOn = async (choice: ChatRequest['choice'], sessionId: string) => {
    setSessionIdHeader(reply, sessionId);
    const session: NewSession = {
      projectId,
      sessionId,
      channel: 'chat',
      isNew: choice === 'new',
      draft,
      executionMode,
      provider: visitor ? providerOf(visitor) : undefined,
    };
    return await answerInSpan(deps, { ...call, flavor, session, conversation, choice, signal });
  };
  const givenId = sessionIdOfHeader(request) ?? body.session_id ?? undefined;
  if (visitor && givenId !== undefined)
    await requireOwnSession(deps.sessions.conversations, visitor, givenId);
  if (givenId !== undefined) return await answerOn('named', givenId);
  // Visitors share a token: what one of them repeats may be the words of another.
  if (visitor) return await answerOn('new', deps.makeId());
  const goneOn: string[] = [];
  while (goneOn.length < MAX_SESSIONS_TRIED) {
    const continued = await deps.sessions.conversations.findContinued(projectId, conversation, goneOn);
    if (continued === undefined) break;
    try {
      return await answerOn('continued', continued);
    } catch (error) {
      if (!(error instanceof SessionGoneOnError)) throw error;
      goneOn.push(continued);
    }
  }
  return await answerOn('new', deps.makeId());
}

/** Runs the request as a span of the client's trace, or of a new trace; the turn is a child span. */
async function answerInSpan(deps: HttpDeps, chat: ChatRequest): Promise<Completion | FastifyReply> {
  const { request, session } = chat;
  const span = (deps.operations.tracing ?? noopTracer).startSpan(`POST ${request.routeOptions.url ?? ''}`, {
    kind: 'server',
    parent: traceparentOf(request),
    attributes: {
      'http.request.method': 'POST',
      'http.route': request.routeOptions.url,
      'callway.project.id': session.projectId,
      'callway.request.id': request.id,
      'session.id': session.sessionId,
    },
  });
  const { traceparent } = span;
  const traced = traceparent === undefined ? session : { ...session, traceparent };
  return await withSpan(span, () => answer(deps, { ...chat, session: traced }));
}

async function answer(deps: HttpDeps, chat: ChatRequest): Promise<Completion | FastifyReply> {
  const { reply, body, session, flavor, conversation, choice, signal } = chat;
  const settings = turnSettings(body);
  const buildRequest: BuildTurnRequest = async (current) => {
    if (choice === 'continued' && conversation.repeatedIn(current) === undefined)
      throw new SessionGoneOnError();
    const known = mayRepeatAll(current, conversation)
      ? await deps.sessions.conversations.withAllMessages(current)
      : current;
    const isWhole = body.stream === true ? undefined : true;
    const request: TurnRequest = { ...settings, ...newMessages(known, conversation), isWhole };
    if (!hasRoom(known, request)) throw choice === 'continued' ? new SessionGoneOnError() : sessionTooLarge();
    const walksHistory = choice !== 'named' && known.state.currentNodeId === null && request.history;
    return walksHistory ? { ...request, walksHistory: true } : request;
  };
  const run: RunTurn = (sink) => deps.sessions.conversations.runTurn(session, buildRequest, sink, signal);
  try {
    if (body.stream !== true) return await answerWhole(deps, chat, run);
    await answerStreaming(deps, chat, run);
  } catch (error) {
    if (!signal.aborted) throw flavor.namesModelFailure ? toModelUnavailable(error) : error;
  }
  return reply;
}

function hasRoom({ characters = 0 }: Session, { history = [], input }: TurnRequest): boolean {
  return characters === 0 || characters + JSON.stringify([history, input]).length <= MAX_SESSION_CHARACTERS;
}

function sessionTooLarge(): CallwayError {
  const message = `The messages of this session would have more than ${MAX_SESSION_CHARACTERS} characters; go on in a new session`;
  return new CallwayError('too_large', 'session_too_large', message);
}

/** Gives every failure before the model's first token one code; the message says the cause. */
function toModelUnavailable(error: unknown): unknown {
  if (!(error instanceof ModelError) || !error.beforeFirstToken) return error;
  const { message, retryAfterSeconds } = error;
  const retry = retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
  return new CallwayError('internal', 'model_unavailable', message, { cause: error, ...retry });
}

async function answerWhole(deps: HttpDeps, chat: ChatRequest, run: RunTurn): Promise<Completion> {
  const { session, body, flavor } = chat;
  let text = '';
  const toolCalls: FunctionCall[] = [];
  const outcome: { done?: TurnDone } = {};
  const turn = run((output) => {
    if (output.type === 'text' || output.type === 'filler') text += output.text;
    else if (output.type === 'tool_call') toolCalls.push(output.call);
    else if (output.type === 'done') outcome.done = output;
    return undefined;
  });
  const wantsUsage = flavor.reportsUsage || body.stream_options?.include_usage === true;
  const [isReported] = await Promise.all([wantsUsage || projectReportsUsage(deps, session), turn]);
  const { done } = outcome;
  if (!done) throw new Error('the turn ended without an outcome');
  return {
    id: `chatcmpl-${deps.makeId()}`,
    object: 'chat.completion',
    created: Math.floor(deps.clock.now() / 1000),
    model: done.model,
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: text === '' && toolCalls.length > 0 ? null : text,
          tool_calls: toolCalls.length > 0 ? toolCalls : undefined,
        },
        finish_reason: done.finishReason,
      },
    ],
    usage: isReported ? toUsage(done.usage) : UNREPORTED,
    session_id: session.sessionId,
  };
}

/** Opens the stream with the first output. A failure before it is an error response, a later one is an event. */
async function answerStreaming(
  deps: HttpDeps,
  { request, reply, session, body, signal }: ChatRequest,
  run: RunTurn,
): Promise<void> {
  const withUsage = body.stream_options?.include_usage === true;
  const id = `chatcmpl-${deps.makeId()}`;
  const created = Math.floor(deps.clock.now() / 1000);
  let model = '';
  let chunks: CompletionChunks | undefined;
  let stream: EventStream | undefined;
  let isDone = false;
  const sink: TurnSink = (output) => {
    if (output.type === 'start') model = output.model;
    // Transfers, DTMF digits and a model's own speech need a phone line.
    if (output.type === 'start' || output.type === 'action' || output.type === 'speech') return undefined;
    chunks ??= new CompletionChunks({ id, created, model, sessionId: session.sessionId }, withUsage);
    const opening = stream ? '' : chunks.role();
    stream ??= openEventStream(reply, deps.clock);
    if (output.type === 'tool_call')
      return stream.write(opening + chunks.toolCall(output.index, output.call));
    if (output.type !== 'done') return stream.write(opening + chunks.text(output.text));
    isDone = true;
    const usage = withUsage ? chunks.usage(toUsage(output.usage)) : '';
    stream.end(opening + chunks.finish(output.finishReason) + usage + STREAM_DONE);
    return undefined;
  };
  try {
    await run(sink);
    if (!isDone) throw new Error('the turn ended without an outcome');
  } catch (error) {
    if (signal.aborted || !stream) throw error;
    request.log.error({ requestId: request.id, err: error }, 'chat stream failed midway');
    if (!isDone) stream.end(failureEvent(errorBody(error, request).body));
  }
}

async function projectReportsUsage(deps: HttpDeps, { projectId }: NewSession): Promise<boolean> {
  const project = await deps.storage.stores.projects.find(projectId);
  return project?.reportUsage ?? false;
}

function toUsage({ promptTokens, completionTokens, totalTokens }: TurnUsage): Usage {
  return { prompt_tokens: promptTokens, completion_tokens: completionTokens, total_tokens: totalTokens };
}
