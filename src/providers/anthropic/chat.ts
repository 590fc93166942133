import type { WebSocketGuard } from '../../infra/httpClient/webSocket.ts';
import { eventData } from '../http/serverSentEvents.ts';
import { createVendorFetch } from '../http/vendorFetch.ts';
import type { ChatProvider } from '../streamWithRetry.ts';
import { AnthropicDecoder } from './decoder.ts';
import { statusError, toModelError } from './errors.ts';
import { messagesBody } from './messagesBody.ts';

export const ANTHROPIC_BASE_URL = 'https://api.anthropic.com';
const API_VERSION = '2023-06-01';

export interface AnthropicChatDeps {
  readonly apiKey?: string | undefined;
  readonly baseUrl?: string | undefined;
  /** What the address of a user is held to. */
  readonly guard?: WebSocketGuard | undefined;
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
  return {
    name: 'anthropic',
    async open(request, signal) {
      const { body, answerTool } = messagesBody(request);
      const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body), signal });
      if (!response.ok) throw await statusError(response, redact);
      return new AnthropicDecoder(await eventData(response), { model: request.model, answerTool, redact });
    },
    toModelError,
    close,
  };
}

/** Of every request to the API. */
export function anthropicHeaders(apiKey: string | undefined): Record<string, string> {
  return { 'anthropic-version': API_VERSION, ...(apiKey === undefined ? {} : { 'x-api-key': apiKey }) };
}
