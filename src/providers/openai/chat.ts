import type { Clock } from '../../base/clock.ts';
import type { MakeId } from '../../base/ids.ts';
import type { ChatEvent, ChatModel, ChatRequest } from '../ports/chatModel.ts';
import { ModelError } from '../ports/modelError.ts';
import { chatBody } from './chatBody.ts';
import { type ChatReader, createChatReader } from './chatDecoder.ts';
import type { OpenAiEndpoint } from './endpoint.ts';
import { refusalMessage, streamedError, toModelError } from './errors.ts';
import { createResponseEvents } from './responseEvents.ts';
import type { StreamedAnswer } from './streamingPost.ts';
import { type Concessions, createConcessions } from './unsupportedParameters.ts';
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
 * The response is read here and not by the SDK, whose reader copies what it has for every event, prints what it cannot
 * parse, and fails on the odd chunks of other vendors.
 *
 * @see https://platform.openai.com/docs/api-reference/chat-streaming
 */
export function createOpenAiChatModel(deps: OpenAiChatDeps): ChatModel {
  const concessions = createConcessions();
  return { name: 'openai', stream: (request, signal) => answer(request, signal, concessions, deps) };
}

async function* answer(
  request: ChatRequest,
  signal: AbortSignal,
  concessions: Concessions,
  { endpoint, clock, makeId }: OpenAiChatDeps,
): AsyncGenerator<ChatEvent, void> {
  signal.throwIfAborted();
  const reader = createChatReader(request.model, makeId);
  try {
    const { headers, body } = await send(request, signal, concessions, endpoint);
    const isDocument = headers['content-type']?.includes('application/json') ?? false;
    const events = createResponseEvents(body, isDocument, clock);
    try {
      const waitMs = () => (reader.isFinished ? USAGE_WAIT_MS : undefined);
      for (let batch = await events.read(); batch; batch = await events.read(waitMs())) {
        for (const data of batch) {
          for (const event of reader.read(chunkOf(data, reader, endpoint))) yield event;
        }
      }
      if (!events.isComplete && !reader.isFinished) throw malformed('broke off in the middle of', reader);
      if (!reader.hasAnswer) throw malformed('sent no choice in', reader);
    } finally {
      events.close();
    }
    signal.throwIfAborted();
    for (const event of reader.finish()) yield event;
  } catch (error) {
    signal.throwIfAborted();
    throw toModelError(error, endpoint, !reader.hasBegun);
  }
}

async function send(
  request: ChatRequest,
  signal: AbortSignal,
  concessions: Concessions,
  { completions, host }: OpenAiEndpoint,
): Promise<StreamedAnswer> {
  const conceded = new Set<string>();
  let body = concessions.apply(chatBody(request, host));
  for (;;) {
    try {
      const response = await completions.send(body, signal);
      concessions.remember(body, conceded);
      return response;
    } catch (error) {
      const complaint = refusalMessage(error);
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
  if (isRecord(chunk) && chunk.error) throw streamedError(chunk.error, endpoint, !reader.hasBegun);
  return chunk;
}

function malformed(what: string, reader: ChatReader): ModelError {
  const beforeFirstToken = !reader.hasBegun;
  return new ModelError('model_malformed', `The model's endpoint ${what} its answer`, { beforeFirstToken });
}
