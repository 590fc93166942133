import type { MakeId } from '../../base/values/ids.ts';
import type { ChatProvider } from '../../models/chat/chatClient.ts';
import { Refusals, type RefusalsOptions } from '../../models/chat/refusals.ts';
import { eventData } from '../../models/http/serverSentEvents.ts';
import { type ChatBody, chatBody } from './chatBody.ts';
import { ChatDecoder } from './chatDecoder.ts';
import type { OpenAiEndpoint } from './endpoint.ts';
import { refusalOf, toModelError } from './errors.ts';
import { REMEDIES, REQUIRED_FIELDS } from './remedies.ts';

export interface OpenAiChatDeps {
  readonly endpoint: OpenAiEndpoint;
  /** Makes ids for tool calls that the endpoint sent without one. */
  readonly makeId: MakeId;
  /** Reports each parameter that a model refuses, once. */
  readonly onRefused: RefusalsOptions<ChatBody>['onLearned'];
  /** The name of another vendor with the same API. Default: OpenAI's. */
  readonly name?: string;
  /** Adapts the request body to that vendor. */
  readonly adapt?: (body: ChatBody) => ChatBody;
}

/**
 * A model behind an OpenAI-compatible chat completions endpoint.
 *
 * @see https://platform.openai.com/docs/api-reference/chat-streaming
 */
export function createOpenAiChat({
  endpoint,
  makeId,
  onRefused,
  name = 'openai',
  adapt = (body) => body,
}: OpenAiChatDeps): ChatProvider {
  const { client } = endpoint;
  const refusals = new Refusals<ChatBody>({
    remedies: REMEDIES,
    required: REQUIRED_FIELDS,
    refusalOf,
    redact: endpoint.redact,
    onLearned: onRefused,
  });
  return {
    name,
    async open(request, signal) {
      const response = await refusals.send(adapt(chatBody(request, endpoint.host)), (body) =>
        client.chat.completions.create(body, { signal }).asResponse(),
      );
      return new ChatDecoder(await eventData(response), { endpoint, makeId, requestedModel: request.model });
    },
    toModelError: (error, beforeFirstToken) => toModelError(error, endpoint, beforeFirstToken),
    close: () => endpoint.close(),
  };
}
