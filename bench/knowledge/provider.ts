import { json } from 'node:stream/consumers';
import { setTimeout as rest } from 'node:timers/promises';

import { serveOnLoopback } from '../../test/support/loopbackServer.ts';

/** An embeddings endpoint that only waits. */
export interface Provider {
  readonly baseUrl: string;
  /** The texts of each request, in order of arrival. */
  readonly batches: readonly (readonly string[])[];
  close(): Promise<void>;
}

/** @param latencyMs - Of each request, however many run at once. */
export async function startProvider(
  latencyMs: number,
  nextVector: () => Float32Array,
  vectors = 512,
): Promise<Provider> {
  // Built in advance, so that the endpoint only waits.
  const ready = Array.from({ length: vectors }, () => Buffer.from(nextVector().buffer).toString('base64'));
  const batches: string[][] = [];
  let given = 0;
  const server = await serveOnLoopback(async (request, response) => {
    const { model, input } = (await json(request)) as { model: string; input: string[] };
    batches.push(input);
    const data = input.map((_, index) => {
      given += 1;
      return { object: 'embedding', index, embedding: ready[given % ready.length] };
    });
    await rest(latencyMs);
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(
      JSON.stringify({ object: 'list', model, data, usage: { prompt_tokens: 1, total_tokens: 1 } }),
    );
  });
  return { baseUrl: `http://127.0.0.1:${server.port}/v1`, batches, close: () => server.close() };
}
