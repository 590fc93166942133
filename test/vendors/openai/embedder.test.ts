import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { OpenAiEmbeddingModelName } from '../../../src/models/ports/embedder.ts';
import { createOpenAiEmbedder } from '../../../src/vendors/openai/embedder.ts';
import { createOpenAiEndpoint, type OpenAiEndpoint } from '../../../src/vendors/openai/endpoint.ts';
import { type FakeEmbeddings, startFakeEmbeddings, wordVector } from '../../support/fakeEmbeddings.ts';

const forever = new AbortController().signal;
let fake: FakeEmbeddings;
let endpoint: OpenAiEndpoint;
const connect = async (options = {}) => {
  fake = await startFakeEmbeddings(options);
  endpoint = createOpenAiEndpoint({ apiKey: 'sk-test-0123456789', baseUrl: fake.baseUrl });
};
beforeEach(() => connect());
afterEach(async () => {
  await endpoint.close();
  await fake.close();
});
const embed = (
  texts: readonly string[],
  model: OpenAiEmbeddingModelName = 'text-embedding-3-small',
  signal = forever,
) => createOpenAiEmbedder(endpoint, model).embed(texts, signal);

describe('Vectors', () => {
  test.each<[OpenAiEmbeddingModelName, number]>([
    ['text-embedding-ada-002', 1536],
    ['text-embedding-3-small', 1536],
    ['text-embedding-3-large', 3072],
  ])('of %s are requested in base64 and returned in the order of the texts', async (model, dimensions) => {
    const vectors = await embed(['one cup', 'two kettles'], model);
    expect(vectors).toEqual([wordVector('one cup', dimensions), wordVector('two kettles', dimensions)]);
    expect(fake.requests).toMatchObject([
      { model, encoding_format: 'base64', input: ['one cup', 'two kettles'] },
    ]);
  });

  test('are read as numbers from an endpoint without base64, which is tried once', async () => {
    await endpoint.close();
    await fake.close();
    await connect({ onlyFloats: true });
    const embedder = createOpenAiEmbedder(endpoint, 'text-embedding-3-small');
    expect(await embedder.embed(['a'], forever)).toEqual([wordVector('a', 1536)]);
    expect(await embedder.embed(['b'], forever)).toEqual([wordVector('b', 1536)]);
    expect(fake.requests.map((request) => request.encoding_format)).toEqual(['base64', 'float', 'float']);
  });

  test('of many texts are requested in batches', async () => {
    const texts = Array.from({ length: 300 }, (_, index) => `text ${index}`);
    const vectors = await embed(texts);
    expect(vectors).toHaveLength(300);
    expect(vectors[299]).toEqual(wordVector('text 299', 1536));
    expect(fake.requests.map(({ input }) => input.length)).toEqual([48, 48, 48, 48, 48, 48, 12]);
  });

  test('of long texts are requested in smaller batches', async () => {
    await embed(Array.from({ length: 4 }, () => 'word '.repeat(10_000)));
    expect(fake.requests.map(({ input }) => input.length)).toEqual([2, 2]);
  });

  test('of a text with too many tokens are the mean of its halves', async () => {
    const tooLong = {
      status: 400,
      body: { error: { message: "This model's maximum context length is 8192 tokens" } },
    };
    fake.answerWith(tooLong, undefined, tooLong, undefined);
    const [short, long] = await embed(['short', 'aaaa bbbb']);
    expect(fake.requests.map(({ input }) => input)).toEqual([
      ['short', 'aaaa bbbb'],
      ['short'],
      ['aaaa bbbb'],
      ['aaaa ', 'bbbb'],
    ]);
    expect(short).toEqual(wordVector('short', 1536));
    expect(Math.hypot(...(long ?? []))).toBeCloseTo(1, 5);
  });
});

describe('A failure', () => {
  const data = (embedding: unknown) => ({ status: 200, body: { data: [{ index: 0, embedding }] } });
  test.each([
    ['of the endpoint', { status: 503 }, { code: 'model_unavailable', retryable: true }],
    [
      'by too many requests',
      { status: 429, headers: { 'retry-after': '7' } },
      { retryAfterSeconds: 7, retryable: true },
    ],
    ['of the key', { status: 401 }, { code: 'model_rejected', retryable: false }],
    ['of the request', { status: 400 }, { code: 'model_rejected' }],
    ['by vectors too short', data([1, 2]), { code: 'model_malformed', retryable: false }],
    ['by no vectors', { status: 200, body: { data: [] } }, { code: 'model_malformed' }],
    ['by broken base64', data('AAA='), { code: 'model_malformed' }],
    ['by numbers that are none', data(Array.from({ length: 1536 }, () => 'x')), { code: 'model_malformed' }],
    ['by no answer at all', { status: 200, body: [] }, { code: 'model_malformed' }],
  ])('%s is reported', async (_, answer, expected) => {
    fake.answerWith(answer);
    await expect(embed(['a'])).rejects.toMatchObject({ name: 'ModelError', ...expected });
  });

  test('an abort ends the request with its reason', async () => {
    const abort = new AbortController();
    fake.onRequest = () => abort.abort(new Error('left'));
    await expect(embed(['a'], 'text-embedding-3-small', abort.signal)).rejects.toThrow('left');
  });
});
