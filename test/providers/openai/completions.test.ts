import { APIError } from 'openai';
import { afterEach, expect, test } from 'vitest';

import type { ChatBody } from '../../../src/providers/openai/chatBody.ts';
import { createOpenAiEndpoint } from '../../../src/providers/openai/endpoint.ts';
import { type Answer, saying, startScriptedUpstream } from '../../support/scriptedUpstream.ts';

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const BODY: ChatBody = { model: 'm', messages: [{ role: 'user', content: 'Grüße' }], stream: true };
const { signal: NEVER } = new AbortController();

async function scene(answer: Answer, apiKey?: string) {
  const upstream = await startScriptedUpstream(answer);
  closers.push(() => upstream.close());
  const endpoint = createOpenAiEndpoint({ apiKey, baseUrl: upstream.baseUrl });
  closers.push(() => endpoint.close());
  return { upstream, endpoint };
}

test('asks as the SDK itself does', async () => {
  const { upstream, endpoint } = await scene({ steps: saying('Hi') }, 'key-1');
  const own = await endpoint.completions.send(BODY, NEVER);
  while (await own.body.read());
  await endpoint.client.chat.completions.create(BODY).asResponse();
  const [ours, theirs] = upstream.requests;
  expect(ours?.path).toBe(theirs?.path);
  expect(ours?.body).toEqual(theirs?.body);
  expect(ours?.headers.authorization).toBe('Bearer key-1');
  // Of the connection, or of fetch itself, and no part of what the endpoint is asked.
  const { connection: _1, 'accept-encoding': _2, ...said } = ours?.headers ?? {};
  expect(theirs?.headers).toMatchObject(said);
});

test('an endpoint without keys is sent none', async () => {
  const { upstream, endpoint } = await scene({ steps: saying('Hi') });
  const { body } = await endpoint.completions.send(BODY, NEVER);
  body.cancel();
  expect(upstream.requests[0]?.headers.authorization).toBeUndefined();
});

test.each([
  {
    answer: { status: 429, json: { error: { message: 'slow down', code: 'insufficient_quota' } } },
    expected: { status: 429, message: '429 slow down', code: 'insufficient_quota' },
  },
  {
    answer: { status: 503, headers: { 'retry-after': '7' }, steps: [{ send: 'gone fishing' }] },
    expected: { status: 503, message: '503 gone fishing' },
  },
  { answer: { status: 400, json: 'odd' }, expected: { status: 400, message: '400 "odd"' } },
])('a refusal is the SDK’s own error: $expected.message', async ({ answer, expected }) => {
  const { endpoint } = await scene(answer);
  const failure: unknown = await endpoint.completions.send(BODY, NEVER).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(APIError);
  expect(failure).toMatchObject(expected);
  if (failure instanceof APIError && 'headers' in answer)
    expect(failure.headers?.get('retry-after')).toBe('7');
});
