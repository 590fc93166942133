import type { IncomingMessage, ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';

import { serveOnLoopback } from './loopbackServer.ts';

/** Body of an embeddings request. */
export interface EmbeddingsRequest {
  readonly model: string;
  readonly input: readonly string[];
  readonly encoding_format?: string;
}

/** An OpenAI-compatible embeddings endpoint; texts with common words have similar vectors. */
export interface FakeEmbeddings {
  readonly baseUrl: string;
  readonly requests: readonly EmbeddingsRequest[];
  /** How often each text was embedded and answered. */
  readonly embedded: ReadonlyMap<string, number>;
  /** Requests that arrived and have no response yet, even if the client has disconnected. */
  readonly pendingRequests: number;
  /** Overrides the responses of the next requests; `undefined` keeps the default. */
  answerWith(...answers: (FakeAnswer | undefined)[]): void;
  /** Drops the overrides that are left. */
  clearPlan(): void;
  /** Forgets requests, overrides and `onRequest`: a test that shares it starts anew. */
  reset(): void;
  /** Called before each response. */
  onRequest?: (request: EmbeddingsRequest) => Promise<void> | void;
  close(): Promise<void>;
}

export interface FakeAnswer {
  readonly status: number;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
}

const DIMENSIONS: Readonly<Record<string, number>> = { 'text-embedding-3-large': 3072 };
const DEFAULT_DIMENSIONS = 1536;

export async function startFakeEmbeddings(
  options: { readonly port?: number; readonly onlyFloats?: boolean } = {},
): Promise<FakeEmbeddings> {
  const requests: EmbeddingsRequest[] = [];
  const embedded = new Map<string, number>();
  const planned: (FakeAnswer | undefined)[] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const body = (await json(request)) as EmbeddingsRequest;
    requests.push(body);
    await fake.onRequest?.(body);
    const plan = planned.shift();
    const isRefused = options.onlyFloats && body.encoding_format === 'base64';
    const refusal: FakeAnswer = { status: 400, body: { error: { message: 'unknown encoding_format' } } };
    const chosen = plan ?? (isRefused ? refusal : undefined);
    if (!chosen) for (const text of body.input) embedded.set(text, (embedded.get(text) ?? 0) + 1);
    const { status, headers = {}, body: content } = chosen ?? { status: 200, body: embeddingsOf(body) };
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify(content ?? { error: { message: 'no' } }));
  };
  let waiting = 0;
  const server = await serveOnLoopback(
    (request, response) => {
      waiting += 1;
      answer(request, response)
        .catch(() => response.destroy())
        .finally(() => {
          waiting -= 1;
        });
    },
    options.port === undefined ? {} : { port: options.port },
  );
  const fake: FakeEmbeddings = {
    baseUrl: `http://127.0.0.1:${server.port}/v1`,
    requests,
    embedded,
    get pendingRequests() {
      return waiting;
    },
    answerWith: (...answers) => void planned.push(...answers),
    clearPlan: () => void planned.splice(0),
    reset() {
      requests.length = 0;
      embedded.clear();
      planned.length = 0;
      delete fake.onRequest;
    },
    close: () => server.close(),
  };
  return fake;
}

function embeddingsOf({ model, input, encoding_format: format }: EmbeddingsRequest): object {
  const dimensions = DIMENSIONS[model] ?? DEFAULT_DIMENSIONS;
  const data = input.map((text, index) => {
    const vector = wordVector(text, dimensions);
    const embedding = format === 'base64' ? Buffer.from(vector.buffer).toString('base64') : [...vector];
    return { object: 'embedding', index, embedding };
  });
  // Clients must sort by `index`, not by position.
  return { object: 'list', model, data: data.reverse(), usage: { prompt_tokens: 1, total_tokens: 1 } };
}

/** A bag-of-words vector: each word is hashed to a dimension. */
export function wordVector(text: string, dimensions: number): Float32Array {
  const vector = new Float32Array(dimensions);
  vector[0] = 0.01;
  for (const word of text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []) {
    let hash = 2_166_136_261;
    for (const character of word) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 16_777_619) >>> 0;
    const place = hash % dimensions;
    vector[place] = (vector[place] ?? 0) + 1;
  }
  const length = Math.hypot(...vector);
  return vector.map((value) => value / length);
}
