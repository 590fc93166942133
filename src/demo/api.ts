import type { z } from 'zod';
import { DemoError } from './demoError.ts';

/** A client of the service's public HTTP API. */
export interface Api {
  /** @throws {DemoError} When the response is an error or does not match the schema. */
  request<Answer>(method: string, path: string, answer: z.ZodType<Answer>, body?: object): Promise<Answer>;
  /** @throws {DemoError} When `request` throws it. */
  download(url: string): Promise<Uint8Array>;
}

const TIMEOUT_MS = 15_000;

export function createApi(baseUrl: string, key: string, signal: AbortSignal): Api {
  const send = async (method: string, url: string, headers: Record<string, string>, body?: object) => {
    const response = await fetch(url, {
      method,
      headers,
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
      body: body && JSON.stringify(body),
    });
    if (response.ok) return response;
    throw new DemoError(
      `${method} ${new URL(url).pathname} failed with ${response.status}: ${await response.text()}`,
    );
  };
  return {
    async request(method, path, answer, body) {
      const headers = {
        authorization: `Bearer ${key}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      };
      const response = await send(method, baseUrl + path, headers, body);
      const parsed = answer.safeParse(await response.json());
      if (parsed.success) return parsed.data;
      throw new DemoError(`The response to ${method} ${path} is invalid: ${parsed.error.message}`);
    },
    async download(url) {
      const response = await send('GET', url, {});
      return new Uint8Array(await response.arrayBuffer());
    },
  };
}
