import type { MakeId } from '../../base/ids.ts';
import type { ChatProvider } from '../chatClient.ts';
import type { ChatRequest } from '../ports/chatModel.ts';
import { chatBody } from './chatBody.ts';
import { ChatDecoder } from './chatDecoder.ts';
import type { OpenAiEndpoint } from './endpoint.ts';
import { refusalMessage, toModelError } from './errors.ts';
import { eventData } from './serverSentEvents.ts';
import { UnsupportedParameters } from './unsupportedParameters.ts';

export interface OpenAiChatDeps {
  readonly endpoint: OpenAiEndpoint;
  /** For tool calls to which the endpoint gave no id. */
  readonly makeId: MakeId;
}

/**
 * A model behind an OpenAI-compatible chat completions endpoint.
 *
 * @see https://platform.openai.com/docs/api-reference/chat-streaming
 */
export function createOpenAiChat({ endpoint, makeId }: OpenAiChatDeps): ChatProvider {
  const unsupported = new UnsupportedParameters();
  return {
    name: 'openai',
    async open(request, signal) {
      const response = await send(request, signal, unsupported, endpoint);
      return new ChatDecoder(await eventData(response), { endpoint, makeId, requestedModel: request.model });
    },
    toModelError: (error, beforeFirstToken) => toModelError(error, endpoint, beforeFirstToken),
    close: () => endpoint.close(),
  };
}

/** Sends the request again without a parameter that the endpoint refuses. */
async function send(
  request: ChatRequest,
  signal: AbortSignal,
  unsupported: UnsupportedParameters,
  { client, host }: OpenAiEndpoint,
): Promise<Response> {
  const removed = new Set<string>();
  let body = unsupported.removeFrom(chatBody(request, host));
  for (;;) {
    try {
      const response = await client.chat.completions.create(body, { signal }).asResponse();
      unsupported.learn(body, removed);
      return response;
    } catch (error) {
      const refusal = refusalMessage(error);
      const reduced = refusal === undefined ? undefined : unsupported.removeRefused(body, refusal);
      if (!reduced) throw error;
      removed.add(reduced.name);
      body = reduced.body;
    }
  }
}
