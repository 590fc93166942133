import { beforeEach, describe, expect, test } from 'vitest';

import { sharedGateway, type TestProject } from '../../../support/gateway.ts';

const gateway = sharedGateway();
let project: TestProject;
beforeEach(async () => {
  project = await gateway().createProject();
});

const call = (method: string, path: string, body?: unknown) =>
  gateway().api(method, `${project.path}/pathway${path}`, {
    key: project.developerKey,
    ...(body === undefined ? {} : { body }),
  });

describe('Nodes', () => {
  test('can be added, read, listed, and removed with their edges', async () => {
    const input = { type: 'say', data: { title: 'Hours', prompt: 'We open at nine.' } };
    const added = await call('POST', '/nodes', input);
    expect(added).toMatchObject({ status: 201, body: { ...input, position: { x: 0, y: 0 } } });
    expect(added.headers.get('etag')).toBe('"2"');
    const { id } = added.body;
    await call('POST', '/edges', { source: 'conversation', target: id });

    const listed = await call('GET', '/nodes?limit=2&offset=2');
    expect(listed.body).toMatchObject({
      data: [{ id: 'end' }, { id }],
      pagination: { limit: 2, offset: 2, total: 4, nextCursor: null },
    });
    expect((await call('GET', `/nodes/${id}`)).body).toEqual(added.body);

    const removed = await call('DELETE', `/nodes/${id}`);
    expect([removed.status, removed.body, removed.headers.get('etag')]).toEqual([204, undefined, '"4"']);
    expect((await call('GET', '/edges')).body.pagination.total).toBe(2);
    for (const method of ['GET', 'DELETE', 'PATCH']) {
      const answer = await call(method, `/nodes/${id}`, method === 'PATCH' ? {} : undefined);
      expect(answer).toMatchObject({ status: 404, body: { code: 'node_not_found' } });
    }
  });

  test('can have ids that need percent encoding', async () => {
    for (const id of ['a b', 'ä/ö?', '%', '..', 'x'.repeat(128)]) {
      expect((await call('POST', '/nodes', { id, type: 'say', data: { title: 'x' } })).status).toBe(201);
      const found = await call('GET', `/nodes/${encodeURIComponent(id).replaceAll('.', '%2E')}`);
      // URL parsers resolve segments of dots, so such ids never reach the server.
      if (id !== '..') expect([id, found.status, found.body.id]).toEqual([id, 200, id]);
    }
  });

  test.each([
    ['inside data', { data: { title: 'T', prompt: 'P', tools: ['end_call'] } }],
    ['by dotted names', { 'data.title': 'T', 'data.prompt': 'P', 'data.tools': ['end_call'] }],
    ['in both ways', { data: { title: 'T' }, 'data.prompt': 'P', 'data.tools': ['end_call'] }],
  ])('can be changed %s', async (_, patch) => {
    const before = (await call('GET', '/nodes/conversation')).body;

    const { status, body } = await call('PATCH', '/nodes/conversation', patch);

    expect(status).toBe(200);
    expect(body).toEqual({
      ...before,
      data: { ...before.data, title: 'T', prompt: 'P', tools: ['end_call'] },
    });
    expect((await call('GET', '/nodes/conversation')).body).toEqual(body);
  });

  test('of another project are 404, and its tools cannot be used', async () => {
    const other = await gateway().createProject();
    const body = { name: 'theirs', http: { method: 'GET', url: 'https://example.com/' } };
    const tool = await gateway().api('POST', `${other.path}/tools`, { key: other.developerKey, body });

    expect((await call('PATCH', '/nodes/start', { data: { tools: [tool.body.id] } })).status).toBe(400);
  });

  test('are all stored when many are added at once', async () => {
    const names = Array.from({ length: 12 }, (_, index) => `n${index}`);
    const answers = await Promise.all(
      names.map((id) => call('POST', '/nodes', { id, type: 'say', data: { title: id } })),
    );

    expect(answers.map(({ status }) => status)).toEqual(names.map(() => 201));
    const versions = new Set(answers.map(({ headers }) => headers.get('etag')));
    expect(versions.size).toBe(names.length);
    expect((await call('GET', '/nodes')).body.pagination.total).toBe(3 + names.length);
  });
});

describe('Edges', () => {
  test('can be added, read, listed, changed and removed', async () => {
    const input = {
      source: 'start',
      target: 'end',
      data: { label: 'rude', condition: 'The caller shouts.', priority: 3, fallback: false },
    };
    const added = await call('POST', '/edges', input);
    expect(added).toMatchObject({ status: 201, body: input });
    const place = `/edges/${added.body.id}`;
    expect((await call('GET', place)).body).toEqual(added.body);
    expect((await call('GET', '/edges?limit=1&offset=2')).body.data).toEqual([added.body]);

    const changed = await call('PATCH', place, { data: { condition: { event: 'dtmf', digits: '1' } } });
    expect(changed.body).toEqual({
      ...added.body,
      data: { ...input.data, condition: { event: 'dtmf', digits: '1' } },
    });
    expect((await call('PATCH', place, { data: { condition: null, priority: null } })).body.data).toEqual({
      ...input.data,
      condition: null,
      priority: 0,
    });

    expect((await call('DELETE', place)).status).toBe(204);
    for (const method of ['GET', 'DELETE', 'PATCH']) {
      const answer = await call(method, place, method === 'PATCH' ? {} : undefined);
      expect(answer).toMatchObject({ status: 404, body: { code: 'edge_not_found' } });
    }
  });
});
