import type { IncomingHttpHeaders } from 'node:http';
import { APIError, type OpenAI } from 'openai';
import type { Dispatcher } from 'undici';

import type { ChatBody } from './chatBody.ts';
import { beginningOf, postStreaming, type StreamedAnswer } from './streamingPost.ts';
import { isRecord } from './wire.ts';

const COMPLETIONS_PATH = '/chat/completions';
/** An endpoint's words about a failure; more than this is no message. */
const LONGEST_FAILURE_BYTES = 65_536;

/** Asks an endpoint for completions. */
export interface Completions {
  /**
   * @returns The head of a successful answer.
   * @throws {APIError} Where the endpoint answers with another status; else what kept the answer from coming, or the
   *   signal's reason.
   */
  send(body: ChatBody, signal: AbortSignal): Promise<StreamedAnswer>;
}

/** What is the same in all requests. */
interface Head {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * The SDK says where a completion is asked for, with which headers, and what a refusal means. It says so once for all:
 * what it does for each request beside that, a log line that nobody reads and three copies of the headers among it,
 * takes longer than all else that is done for a turn before its request leaves.
 *
 * @param dispatcher - The connections; the SDK's own are not used.
 */
export function createCompletions(client: OpenAI, dispatcher: Dispatcher): Completions {
  let head: Promise<Head> | undefined;
  return {
    async send(body, signal) {
      head ??= headOf(client);
      const post = { ...(await head), body: JSON.stringify(body) };
      const answer = await postStreaming(dispatcher, post, signal);
      if (answer.status >= 200 && answer.status <= 299) return answer;
      throw await failureOf(answer);
    },
  };
}

async function headOf(client: OpenAI): Promise<Head> {
  const options = { method: 'post' as const, path: COMPLETIONS_PATH, body: {}, stream: true };
  const { req, url } = await client.buildRequest(options);
  return { url: new URL(url), headers: Object.fromEntries(req.headers) };
}

async function failureOf({ status, headers, body }: StreamedAnswer): Promise<APIError> {
  const text = await beginningOf(body, LONGEST_FAILURE_BYTES);
  const parsed = parse(text);
  return APIError.generate(status, parsed, parsed ? undefined : text, toHeaders(headers));
}

function parse(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function toHeaders(wire: IncomingHttpHeaders): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(wire)) {
    for (const one of Array.isArray(value) ? value : [value])
      if (one !== undefined) headers.append(name, one);
  }
  return headers;
}
