import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { startTwoGateways, type TestGateway, type TestProject } from '../support/gateway.ts';

let nodes: Awaited<ReturnType<typeof startTwoGateways>>;
let project: TestProject;
beforeAll(async () => {
  nodes = await startTwoGateways();
  project = await nodes.first.createProject();
});
afterAll(() => nodes.stop());

const post = (path: string, once: string, body: unknown, gateway: TestGateway = nodes.first) =>
  gateway.api('POST', project.path + path, {
    key: project.developerKey,
    headers: { 'idempotency-key': once },
    body,
  });
const caseCount = async () =>
  (await nodes.first.api('GET', `${project.path}/test-cases`, { key: project.developerKey })).body.pagination
    .total as number;

describe('A repeated POST', () => {
  test('with an equal body in another spelling gets the first response', async () => {
    const first = await post('/test-cases', 'a', { name: 'x', description: 'y' });
    const again = await post('/test-cases', 'a', '{ "description":"y",\n "name" : "x" }', nodes.second);

    expect(first.headers.get('idempotency-replayed')).toBeNull();
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect([again.status, again.body]).toEqual([201, first.body]);
  });

  test.each([
    ['another body', '/test-cases', { name: 'other' }],
    ['another route', '/test-suites', { name: 'x' }],
  ])('with %s is 409 and creates nothing', async (name, path, body) => {
    const once = name.replaceAll(' ', '-');
    await post('/test-cases', once, { name: 'x' });
    const before = await caseCount();

    const answer = await post(path, once, body);

    expect(answer).toMatchObject({ status: 409, body: { code: 'idempotency_key_reused' } });
    expect(await caseCount()).toBe(before);
  });

  test('for an API key has null in place of the key', async () => {
    const create = () =>
      nodes.first.api('POST', `${project.path}/api-keys`, {
        headers: { 'idempotency-key': 'k' },
        body: { name: 'once', kind: 'secret' },
      });
    const [first, again] = [await create(), await create()];

    expect(first.body.key).toMatch(/^sk_/);
    expect(again.body).toEqual({ ...first.body, key: null });
  });

  test('for every other resource creates it once', async () => {
    for (const [path, body] of [
      ['/test-suites', { name: 's' }],
      ['/sessions', { session_id: 'once' }],
      ['/pathway/nodes', { type: 'say', data: { title: 'x' } }],
      ['/pathway/edges', { source: 'start', target: 'end' }],
      ['/pathway/versions/1/restore', undefined],
    ] as const) {
      const first = await post(path, path, body);
      const again = await post(path, path, body);
      expect(again.headers.get('idempotency-replayed')).toBe('true');
      expect([path, again.status, again.body]).toEqual([path, first.status, first.body]);
    }
    const create = () =>
      nodes.first.api('POST', '/v1/projects', { headers: { 'idempotency-key': 'p' }, body: { name: 'p' } });
    expect((await create()).body.id).toBe((await create()).body.id);
  });

  test('for a session, running on two nodes at once, creates one session', async () => {
    for (let round = 0; round < 5; round += 1) {
      const body = { session_id: `session ${round}` };
      const answers = await Promise.all(
        Array.from({ length: 8 }, (_, index) =>
          post('/sessions', `session-${round}`, body, index % 2 === 0 ? nodes.first : nodes.second),
        ),
      );
      expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200));
      expect(answers.filter(({ headers }) => headers.has('idempotency-replayed'))).toHaveLength(7);
    }
  });

  test('for a session that is live under another key is refused and stores nothing', async () => {
    await post('/sessions', 'live', { session_id: 'live' });
    const refused = await post('/sessions', 'late', { session_id: 'live' });
    expect(refused).toMatchObject({ status: 400, body: { code: 'session_id_in_use' } });
    await nodes.first.api('DELETE', `${project.path}/sessions`, {
      key: project.developerKey,
      body: { session_id: 'live' },
    });
    const answer = await post('/sessions', 'late', { session_id: 'live' });
    expect([answer.status, answer.headers.get('idempotency-replayed')]).toEqual([200, null]);
  });

  test('after an error runs again', async () => {
    const unknown = { name: 's', testCaseIds: ['rubbish'] };
    expect((await post('/test-suites', 'refused', unknown)).status).toBe(400);

    const answer = await post('/test-suites', 'refused', { name: 's' });

    expect(answer.status).toBe(201);
    expect(answer.headers.get('idempotency-replayed')).toBeNull();
  });
});

test.each(['', 'two words', 'ümlaut', 'x'.repeat(256)])('The Idempotency-Key %j is refused', async (once) => {
  const answer = await post('/test-cases', once, { name: 'x' });
  expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_idempotency_key' } });
});
