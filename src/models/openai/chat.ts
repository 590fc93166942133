import type { Clock } from '../../base/clock.ts';
import type { MakeId } from '../../base/ids.ts';
import type { ChatEvent, ChatModel, ChatRequest } from '../chatModel.ts';
import { linkAbort } from '../linkedAbort.ts';
import { ModelError } from '../modelError.ts';
import { chatBody } from './chatBody.ts';
import { type ChatReader, createChatReader } from './chatReader.ts';
import { type Concessions, createConcessions } from './concessions.ts';
import type { OpenAiEndpoint } from './endpoint.ts';
import { complaintOf, modelErrorOf, streamedErrorOf } from './failures.ts';
import { createResponseEvents } from './responseEvents.ts';
import { isRecord } from './wire.ts';

/** How long the counts of tokens are waited for once the answer has ended; some endpoints never end their response. */
const USAGE_WAIT_MS = 1000;

export interface OpenAiChatDeps {
  readonly endpoint: OpenAiEndpoint;
  readonly clock: Clock;
  /** For tool calls to which the endpoint gave no id. */
  readonly makeId: MakeId;
}

/**
 * A model behind an OpenAI-compatible chat completions endpoint. It tries once and waits as long as it takes: retries
 * and timeouts are the matter of `createResilientModel`.
 *
 * The SDK sends the request; the response is read here, since its own reader copies what it has for every event,
 * prints what it cannot parse, and fails on the odd chunks of other vendors.
 *
 * @see https://platform.openai.com/docs/api-reference/chat-streaming
 */
export function createOpenAiChatModel(deps: OpenAiChatDeps): ChatModel {
  const concessions = createConcessions();
  return { name: 'openai', stream: (request, signal) => answer(request, signal, concessions, deps) };
}

async function* answer(
  request: ChatRequest,
  outerSignal: AbortSignal,
  concessions: Concessions,
  { endpoint, clock, makeId }: OpenAiChatDeps,
): AsyncGenerator<ChatEvent, void> {
  outerSignal.throwIfAborted();
  // The SDK never takes its listener off the signal that it is given.
  const abort = linkAbort(outerSignal);
  const reader = createChatReader(request.model, makeId);
  try {
    const response = await send(request, abort.signal, concessions, endpoint);
    const isDocument = response.headers.get('content-type')?.includes('application/json') ?? false;
    const events = createResponseEvents(endpoint.bytesOf(response), isDocument, clock);
    try {
      const waitMs = () => (reader.isFinished ? USAGE_WAIT_MS : undefined);
      for (let batch = await events.read(); batch; batch = await events.read(waitMs())) {
        for (const data of batch) {
          for (const event of reader.read(chunkOf(data, reader, endpoint))) yield event;
        }
      }
      if (!events.isComplete && !reader.isFinished) throw malformed('broke off in the middle of', reader);
    } finally {
      events.close();
    }
    outerSignal.throwIfAborted();
    for (const event of reader.finish()) yield event;
  } catch (error) {
    outerSignal.throwIfAborted();
    throw modelErrorOf(error, endpoint, !reader.hasBegun);
  } finally {
    abort.unlink();
  }
}

async function send(
  request: ChatRequest,
  signal: AbortSignal,
  concessions: Concessions,
  { streamingClient: client, host }: OpenAiEndpoint,
): Promise<Response> {
  const conceded = new Set<string>();
  let body = concessions.apply(chatBody(request, host));
  for (;;) {
    try {
      const response = await client.chat.completions.create(body, { signal }).asResponse();
      concessions.remember(body, conceded);
      return response;
    } catch (error) {
      const complaint = complaintOf(error);
      const concession = complaint === undefined ? undefined : concessions.concede(body, complaint);
      if (!concession) throw error;
      conceded.add(concession.name);
      body = concession.body;
    }
  }
}

function chunkOf(data: string, reader: ChatReader, endpoint: OpenAiEndpoint): unknown {
  let chunk: unknown;
  try {
    chunk = JSON.parse(data);
  } catch {
    // The parser's own message would quote the answer.
    throw malformed('sent something that is not JSON in', reader);
  }
  if (isRecord(chunk) && chunk.error) throw streamedErrorOf(chunk.error, endpoint, !reader.hasBegun);
  return chunk;
}

function malformed(what: string, reader: ChatReader): ModelError {
  const beforeFirstToken = !reader.hasBegun;
  return new ModelError('model_malformed', `The model's endpoint ${what} its answer`, { beforeFirstToken });
}
