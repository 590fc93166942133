import { expect, it } from 'vitest';

import { probeEndpoint } from '../../../src/vendors/openai/probe.ts';
import { answering } from '../../cli/support.ts';

const endpoint = { baseUrl: 'http://models.test/v1', apiKey: 'secret-key' };

it.each([
  {
    status: 200,
    body: { object: 'list', data: [{ id: 'a', owned_by: 'x' }, { id: 'b' }] },
    answer: { kind: 'reached', models: ['a', 'b'] },
  },
  { status: 200, body: { models: [] }, answer: { kind: 'reached', models: undefined } },
  { status: 200, body: '<html>', answer: { kind: 'reached', models: undefined } },
  { status: 404, body: '', answer: { kind: 'reached', models: undefined } },
  { status: 401, body: { error: {} }, answer: { kind: 'refused', status: 401 } },
  { status: 302, body: '', answer: { kind: 'refused', status: 302 } },
])('The probe reports $answer for $status $body', async ({ status, body, answer }) => {
  expect(await probeEndpoint(endpoint, answering(status, body).fetch)).toEqual(answer);
});

it('The probe sends the key as a bearer token, and no header without a key', async () => {
  const { fetch, seen } = answering(200, { data: [] });

  await probeEndpoint(endpoint, fetch);
  expect(seen).toMatchObject({
    url: 'http://models.test/v1/models',
    init: { headers: { authorization: 'Bearer secret-key' } },
  });
  await probeEndpoint({ ...endpoint, apiKey: undefined }, fetch);
  expect(seen.init?.headers).toEqual({});
});

it('The probe asks for a wanted model that the list lacks by its name', async () => {
  const asked: string[] = [];
  const fetch: typeof globalThis.fetch = async (url) => {
    asked.push(String(url));
    if (String(url).endsWith('/models')) return Response.json({ data: [{ id: 'a' }, { id: 'models/b' }] });
    return new Response('{}', { status: String(url).endsWith('alias') ? 200 : 404 });
  };
  const wanted = ['a', 'b', 'alias', 'gone'];
  expect(await probeEndpoint({ ...endpoint, wanted }, fetch)).toEqual({
    kind: 'reached',
    models: ['a', 'models/b', 'alias'],
  });
  expect(asked).toHaveLength(3);
});
