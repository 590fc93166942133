import type { TargetGuard } from '../../http/lookup.ts';
import type { ChatProvider } from '../../models/chat/chatClient.ts';
import { Refusals, type RefusalsOptions } from '../../models/chat/refusals.ts';
import { eventData } from '../../models/http/serverSentEvents.ts';
import { createVendorFetch } from '../../models/http/vendorFetch.ts';
import { AnthropicDecoder } from './decoder.ts';
import { refusalOf, statusError, toModelError } from './errors.ts';
import { type MessagesBody, messagesBody } from './messagesBody.ts';
import { REMEDIES, REQUIRED_FIELDS } from './remedies.ts';

export const ANTHROPIC_BASE_URL = 'https://api.anthropic.com';
const API_VERSION = '2023-06-01';

export interface AnthropicChatDeps {
  readonly apiKey?: string | undefined;
  readonly baseUrl?: string | undefined;
  /** Reports each parameter that a model refuses, once. */
  readonly onRefused: RefusalsOptions<MessagesBody>['onLearned'];
  /** Checks addresses that users configure; undefined for the operator's own. */
  readonly guard?: TargetGuard | undefined;
}

/**
 * Claude by the Messages API. The vendor's OpenAI-compatible endpoint ignores JSON schemas, which edges and variables are
 * selected by, and has no prompt cache.
 *
 * @see https://docs.claude.com/en/api/messages-streaming
 */
export function createAnthropicChat({
  apiKey,
  baseUrl = ANTHROPIC_BASE_URL,
  onRefused,
  guard,
}: AnthropicChatDeps): ChatProvider {
  const { fetch, close } = createVendorFetch(baseUrl, guard);
  const url = new URL('/v1/messages', baseUrl);
  const redact = (text: string) => (apiKey ? text.replaceAll(apiKey, '[redacted]') : text);
  const headers = {
    'content-type': 'application/json',
    // A compressed stream may be held back until a block is full.
    'accept-encoding': 'identity',
    ...anthropicHeaders(apiKey),
  };
  const refusals = new Refusals<MessagesBody>({
    remedies: REMEDIES,
    required: REQUIRED_FIELDS,
    refusalOf,
    redact,
    onLearned: onRefused,
  });
  return {
    name: 'anthropic',
    async open(request, signal) {
      const response = await refusals.send(messagesBody(request), async (body) => {
        const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body), signal });
        if (!answer.ok) throw await statusError(answer, redact);
        return answer;
      });
      return new AnthropicDecoder(await eventData(response), { model: request.model, redact });
    },
    toModelError,
    close,
  };
}

/** Returns the headers that every request to the API has. */
export function anthropicHeaders(apiKey: string | undefined): Record<string, string> {
  return { 'anthropic-version': API_VERSION, ...(apiKey === undefined ? {} : { 'x-api-key': apiKey }) };
}
