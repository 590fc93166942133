import { z } from 'zod';

import { CommandError, EXIT } from './command.ts';
import type { Connection } from './connection.ts';
import { failureReason } from './connectionFailure.ts';

/** Longer than the service waits for its database. */
const TIMEOUT_MILLISECONDS = 30_000;
/** A file over a slow line. */
const UPLOAD_TIMEOUT_MILLISECONDS = 30 * 60_000;
const PAGE_SIZE = 200;

const errorBody = z.object({
  error: z.union([z.string(), z.object({ message: z.string() }).transform(({ message }) => message)]),
  details: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
});

const page = z.object({
  data: z.array(z.unknown()),
  pagination: z.object({ nextCursor: z.string().nullable() }),
});

export interface ApiClient {
  /**
   * @param body - Sent as JSON; a form as it is.
   * @returns The response's JSON; undefined for an empty response.
   * @throws {CommandError} When the service does not respond, or refuses the request.
   */
  request(method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, body?: unknown): Promise<unknown>;
  /** The response as it is. @throws {CommandError} as {@link request} */
  text(path: string): Promise<string>;
  /** Reads all pages of a list. */
  list<Item>(path: string, item: z.ZodType<Item>): Promise<Item[]>;
}

/** Sends requests with the admin token, or with a project's key. */
export function createApiClient(connection: Connection, fetchImpl: typeof fetch): ApiClient {
  const request: ApiClient['request'] = async (method, path, body) => {
    const response = await send(connection, fetchImpl, method, path, body);
    const text = await response.text();
    if (!response.ok) throw refusal(response, text, connection);
    return text === '' ? undefined : parseAnswer(text, connection);
  };
  return {
    request,
    async text(path) {
      const response = await send(connection, fetchImpl, 'GET', path, undefined);
      const text = await response.text();
      if (!response.ok) throw refusal(response, text, connection);
      return text;
    },
    async list(path, item) {
      const items: unknown[] = [];
      let cursor: string | null = null;
      do {
        const query = new URLSearchParams({
          limit: String(PAGE_SIZE),
          ...(cursor === null ? {} : { cursor }),
        });
        const answer = parseResponse(page, await request('GET', `${path}?${query}`), connection);
        items.push(...answer.data);
        cursor = answer.pagination.nextCursor;
      } while (cursor !== null);
      return parseResponse(z.array(item), items, connection);
    },
  };
}

/** @throws {CommandError} When the response does not match the schema. */
export function parseResponse<Value>(
  schema: z.ZodType<Value>,
  answer: unknown,
  connection: Connection,
): Value {
  const parsed = schema.safeParse(answer);
  if (parsed.success) return parsed.data;
  throw notCallway(connection);
}

async function send(
  { url, token }: Connection,
  fetchImpl: typeof fetch,
  method: string,
  path: string,
  body: unknown,
): Promise<Response> {
  const form = body instanceof FormData ? body : undefined;
  const json = form || body === undefined ? undefined : JSON.stringify(body);
  try {
    return await fetchImpl(url + path, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(json === undefined ? {} : { 'content-type': 'application/json' }),
      },
      body: form ?? json,
      redirect: 'error',
      signal: AbortSignal.timeout(form ? UPLOAD_TIMEOUT_MILLISECONDS : TIMEOUT_MILLISECONDS),
    });
  } catch (error) {
    throw new CommandError(
      EXIT.unavailable,
      `Callway does not respond at ${url} (${failureReason(error)}). Start it with "npm start", or set another address with --url or CALLWAY_URL.`,
      { cause: error },
    );
  }
}

function refusal(response: Response, text: string, connection: Connection): CommandError {
  if (response.status === 401 && connection.isKey) {
    return new CommandError(
      EXIT.noPermission,
      `The service at ${connection.url} refuses this key for this project. Set a key of it with --key or CALLWAY_KEY.`,
    );
  }
  if (response.status === 401) {
    return new CommandError(
      EXIT.noPermission,
      `The service at ${connection.url} refuses this admin token. The admin token is the service’s CALLWAY_ADMIN_TOKEN, or without that the content of the file admin-token in its DATA_DIR.`,
    );
  }
  const parsed = errorBody.safeParse(parseJson(text));
  if (!parsed.success) return notCallway(connection);
  const { error, details = [] } = parsed.data;
  const more = details.filter(({ message }) => message !== error).map(({ message }) => `\n  ${message}`);
  const code = response.status === 503 ? EXIT.unavailable : EXIT.refused;
  return new CommandError(code, `${error}.${more.join('')}`.replace(/\.\.$/, '.'));
}

function notCallway({ url }: Connection): CommandError {
  return new CommandError(
    EXIT.unavailable,
    `The response from ${url} is not one of a Callway version that this command line supports.`,
  );
}

function parseAnswer(text: string, connection: Connection): unknown {
  const value = parseJson(text);
  if (value === undefined) throw notCallway(connection);
  return value;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
