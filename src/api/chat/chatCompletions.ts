import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';

import { CallwayError } from '../../base/errors.ts';
import { noopTracer, withSpan } from '../../base/tracing.ts';
import { newMessages } from '../../engine/history/newMessages.ts';
import type { FunctionCall, NewSession } from '../../engine/session/session.ts';
import type { TurnDone, TurnSink, TurnUsage } from '../../engine/turn/turn.ts';
import { PASSED_THROUGH } from '../../providers/ports/chatModel.ts';
import { ModelError } from '../../providers/ports/modelError.ts';
import { agentVersionHeaders, wantsDraft } from '../agentVersion.ts';
import type { App } from '../app.ts';
import { errorBody } from '../errors.ts';
import { BOTH_PATHS, onBothPaths } from '../legacyPaths.ts';
import type { HttpDeps } from '../ports.ts';
import { echoSessionId, keepHeaderBytes, SESSION_HEADER, sessionIdOfHeader } from '../requestHeaders.ts';
import { about, errors, projectParams } from '../schemas.ts';
import { traceparentOf } from '../trace.ts';
import { type Completion, completion, completionChunk, type Usage } from './answers.ts';
import { type ChatBody, chatBody, toGivenMessage, turnSettings } from './body.ts';
import { type ChunkWriter, createChunkWriter, failureEvent, STREAM_DONE } from './chunks.ts';
import { clientSignal } from './clientGone.ts';
import { type EventStream, openEventStream } from './eventStream.ts';

/** Room for a long talk that its caller sends anew with each request. */
const CHAT_BODY_LIMIT_BYTES = 4 * 1_048_576;
const UNREPORTED: Usage = { prompt_tokens: -1, completion_tokens: -1, total_tokens: -1 };

const DESCRIPTION = [
  'OpenAI’s chat completions on a session of the agent. The header `X-Session-ID`, else `session_id`, names the session; a new one begins where there is none, and its id is in the header and body of the answer.',
  'Only what is new among the messages is answered. `system` and `developer` messages are instructions for this request and are not stored. A user message while tool calls are pending lets these calls go; results come for all pending calls or for none.',
  `These reach the model at each answer that it gives: \`temperature\`, \`max_tokens\`, \`max_completion_tokens\`, \`response_format\`, \`parallel_tool_calls\` (where there are tools), \`tool_choice\` (for the caller’s tools, at the first answer) and ${PASSED_THROUGH.map((name) => `\`${name}\``).join(', ')}. Questions that the agent asks the model for itself, such as which way to go, are not touched by them. \`model\` and all that is not named here is taken and passed over.`,
  'No Idempotency-Key is honoured, since a repetition of a stream would have to be kept whole.',
].join('\n\n');

const headers = agentVersionHeaders.extend({
  [SESSION_HEADER]: z.string().optional().describe('The session; wins over `session_id` in the body.'),
});

/** One request for an answer. */
interface Asked {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly session: NewSession;
  readonly body: ChatBody;
}

export function chatCompletionRoutes(app: App, deps: HttpDeps): void {
  onBothPaths(BOTH_PATHS.chat, ({ url, config, mark }) => {
    app.post(
      url,
      {
        config,
        bodyLimit: CHAT_BODY_LIMIT_BYTES,
        onSend: keepHeaderBytes,
        schema: {
          ...about('Chat', 'Answer a chat', DESCRIPTION),
          ...mark,
          params: projectParams,
          headers,
          body: chatBody,
          response: {
            200: {
              description: 'The answer, or with `stream` a stream of chunks.',
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
        echoSessionId(reply, sessionId);
        return await answerTraced(deps, { request, reply, session, body });
      },
    );
  });
}

/** A request is a span of its caller's trace, or a trace of its own, and its turn a part of it. */
async function answerTraced(deps: HttpDeps, asked: Asked): Promise<Completion | FastifyReply> {
  const { request, session } = asked;
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
  const own = traceparent === undefined ? session : { ...session, traceparent };
  return await withSpan(span, () => answer(deps, { ...asked, session: own }));
}

async function answer(deps: HttpDeps, asked: Asked): Promise<Completion | FastifyReply> {
  const { reply, body } = asked;
  const signal = clientSignal(reply);
  const given = body.messages.map(toGivenMessage);
  const settings = turnSettings(body);
  const run: RunTurn = (sink) =>
    deps.conversations.runTurn(
      asked.session,
      ({ state }) => ({ ...settings, ...newMessages(state, given) }),
      sink,
      signal,
    );
  try {
    if (body.stream !== true) return await answerWhole(deps, asked, run);
    await answerInPieces(deps, asked, run, signal);
  } catch (error) {
    if (!signal.aborted) throw isUnanswered(error) ? unavailable(error) : error;
  }
  return reply;
}

/** Runs the request's turn. */
type RunTurn = (sink: TurnSink) => Promise<void>;

/** Every failure before the model's first word has the same code for the client; the message names the cause. */
function isUnanswered(error: unknown): error is ModelError {
  return error instanceof ModelError && error.beforeFirstToken;
}

function unavailable(cause: ModelError): CallwayError {
  const { message, retryAfterSeconds } = cause;
  const again = retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
  return new CallwayError('internal', 'model_unavailable', message, { cause, ...again });
}

async function answerWhole(deps: HttpDeps, asked: Asked, run: RunTurn): Promise<Completion> {
  const { session, body } = asked;
  let text = '';
  const toolCalls: FunctionCall[] = [];
  const outcome: { done?: TurnDone } = {};
  const turn = run((output) => {
    if (output.type === 'text' || output.type === 'placeholder') text += output.text;
    else if (output.type === 'tool_call') toolCalls.push(output.call);
    else if (output.type === 'done') outcome.done = output;
    return undefined;
  });
  const reports = body.stream_options?.include_usage === true || reportsUsage(deps, session.projectId);
  const [isReported] = await Promise.all([reports, turn]);
  const { done } = outcome;
  if (!done) throw new Error('a turn ended without an outcome');
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

/** Opens the stream with the first piece: a failure before it is an ordinary error response, a later one an event. */
async function answerInPieces(
  deps: HttpDeps,
  { request, reply, session, body }: Asked,
  run: RunTurn,
  signal: AbortSignal,
): Promise<void> {
  const withUsage = body.stream_options?.include_usage === true;
  const id = `chatcmpl-${deps.makeId()}`;
  const created = Math.floor(deps.clock.now() / 1000);
  let model = '';
  let chunks: ChunkWriter | undefined;
  let stream: EventStream | undefined;
  let isOver = false;
  const sink: TurnSink = (output) => {
    if (output.type === 'start') model = output.model;
    // A chat has no line to transfer and no digits to send.
    if (output.type === 'start' || output.type === 'action') return undefined;
    chunks ??= createChunkWriter({ id, created, model, sessionId: session.sessionId }, withUsage);
    const opening = stream ? '' : chunks.role();
    stream ??= openEventStream(reply, deps.clock);
    if (output.type === 'tool_call')
      return stream.write(opening + chunks.toolCall(output.index, output.call));
    if (output.type !== 'done') return stream.write(opening + chunks.text(output.text));
    isOver = true;
    const usage = withUsage ? chunks.usage(toUsage(output.usage)) : '';
    stream.end(opening + chunks.finish(output.finishReason) + usage + STREAM_DONE);
    return undefined;
  };
  try {
    await run(sink);
    if (!isOver) throw new Error('a turn ended without an outcome');
  } catch (error) {
    if (signal.aborted || !stream) throw error;
    request.log.error({ requestId: request.id, err: error }, 'chat stream failed midway');
    const { body: failure } = errorBody(error);
    if (!isOver) stream.end(failureEvent({ message: String(failure.error), code: String(failure.code) }));
  }
}

async function reportsUsage(deps: HttpDeps, projectId: string): Promise<boolean> {
  const project = await deps.storage.stores.projects.find(projectId);
  return project?.reportUsage ?? false;
}

function toUsage({ promptTokens, completionTokens, totalTokens }: TurnUsage): Usage {
  return { prompt_tokens: promptTokens, completion_tokens: completionTokens, total_tokens: totalTokens };
}
