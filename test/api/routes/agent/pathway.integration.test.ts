import { beforeEach, describe, expect, test } from 'vitest';

import { sharedGateway, type TestProject } from '../../../support/gateway.ts';

const gateway = sharedGateway();
let project: TestProject;
beforeEach(async () => {
  project = await gateway().createProject();
});

const call = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
  gateway().api(method, `${project.path}/pathway${path}`, {
    key: project.developerKey,
    headers,
    ...(body === undefined ? {} : { body }),
  });
const versionNow = async () => (await call('GET', '')).body.version as number;

const GRAPH = {
  nodes: [
    { id: 'start', type: 'start', data: { title: 'Hello' } },
    { id: 'bye', type: 'end', data: { title: 'Bye', prompt: 'Say goodbye to {{ name }}.' } },
  ],
  edges: [{ id: 'done', source: 'start', target: 'bye', data: { condition: { '==': [{ var: 'a' }, 1] } } }],
};

describe('The pathway', () => {
  test('is the starter pathway at first, with its version as the ETag', async () => {
    const { status, body, headers } = await call('GET', '');

    expect(status).toBe(200);
    expect(headers.get('etag')).toBe('"1"');
    expect(body.version).toBe(1);
    expect(body.nodes.map(({ type }: { type: string }) => type)).toEqual(['start', 'conversation', 'end']);
  });

  test('can be replaced', async () => {
    const saved = await call('PUT', '', GRAPH);

    expect(saved).toMatchObject({ status: 200, body: { version: 2, ...GRAPH } });
    expect(saved.headers.get('etag')).toBe('"2"');
    expect((await call('GET', '')).body).toEqual(saved.body);
  });

  test('gets no new version from an unchanged graph', async () => {
    const got = (await call('GET', '')).body;

    expect((await call('PUT', '', got)).body.version).toBe(1);
    expect((await call('PATCH', '/nodes/conversation', { data: { title: 'Help the caller' } })).status).toBe(
      200,
    );
    expect((await call('PATCH', '/edges/greeted', { data: { label: 'greeted' } })).status).toBe(200);
    expect(await versionNow()).toBe(1);
  });

  test.each([
    ['nothing', {}, '/nodes'],
    [
      'an edge to nowhere',
      { nodes: GRAPH.nodes, edges: [{ id: 'e', source: 'start', target: 'x' }] },
      '/edges/0/target',
    ],
    ['an unknown field', { ...GRAPH, colour: 'red' }, '/colour'],
  ])('with %s is refused without a change', async (_, graph, path) => {
    const answer = await call('PUT', '', graph);

    expect(answer.status).toBe(400);
    expect(answer.body.details.map((detail: { path: string }) => detail.path)).toContain(path);
    expect(await versionNow()).toBe(1);
  });

  test('gives 412 to one of two concurrent editors', async () => {
    const put = (title: string) => {
      const [start, ...others] = GRAPH.nodes;
      const nodes = [{ ...start, data: { title } }, ...others];
      return call('PUT', '', { ...GRAPH, nodes }, { 'if-match': '"1"' });
    };
    const answers = await Promise.all(['a', 'b', 'c', 'd'].map(put));

    expect(answers.map(({ status }) => status).sort()).toEqual([200, 412, 412, 412]);
    expect(answers.find(({ status }) => status === 412)?.body.code).toBe('version_mismatch');
    expect(await versionNow()).toBe(2);
  });

  test.each([
    ['"1"', 200],
    ['1', 200],
    ['W/"1"', 200],
    ['*', 200],
    ['"2"', 412],
    ['"0"', 412],
    ['"x"', 400],
    ['"1", "2"', 400],
    ['""', 400],
  ])('with If-Match %s gives %i', async (ifMatch, status) => {
    expect((await call('PUT', '', GRAPH, { 'if-match': ifMatch })).status).toBe(status);
  });

  test.each([
    ['POST', '/nodes', { type: 'say', data: { title: 'x' } }],
    ['PATCH', '/nodes/start', { data: { title: 'x' } }],
    ['DELETE', '/nodes/end', undefined],
    ['POST', '/edges', { source: 'start', target: 'end' }],
    ['PATCH', '/edges/greeted', { data: { label: 'x' } }],
    ['DELETE', '/edges/greeted', undefined],
    ['POST', '/versions/1/restore', undefined],
  ])('respects If-Match in %s %s', async (method, path, body) => {
    const refused = await call(method, path, body, { 'if-match': '"7"' });
    expect(refused).toMatchObject({ status: 412, body: { code: 'version_mismatch' } });

    expect((await call(method, path, body, { 'if-match': '"1"' })).status).toBeLessThan(300);
  });
});

describe('Pathway versions', () => {
  test('are listed newest first, shown, and restored as a new version', async () => {
    const first = (await call('GET', '')).body;
    await call('PUT', '', GRAPH);

    const list = (await call('GET', '/versions')).body;
    expect(list.pagination.total).toBe(2);
    expect(list.data).toMatchObject([
      { version: 2, nodeCount: 2, edgeCount: 1, restoredFrom: null, author: { kind: 'developer' } },
      { version: 1, nodeCount: 3, edgeCount: 2, restoredFrom: null, author: { kind: 'admin' } },
    ]);
    const shown = (await call('GET', '/versions/1')).body;
    expect(shown).toMatchObject({ version: 1, nodes: first.nodes, edges: first.edges });

    const restored = await call('POST', '/versions/1/restore');
    expect(restored).toMatchObject({
      status: 200,
      body: { version: 3, nodes: first.nodes, edges: first.edges },
    });
    expect((await call('GET', '/versions/3')).body.restoredFrom).toBe(1);
  });

  test.each(['9', '0', '-1', 'x', '1.0', '99999999999999999999'])(
    'do not include the number %s',
    async (number) => {
      for (const [method, path] of [
        ['GET', `/versions/${number}`],
        ['POST', `/versions/${number}/restore`],
      ] as const) {
        expect(await call(method, path)).toMatchObject({
          status: 404,
          body: { code: 'pathway_version_not_found' },
        });
      }
    },
  );

  test('with a deleted tool cannot be restored', async () => {
    const tool = { name: 'gone', http: { method: 'GET', url: 'https://example.com/' } };
    const key = project.developerKey;
    const { id } = (await gateway().api('POST', `${project.path}/tools`, { key, body: tool })).body;
    await call('PATCH', '/nodes/conversation', { data: { tools: [id] } });
    await call('PATCH', '/nodes/conversation', { data: { tools: [] } });
    await gateway().api('DELETE', `${project.path}/tools/${id}`, { key });

    const answer = await call('POST', '/versions/2/restore');

    expect(answer).toMatchObject({ status: 400, body: { details: [{ path: '/nodes/1/data/tools/0' }] } });
    expect(await versionNow()).toBe(3);
  });
});

describe('A pathway review', () => {
  test('of the stored graph needs no body', async () => {
    for (const body of [undefined, {}, null]) {
      expect(await call('POST', '/validate', body)).toMatchObject({ status: 200, body: { valid: true } });
    }
  });

  test('knows the variables of the agent, its tools and its numbers', async () => {
    const prompt = 'Say {{ tier }} and {{ line }}.';
    const nodes = [{ id: 's', type: 'start', data: { title: 'S', prompt } }];
    const unknown = async () =>
      (await call('POST', '/validate', { nodes, edges: [] })).body.problems.flatMap(
        ({ code, nodeId }: { code: string; nodeId?: string }) =>
          code === 'unknown_variable' ? [nodeId] : [],
      );
    expect(await unknown()).toEqual(['s', 's']);
    const post = (method: string, path: string, body: object) =>
      gateway().api(method, `${project.path}${path}`, { key: project.developerKey, body });
    const variableConfigs = [{ name: 'tier', type: 'string', description: '' }];
    await post('PATCH', '/agent', { variableConfigs });
    const trunk = await post('POST', '/trunks', { name: 'T', host: '127.0.0.1' });
    await post('POST', '/phone-numbers', {
      number: '+886223456781',
      trunkIds: [trunk.body.id],
      variables: { line: 'sales' },
    });
    expect(await unknown()).toEqual([]);
  });
});
