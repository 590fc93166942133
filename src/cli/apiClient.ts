import { z } from 'zod';

import { CommandError, EXIT } from './commandError.ts';
import type { Connection } from './connection.ts';
import { reasonOf } from './reason.ts';

/** Longer than any of the routes takes; the service itself gives up on its database well before. */
const TIMEOUT_MILLISECONDS = 30_000;
const PAGE_SIZE = 200;

const errorBody = z.object({
  error: z.union([z.string(), z.object({ message: z.string() }).transform(({ message }) => message)]),
  details: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
});

const page = z.object({ data: z.array(z.unknown()), pagination: z.object({ total: z.number() }) });

export interface ApiClient {
  /**
   * @returns The answer's JSON, or `undefined` where it has none.
   * @throws {CommandError} When the service is away or refuses.
   */
  request(method: 'GET' | 'POST' | 'DELETE', path: string, body?: unknown): Promise<unknown>;
  /** All items of a list, page by page. */
  list<Item>(path: string, item: z.ZodType<Item>): Promise<Item[]>;
}

/** Speaks to the service as its operator. */
export function createApiClient(connection: Connection, fetchImpl: typeof fetch): ApiClient {
  const request: ApiClient['request'] = async (method, path, body) => {
    const response = await send(connection, fetchImpl, method, path, body);
    const text = await response.text();
    if (!response.ok) throw refusal(response, text, connection);
    return text === '' ? undefined : parseAnswer(text, connection);
  };
  return {
    request,
    async list(path, item) {
      const items: unknown[] = [];
      let total = Number.POSITIVE_INFINITY;
      while (items.length < total) {
        const query = `limit=${PAGE_SIZE}&offset=${items.length}`;
        const answer = read(page, await request('GET', `${path}?${query}`), connection);
        if (answer.data.length === 0) break;
        items.push(...answer.data);
        total = answer.pagination.total;
      }
      return read(z.array(item), items, connection);
    },
  };
}

/** Reads an answer of the service. @throws {CommandError} When it has not the form that this version knows. */
export function read<Value>(schema: z.ZodType<Value>, answer: unknown, connection: Connection): Value {
  const parsed = schema.safeParse(answer);
  if (parsed.success) return parsed.data;
  throw strange(connection);
}

async function send(
  { url, token }: Connection,
  fetchImpl: typeof fetch,
  method: string,
  path: string,
  body: unknown,
): Promise<Response> {
  const json = body === undefined ? undefined : JSON.stringify(body);
  try {
    return await fetchImpl(url + path, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(json === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(json === undefined ? {} : { body: json }),
      redirect: 'error',
      signal: AbortSignal.timeout(TIMEOUT_MILLISECONDS),
    });
  } catch (error) {
    throw new CommandError(
      EXIT.unavailable,
      `Callway does not answer at ${url} (${reasonOf(error)}). Start it with "npm start", or name another address with --url or CALLWAY_URL.`,
      { cause: error },
    );
  }
}

function refusal(response: Response, text: string, connection: Connection): CommandError {
  if (response.status === 401) {
    return new CommandError(
      EXIT.noPermission,
      `The service at ${connection.url} refuses this admin token. It is the value of CALLWAY_ADMIN_TOKEN that the service was started with, or without one the content of the file admin-token in its DATA_DIR.`,
    );
  }
  const parsed = errorBody.safeParse(parseJson(text));
  if (!parsed.success) return strange(connection);
  const { error, details = [] } = parsed.data;
  const more = details.filter(({ message }) => message !== error).map(({ message }) => `\n  ${message}`);
  const code = response.status === 503 ? EXIT.unavailable : EXIT.refused;
  return new CommandError(code, `${error}.${more.join('')}`.replace(/\.\.$/, '.'));
}

function strange({ url }: Connection): CommandError {
  return new CommandError(
    EXIT.unavailable,
    `What answers at ${url} is no Callway that this command line understands.`,
  );
}

function parseAnswer(text: string, connection: Connection): unknown {
  const value = parseJson(text);
  if (value === undefined) throw strange(connection);
  return value;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
