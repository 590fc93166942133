import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { CallwayError, unavailable } from '../../../src/base/errors.ts';
import { ModelError } from '../../../src/models/ports/modelError.ts';
import { saying } from '../../support/fakeEngine.ts';
import {
  PROJECT_ID,
  READ_ONLY_KEY,
  SECRET_KEY,
  startTestServer,
  type TestServer,
} from '../../support/httpServer.ts';
import { detectLeaks } from '../../support/leaks.ts';

const PREFIX = `/v1/projects/${PROJECT_ID}/openai/v1`;
const CHAT = `${PREFIX}/chat/completions`;
const HI = { role: 'user' as const, content: 'Hi' };
const ASK = { model: 'callway', messages: [HI] };

let assertNoLeaks: () => Promise<void>;
let server: TestServer;
beforeAll(async () => {
  assertNoLeaks = detectLeaks();
  server = await startTestServer();
});
afterAll(async () => {
  await server.close();
  await assertNoLeaks();
});
beforeEach(() => {
  server.conversations.play(saying('Sunny'));
  server.conversations.requests.length = 0;
});

const failing = (error: Error, ...words: string[]) =>
  async function* () {
    for (const text of words) yield { type: 'text' as const, text };
    throw error;
  };
const client = () => new OpenAI({ apiKey: SECRET_KEY, baseURL: server.url + PREFIX, maxRetries: 0 });

describe('The openai client on OpenAI’s prefix', () => {
  test('gets an answer with the turn’s usage', async () => {
    const completion = await client().chat.completions.create(ASK);
    expect(completion.choices[0]).toEqual({
      index: 0,
      message: { role: 'assistant', content: 'Sunny' },
      finish_reason: 'stop',
    });
    expect(completion.usage).toEqual({ prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 });
  });

  test('streams an answer, with usage where it asks for it', async () => {
    const read = async (more: object) => {
      const chunks: OpenAI.ChatCompletionChunk[] = [];
      for await (const chunk of await client().chat.completions.create({ ...ASK, ...more, stream: true }))
        chunks.push(chunk);
      return chunks;
    };
    const plain = await read({});
    expect(plain.map(({ choices }) => choices[0]?.delta.content ?? '').join('')).toBe('Sunny');
    expect(plain.every((chunk) => !('usage' in chunk))).toBe(true);
    const counted = await read({ stream_options: { include_usage: true } });
    expect(counted.at(-1)).toMatchObject({ choices: [], usage: { prompt_tokens: 11, completion_tokens: 7 } });
  });

  test('lists the models, and gets one', async () => {
    const ids: string[] = [];
    for await (const { id } of client().models.list()) ids.push(id);
    expect(ids).toEqual(['callway', 'callway-smart', 'callway-balance', 'callway-turbo']);
    expect(await client().models.retrieve('callway-turbo')).toMatchObject({
      id: 'callway-turbo',
      object: 'model',
    });
    await expect(client().models.retrieve('gpt-5')).rejects.toMatchObject({
      status: 404,
      code: 'model_not_found',
      param: 'model',
    });
  });

  test.each([
    ['callway-smart', 'smart'],
    ['callway-balance', 'balance'],
    ['callway-turbo', 'turbo'],
    ['callway', undefined],
    ['gpt-5', undefined],
    ['smart', undefined],
  ])('selects with the model %s the mode %s', async (model, mode) => {
    await client().chat.completions.create({ ...ASK, model });
    expect(server.conversations.requests[0]?.session.executionMode).toBe(mode);
  });

  test('reads a failure of the model before and within a stream', async () => {
    server.conversations.play(failing(new ModelError('model_unavailable', 'It is overloaded')));
    await expect(client().chat.completions.create(ASK)).rejects.toMatchObject({
      status: 502,
      code: 'model_failed',
      type: 'server_error',
      param: null,
      message: '502 It is overloaded',
    });
    const broken = new ModelError('model_malformed', 'It broke off', { beforeFirstToken: false });
    server.conversations.play(failing(broken, 'Once'));
    const read = async () => {
      for await (const _ of await client().chat.completions.create({ ...ASK, stream: true }));
    };
    await expect(read()).rejects.toMatchObject({ code: 'model_failed', type: 'server_error', param: null });
  });
});

test('The platform’s own route ignores the model and keeps its shapes', async () => {
  const { body } = await server.send('POST', `/v1/projects/${PROJECT_ID}/chat/completions`, {
    body: { ...ASK, model: 'callway-turbo' },
  });
  expect(body.usage.total_tokens).toBe(-1);
  expect(server.conversations.requests[0]?.session.executionMode).toBeUndefined();
  const unknown = await server.send('GET', `/v1/projects/${PROJECT_ID}/models/callway`);
  expect(unknown.body).toEqual({ error: 'Model not found', code: 'model_not_found' });
});

describe('Every error under OpenAI’s prefix has OpenAI’s shape', () => {
  const busy = new CallwayError('conflict', 'session_busy', 'The session is busy');
  const limited = new CallwayError('rate_limited', 'rate_limited', 'Slow down', { retryAfterSeconds: 7 });
  const plain = { 'content-type': 'text/plain' };
  type Case = {
    method?: string;
    path?: string;
    body?: unknown;
    key?: string | null;
    headers?: Record<string, string>;
    fail?: Error;
  };

  test.each<[string, Case, number, { type: string; code: string; param?: string }]>([
    [
      'no messages',
      { body: { messages: [] } },
      400,
      { type: 'invalid_request_error', code: 'invalid_request', param: 'messages' },
    ],
    [
      'a wrong content',
      { body: { messages: [{ role: 'user', content: 1 }] } },
      400,
      { type: 'invalid_request_error', code: 'invalid_request', param: 'messages[0].content' },
    ],
    ['broken JSON', { body: '{' }, 400, { type: 'invalid_request_error', code: 'invalid_json' }],
    [
      'a broken path',
      { method: 'GET', path: `${PREFIX}/models/%`, body: undefined },
      400,
      { type: 'invalid_request_error', code: 'invalid_url' },
    ],
    ['no key', { key: null }, 401, { type: 'authentication_error', code: 'missing_credential' }],
    [
      'a key without the scope',
      { key: READ_ONLY_KEY },
      403,
      { type: 'permission_error', code: 'missing_scope' },
    ],
    [
      'an unknown route',
      { path: `${PREFIX}/embeddings` },
      404,
      { type: 'invalid_request_error', code: 'not_found' },
    ],
    [
      'a known route with another method',
      { method: 'DELETE', body: undefined },
      405,
      { type: 'invalid_request_error', code: 'method_not_allowed' },
    ],
    ['a busy session', { fail: busy }, 409, { type: 'invalid_request_error', code: 'session_busy' }],
    [
      'a body over 4 MiB',
      { body: { ...ASK, user: 'x'.repeat(4 * 1_048_576) } },
      413,
      { type: 'invalid_request_error', code: 'body_too_large' },
    ],
    [
      'another content type',
      { body: 'Hi', headers: plain },
      415,
      { type: 'invalid_request_error', code: 'unsupported_media_type' },
    ],
    ['too many requests', { fail: limited }, 429, { type: 'rate_limit_error', code: 'rate_limited' }],
    [
      'an unexpected failure',
      { fail: new Error('secret') },
      500,
      { type: 'server_error', code: 'internal_error' },
    ],
    [
      'a failed model',
      { fail: new ModelError('model_rejected', 'No') },
      502,
      { type: 'server_error', code: 'model_failed' },
    ],
    [
      'a missing dependency',
      { fail: unavailable('database') },
      503,
      { type: 'server_error', code: 'database_unavailable' },
    ],
  ])('%s', async (_, { method = 'POST', path = CHAT, fail, ...sent }, status, expected) => {
    if (fail) server.conversations.play(failing(fail));
    const answer = await server.send(method, path, { body: ASK, ...sent });
    expect(answer.status).toBe(status);
    expect(answer.body).toEqual({ error: { message: expect.any(String), param: null, ...expected } });
    expect(answer.text).not.toContain('secret');
    expect(answer.headers.get('retry-after')).toBe(status === 429 ? '7' : status === 503 ? '5' : null);
  });
});
