import { beforeAll, describe, expect, test } from 'vitest';

import { sharedGateway, type TestProject } from '../../../support/gateway.ts';

const gateway = sharedGateway();
let project: TestProject;
beforeAll(async () => {
  project = await gateway().createProject();
});

const LOOKUP = {
  name: 'lookup',
  description: 'Finds an order.',
  parameters: { type: 'object', properties: { order: { type: 'string' } }, required: ['order'] },
  http: {
    method: 'POST',
    url: 'https://example.com/orders/{{ order }}?full=1',
    headers: [{ key: 'x-token', value: 'secret words' }],
    bodyTemplate: '{"order": "{{ order }}"}',
    timeoutMs: 2500,
  },
};

const call = (method: string, path: string, body?: unknown) =>
  gateway().api(method, `${project.path}${path}`, {
    key: project.developerKey,
    ...(body === undefined ? {} : { body }),
  });

let count = 0;
async function createTool(changes: object = {}) {
  count += 1;
  const { status, body } = await call('POST', '/tools', { ...LOOKUP, name: `tool_${count}`, ...changes });
  expect(status).toBe(201);
  return body as { id: string; name: string };
}

describe('A tool', () => {
  test('can be created, read, listed, changed and deleted', async () => {
    const created = await call('POST', '/tools', LOOKUP);
    expect(created.status).toBe(201);
    expect(created.body).toMatchObject(LOOKUP);
    const place = `/tools/${created.body.id}`;

    expect((await call('GET', place)).body).toEqual(created.body);
    expect((await call('GET', '/tools')).body).toEqual({
      data: [created.body],
      pagination: { limit: 50, offset: 0, total: 1, nextCursor: null },
    });
    expect((await call('DELETE', place)).status).toBe(204);
    for (const method of ['GET', 'DELETE']) {
      expect(await call(method, place)).toMatchObject({ status: 404, body: { code: 'tool_not_found' } });
    }
    expect(await call('PATCH', place, { name: 'x' })).toMatchObject({ status: 404 });
  });

  test('has defaults for omitted fields', async () => {
    const http = { method: 'GET', url: 'https://example.com/' };
    const { body } = await call('POST', '/tools', { name: 'short', http });

    expect(body).toMatchObject({
      description: '',
      parameters: { type: 'object', properties: {} },
      http: { ...http, headers: [], timeoutMs: 10_000 },
    });
  });

  test.each<[string, { http?: object; description?: string }]>([
    ['PATCH', { description: 'Other.' }],
    ['PUT', { description: '' }],
    ['PATCH', { http: { url: 'https://example.com/elsewhere' } }],
    ['PATCH', { http: { method: 'PUT' } }],
    ['PATCH', { http: { headers: [] } }],
    ['PATCH', { http: { timeoutMs: 100 } }],
    ['PATCH', {}],
  ])('changes only the supplied fields by %s %j', async (method, patch) => {
    const before = await createTool();

    const { status, body } = await call(method, `/tools/${before.id}`, patch);

    expect(status).toBe(200);
    const http = { ...LOOKUP.http, ...patch.http };
    expect(body).toEqual({ ...before, ...patch, http, updatedAt: body.updatedAt });
    expect((await call('GET', `/tools/${before.id}`)).body).toEqual(body);
  });

  test('resets optional fields by null and keeps the others', async () => {
    const before = await createTool();
    const { bodyTemplate: _gone, ...rest } = LOOKUP.http;

    const { status, body } = await call('PATCH', `/tools/${before.id}`, { http: { bodyTemplate: null } });
    expect([status, body.http]).toEqual([200, rest]);

    const http = { headers: null, timeoutMs: null };
    expect((await call('PATCH', `/tools/${before.id}`, { http })).body.http).toEqual({
      ...rest,
      headers: [],
      timeoutMs: 10_000,
    });
    expect((await call('GET', `/tools/${before.id}`)).body.http).not.toHaveProperty('bodyTemplate');
  });

  test.each([{ url: null }, { method: null }])('refuses %j', async (http) => {
    const { id } = await createTool();
    expect((await call('PATCH', `/tools/${id}`, { http })).status).toBe(400);
  });

  test.each([
    ['a name with a space', { name: 'two words' }, '/name'],
    ['a name of 65 characters', { name: 'x'.repeat(65) }, '/name'],
    ['a built-in name', { name: 'end_call' }, '/name'],
    ['parameters of another type', { parameters: { type: 'string' } }, '/parameters'],
    ['parameters that are no schema', { parameters: { type: 'object', required: 7 } }, '/parameters'],
    ['a reference to nowhere', { parameters: { type: 'object', $ref: '#/nowhere' } }, '/parameters'],
    ['plain http', { http: { method: 'GET', url: 'http://example.com/' } }, '/http/url'],
    ['a private address', { http: { method: 'GET', url: 'https://10.0.0.1/' } }, '/http/url'],
    ['a template in the host', { http: { method: 'GET', url: 'https://{{ host }}/' } }, '/http/url'],
    ['an unclosed template', { http: { ...LOOKUP.http, bodyTemplate: '{{ order' } }, '/http/bodyTemplate'],
    ...['GET', 'DELETE'].map((method): [string, object, string] => [
      `a body of a ${method}`,
      { http: { ...LOOKUP.http, method, bodyTemplate: '{}' } },
      '/http/bodyTemplate',
    ]),
    ['a method of its own', { http: { ...LOOKUP.http, method: 'BREW' } }, '/http/method'],
    ['an endless wait', { http: { ...LOOKUP.http, timeoutMs: 60_001 } }, '/http/timeoutMs'],
    [
      'a header on two lines',
      { http: { ...LOOKUP.http, headers: [{ key: 'a', value: 'b\r\nc: d' }] } },
      '/http/headers/0',
    ],
    ['an unknown field', { http: { ...LOOKUP.http, retries: 3 } }, '/http/retries'],
  ])('with %s is refused', async (_, changes, path) => {
    const answer = await call('POST', '/tools', { ...LOOKUP, name: 'refused', ...changes });

    expect(answer.status).toBe(400);
    expect(answer.body.details.map((detail: { path: string }) => detail.path)).toContain(path);
  });

  test('needs a name that is unique in the project', async () => {
    const [first, second] = [await createTool(), await createTool()];
    const taken = { status: 400, body: { code: 'tool_name_taken' } };

    expect(await call('POST', '/tools', { ...LOOKUP, name: first.name })).toMatchObject(taken);
    expect(await call('PATCH', `/tools/${second.id}`, { name: first.name })).toMatchObject(taken);
    const other = await gateway().createProject();
    const elsewhere = { key: other.developerKey, body: { ...LOOKUP, name: first.name } };
    expect((await gateway().api('POST', `${other.path}/tools`, elsewhere)).status).toBe(201);
  });

  test('has no header values in a repeated response', async () => {
    const headers = { 'idempotency-key': 'tool-once' };
    const post = () =>
      gateway().api('POST', `${project.path}/tools`, {
        key: project.developerKey,
        headers,
        body: { ...LOOKUP, name: 'repeated', http: LOOKUP.http },
      });
    const first = await post();
    const second = await post();

    expect(second.status).toBe(201);
    expect(second.headers.get('idempotency-replayed')).toBe('true');
    expect(second.body.id).toBe(first.body.id);
    expect(second.body.http.headers).toEqual([{ key: 'x-token', value: null }]);
  });
});

describe('A tool in use by the pathway', () => {
  const use = (tools: string[]) => call('PATCH', '/pathway/nodes/conversation', { data: { tools } });

  test('cannot be deleted, in any spelling of its id', async () => {
    const { id } = await createTool();
    expect((await use([id])).status).toBe(200);

    for (const written of [id, id.toUpperCase()]) {
      const refused = await call('DELETE', `/tools/${written}`);
      expect(refused).toMatchObject({ status: 409, body: { code: 'tool_in_use' } });
      expect(refused.body.error).toContain('Help the caller');
    }

    await use([]);
    expect((await call('DELETE', `/tools/${id}`)).status).toBe(204);
  });

  test('is not deleted by a concurrent request', async () => {
    for (let round = 0; round < 15; round += 1) {
      const { id } = await createTool();
      const [used, removed] = await Promise.all([use([id]), call('DELETE', `/tools/${id}`)]);
      expect([
        [200, 409],
        [400, 204],
      ]).toContainEqual([used.status, removed.status]);
      await use([]);
    }
  });
});
