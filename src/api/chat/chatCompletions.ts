import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';

import { CallwayError } from '../../base/errors.ts';
import { noopTracer, withSpan } from '../../base/tracing.ts';
import { newMessages } from '../../engine/history/newMessages.ts';
import type { FunctionCall, NewSession } from '../../engine/session/session.ts';
import type { TurnDone, TurnSink, TurnUsage } from '../../engine/turn/turn.ts';
import { PASSED_THROUGH } from '../../providers/ports/chatModel.ts';
import { ModelError } from '../../providers/ports/modelError.ts';
import { errorBody } from '../errors.ts';
import { LEGACY_PATHS, onBothPaths } from '../legacyPaths.ts';
import type { App, HttpDeps } from '../ports.ts';
import {
  agentVersionHeaders,
  SESSION_HEADER,
  sendAsBytes,
  sessionIdOfHeader,
  setSessionIdHeader,
  traceparentOf,
  wantsDraft,
} from '../requestHeaders.ts';
import { about, errors, projectParams } from '../schemas.ts';
import { CompletionChunks, failureEvent, STREAM_DONE } from './completionChunks.ts';
import { type Completion, completion, completionChunk, type Usage } from './completionSchemas.ts';
import { type EventStream, openEventStream } from './eventStream.ts';
import { type ChatBody, chatBody, toGivenMessage, turnSettings } from './requestBody.ts';

/** Logged for a request whose client disconnected before a response was sent. */
const CLIENT_CLOSED_REQUEST = 499;

/** Abort reason of work whose client disconnected. */
export class ClientDisconnectedError extends Error {
  override readonly name = 'ClientDisconnectedError';
}

/** Room for a long conversation that the client sends again with each request. */
const CHAT_BODY_LIMIT_BYTES = 4 * 1_048_576;
const UNREPORTED: Usage = { prompt_tokens: -1, completion_tokens: -1, total_tokens: -1 };

const DESCRIPTION = [
  'OpenAI’s chat completions on a session of the agent. The header `X-Session-ID`, else `session_id`, names the session. Without either, a new session is created; its id is in the header and the body of the response.',
  'Only the new messages are answered. `system` and `developer` messages are instructions for this request and are not stored. A user message while tool calls are pending drops these calls; results must come for all pending calls at once.',
  `These fields are passed to the model for each answer: \`temperature\`, \`max_tokens\`, \`max_completion_tokens\`, \`response_format\`, \`parallel_tool_calls\` (if there are tools), \`tool_choice\` (for the caller’s tools, in the first answer) and ${PASSED_THROUGH.map((name) => `\`${name}\``).join(', ')}. They do not affect the agent’s internal model calls, such as the choice of the next node. \`model\` and unknown fields are accepted and ignored.`,
  'Idempotency-Key is not supported, since a stream would have to be stored.',
].join('\n\n');

const headers = agentVersionHeaders.extend({
  [SESSION_HEADER]: z.string().optional().describe('The session; overrides `session_id` in the body.'),
});

interface ChatRequest {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly session: NewSession;
  readonly body: ChatBody;
}

type RunTurn = (sink: TurnSink) => Promise<void>;

export function chatCompletionRoutes(app: App, deps: HttpDeps): void {
  onBothPaths(LEGACY_PATHS.chat, ({ url, config, mark }) => {
    app.post(
      url,
      {
        config,
        bodyLimit: CHAT_BODY_LIMIT_BYTES,
        onSend: sendAsBytes,
        schema: {
          ...about('Chat', 'Answer a chat', DESCRIPTION),
          ...mark,
          params: projectParams,
          headers,
          body: chatBody,
          response: {
            200: {
              description: 'The answer; with `stream`, a stream of chunks.',
              content: {
                'application/json': { schema: completion },
                'text/event-stream': { schema: completionChunk },
              },
            },
            ...errors('body', 409),
          },
        },
      },
      async (request, reply) => {
        const { params, body } = request;
        const givenId = sessionIdOfHeader(request) ?? body.session_id ?? undefined;
        const sessionId = givenId ?? deps.makeId();
        const session: NewSession = {
          projectId: params.projectId,
          sessionId,
          channel: 'chat',
          isNew: givenId === undefined,
          draft: wantsDraft(request),
        };
        setSessionIdHeader(reply, sessionId);
        return await answerInSpan(deps, { request, reply, session, body });
      },
    );
  });
}

/** Runs the request as a span of the client's trace, or of a new trace; the turn is a child span. */
async function answerInSpan(deps: HttpDeps, chat: ChatRequest): Promise<Completion | FastifyReply> {
  const { request, session } = chat;
  const span = (deps.tracing ?? noopTracer).startSpan(`POST ${request.routeOptions.url ?? ''}`, {
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
  const { reply, body, session } = chat;
  const signal = disconnectSignal(reply);
  const given = body.messages.map(toGivenMessage);
  const settings = turnSettings(body);
  const run: RunTurn = (sink) =>
    deps.conversations.runTurn(
      session,
      ({ state }) => ({ ...settings, ...newMessages(state, given) }),
      sink,
      signal,
    );
  try {
    if (body.stream !== true) return await answerWhole(deps, chat, run);
    await answerStreaming(deps, chat, run, signal);
  } catch (error) {
    if (!signal.aborted) throw toModelUnavailable(error);
  }
  return reply;
}

/** Every failure before the model's first token has one code; the message says the cause. */
function toModelUnavailable(error: unknown): unknown {
  if (!(error instanceof ModelError) || !error.beforeFirstToken) return error;
  const { message, retryAfterSeconds } = error;
  const retry = retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
  return new CallwayError('internal', 'model_unavailable', message, { cause: error, ...retry });
}

async function answerWhole(deps: HttpDeps, chat: ChatRequest, run: RunTurn): Promise<Completion> {
  const { session, body } = chat;
  let text = '';
  const toolCalls: FunctionCall[] = [];
  const outcome: { done?: TurnDone } = {};
  const turn = run((output) => {
    if (output.type === 'text' || output.type === 'placeholder') text += output.text;
    else if (output.type === 'tool_call') toolCalls.push(output.call);
    else if (output.type === 'done') outcome.done = output;
    return undefined;
  });
  const reportsUsage = body.stream_options?.include_usage === true || projectReportsUsage(deps, session);
  const [isReported] = await Promise.all([reportsUsage, turn]);
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
          ...(toolCalls.length > 0 ? { tool_calls: toolCalls } : {}),
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
  { request, reply, session, body }: ChatRequest,
  run: RunTurn,
  signal: AbortSignal,
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
    // Transfers and DTMF digits need a phone line.
    if (output.type === 'start' || output.type === 'action') return undefined;
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
    const { body: failure } = errorBody(error);
    if (!isDone) stream.end(failureEvent({ message: String(failure.error), code: String(failure.code) }));
  }
}

async function projectReportsUsage(deps: HttpDeps, { projectId }: NewSession): Promise<boolean> {
  const project = await deps.storage.stores.projects.find(projectId);
  return project?.reportUsage ?? false;
}

function toUsage({ promptTokens, completionTokens, totalTokens }: TurnUsage): Usage {
  return { prompt_tokens: promptTokens, completion_tokens: completionTokens, total_tokens: totalTokens };
}

/**
 * Detects a client that disconnects before its response is complete, and completes the request: Fastify runs the
 * `onResponse` hooks only after a sent response or an error of the response stream.
 *
 * @returns A signal that is aborted when the connection closes.
 */
function disconnectSignal(reply: FastifyReply): AbortSignal {
  const { raw } = reply;
  const controller = new AbortController();
  const onClose = () => {
    if (raw.writableFinished) return;
    const reason = new ClientDisconnectedError('The client disconnected before the response was complete');
    controller.abort(reason);
    if (!raw.headersSent) raw.statusCode = CLIENT_CLOSED_REQUEST;
    // From here on neither output nor an error response may be written.
    reply.hijack();
    if (raw.listenerCount('error') > 0) raw.emit('error', reason);
  };
  if (raw.destroyed) onClose();
  else raw.once('close', onClose);
  return controller.signal;
}
