import { beforeAll, describe, expect, test } from 'vitest';

import { sharedGateway, type TestProject } from '../../../support/gateway.ts';

const gateway = sharedGateway();
let project: TestProject;
beforeAll(async () => {
  project = await gateway().createProject();
});

const call = (method: string, path: string, body?: unknown) =>
  gateway().api(method, `${project.path}${path}`, {
    key: project.developerKey,
    ...(body === undefined ? {} : { body }),
  });
const createCase = async (name = 'case') => (await call('POST', '/test-cases', { name })).body.id as string;
const ids = (answer: { body: { data: { testCases: { id: string }[] } } }) =>
  answer.body.data.testCases.map(({ id }) => id);

const FULL = {
  name: 'Books',
  description: 'A whole talk.',
  channel: 'phone',
  persona: {
    prompt: 'You are in a hurry.',
    goal: 'An appointment',
    traits: ['curt'],
    facts: { name: 'Amy' },
    hangUpWhen: 'It takes too long',
    maxTurns: 5,
    maxSeconds: 60,
  },
  variables: { name: 'Amy', deep: { list: [1, null, 'x'] } },
  turns: [
    { say: 'Hello' },
    { dtmf: '1#' },
    { waitMs: 500 },
    { interrupt: { afterMs: 300, say: 'Stop' } },
    { silenceMs: 900 },
    { expect: { type: 'contains', value: 'hello' } },
    { hangup: true },
  ],
  toolMocks: [
    { name: 'order', when: { '==': [{ var: 'size' }, 'large'] }, result: { id: 1 }, delayMs: 5 },
    { name: 'order', error: 'sold out' },
  ],
  allowRealTools: true,
  phone: { codec: 'G722', lossPercent: 2.5, jitterMs: 30, noise: 'street', snrDb: 12, voice: 'rms' },
  assertions: [
    { type: 'contains', value: 'hello' },
    { type: 'not_contains', value: 'sorry' },
    { type: 'regex', value: '^\\d+$' },
    { type: 'node_visited', nodeId: 'start' },
    { type: 'variable_equals', name: 'a', value: { any: ['thing', null, 1.5] } },
    { type: 'variable_equals', name: 'b', value: null },
    { type: 'tool_called', name: 'end_call' },
    { type: 'max_latency_ms', value: 900 },
    { type: 'judge', prompt: 'Was it polite?', votes: 3 },
    { type: 'said_in_order', values: ['hello', 'goodbye'] },
    { type: 'not_said', value: 'sorry' },
    { type: 'language_is', value: 'de' },
    { type: 'interrupted_within_ms', value: 400 },
    { type: 'ended_by', value: 'caller' },
    { type: 'transferred_to', to: '+49301234567' },
    { type: 'dtmf_sent', digits: '12#' },
    { type: 'tool_called_with', name: 'order', arguments: { size: 'large' } },
    { type: 'json_path', path: "$.order.items[0]['net price']", value: 5 },
  ],
};

describe('Test cases', () => {
  test('store every field', async () => {
    const created = await call('POST', '/test-cases', FULL);

    expect(created).toMatchObject({ status: 201, body: { ...FULL, projectId: project.id } });
    expect((await call('GET', `/test-cases/${created.body.id}`)).body).toEqual(created.body);
  });

  test('have defaults', async () => {
    const { body } = await call('POST', '/test-cases', { name: 'bare' });

    expect(body).toMatchObject({
      description: null,
      channel: 'chat',
      persona: null,
      variables: null,
      turns: null,
      toolMocks: [],
      allowRealTools: false,
      phone: null,
      assertions: [],
    });
  });

  test.each(['PUT', 'PATCH'])('change only the supplied fields by %s', async (method) => {
    const { body: before } = await call('POST', '/test-cases', FULL);

    const after = await call(method, `/test-cases/${before.id}`, { turns: null, name: 'Other' });

    expect(after.body).toEqual({ ...before, turns: null, name: 'Other', updatedAt: after.body.updatedAt });
    expect((await call('GET', `/test-cases/${before.id}`)).body).toEqual(after.body);
  });

  test.each([
    [{}, '/name'],
    [{ name: 'x', channel: 'fax' }, '/channel'],
    [{ name: 'x', turns: [{ say: 'a', dtmf: '1' }] }, '/turns/0'],
    [{ name: 'x', turns: [{ dtmf: 'E' }] }, '/turns/0/dtmf'],
    [{ name: 'x', turns: [{}] }, '/turns/0'],
    [{ name: 'x', assertions: [{ type: 'regex', value: '(' }] }, '/assertions/0/value'],
    [{ name: 'x', assertions: [{ type: 'regex', value: '(a)\\1' }] }, '/assertions/0/value'],
    [{ name: 'x', turns: [{ expect: { type: 'regex', value: '(?=a)' } }] }, '/turns/0/expect/value'],
    [{ name: 'x', assertions: [{ type: 'json_path', path: '$..a', value: 1 }] }, '/assertions/0/path'],
    [{ name: 'x', toolMocks: [{ name: 'a', when: { magic: [1] } }] }, '/toolMocks/0/when'],
    [{ name: 'x', toolMocks: [{ name: 'a', result: 1, error: 'b' }] }, '/toolMocks/0/error'],
    [{ name: 'x', assertions: [{ type: 'nothing' }] }, '/assertions/0/type'],
    [{ name: 'x', assertions: [{ type: 'variable_equals', name: 'a' }] }, '/assertions/0/value'],
    [{ name: 'x', assertions: [{ type: 'max_latency_ms', value: '9' }] }, '/assertions/0/value'],
  ])('refuse %j', async (body, path) => {
    const answer = await call('POST', '/test-cases', body);

    expect(answer.status).toBe(400);
    expect(answer.body.details[0].path).toContain(path);
  });

  test('are removed from their suites when they are deleted', async () => {
    const [kept, gone] = [await createCase(), await createCase()];
    const suite = (await call('POST', '/test-suites', { name: 's', testCaseIds: [gone, kept] })).body.data;

    expect((await call('DELETE', `/test-cases/${gone}`)).status).toBe(204);

    expect((await call('GET', `/test-suites/${suite.id}`)).body.data.testCases).toEqual([{ id: kept }]);
    for (const method of ['GET', 'DELETE', 'PATCH']) {
      const answer = await call(method, `/test-cases/${gone}`, method === 'PATCH' ? {} : undefined);
      expect(answer).toMatchObject({ status: 404, body: { code: 'test_case_not_found' } });
    }
  });
});

describe('Test suites', () => {
  test('are returned in data, with each case once, in the given order', async () => {
    const cases = [await createCase('a'), await createCase('b'), await createCase('c')];
    const [a = '', b = '', c = ''] = cases;

    const created = await call('POST', '/test-suites', {
      name: 's',
      testCaseIds: [c, a, c.toUpperCase(), b],
    });

    expect(created).toMatchObject({ status: 201, body: { data: { name: 's', projectId: project.id } } });
    expect(ids(created)).toEqual([c, a, b]);
    expect((await call('GET', `/test-suites/${created.body.data.id}`)).body).toEqual(created.body);
    const listed = await call('GET', '/test-suites?limit=200');
    expect(listed.body.data).toContainEqual(created.body.data);
  });

  test.each(['PUT', 'PATCH'])('replace all connections by %s, or keep them', async (method) => {
    const [a, b] = [await createCase(), await createCase()];
    const { data: suite } = (await call('POST', '/test-suites', { name: 's', testCaseIds: [a] })).body;
    const place = `/test-suites/${suite.id}`;

    expect(ids(await call(method, place, { name: 'renamed' }))).toEqual([a]);
    expect(ids(await call(method, place, { testCaseIds: [b, a] }))).toEqual([b, a]);
    expect(ids(await call(method, place, { testCaseIds: [] }))).toEqual([]);
    expect((await call('GET', place)).body.data).toMatchObject({ name: 'renamed', testCases: [] });
  });

  test('refuse unknown cases by id', async () => {
    const other = await gateway().createProject();
    const request = { key: other.developerKey, body: { name: 'theirs' } };
    const theirs = (await gateway().api('POST', `${other.path}/test-cases`, request)).body.id;
    const own = await createCase();
    const { data: suite } = (await call('POST', '/test-suites', { name: 's', testCaseIds: [own] })).body;
    const testCaseIds = [own, theirs, 'rubbish'];
    const refusal = {
      status: 400,
      body: {
        code: 'unknown_test_case',
        details: [{ path: '/testCaseIds/1' }, { path: '/testCaseIds/2' }],
      },
    };

    expect(await call('POST', '/test-suites', { name: 's', testCaseIds })).toMatchObject(refusal);
    expect(await call('PUT', `/test-suites/${suite.id}`, { testCaseIds })).toMatchObject(refusal);
    expect(ids(await call('GET', `/test-suites/${suite.id}`))).toEqual([own]);
  });

  test('can be written while their cases are deleted', async () => {
    for (let round = 0; round < 15; round += 1) {
      const id = await createCase();
      const [created, removed] = await Promise.all([
        call('POST', '/test-suites', { name: 's', testCaseIds: [id] }),
        call('DELETE', `/test-cases/${id}`),
      ]);
      expect(removed.status).toBe(204);
      expect([201, 400]).toContain(created.status);
    }
  });

  test('keep their cases when they are deleted', async () => {
    const id = await createCase();
    const { data: suite } = (await call('POST', '/test-suites', { name: 's', testCaseIds: [id] })).body;

    expect((await call('DELETE', `/test-suites/${suite.id}`)).status).toBe(204);

    expect((await call('GET', `/test-cases/${id}`)).status).toBe(200);
    for (const method of ['GET', 'DELETE', 'PUT']) {
      const answer = await call(method, `/test-suites/${suite.id}`, method === 'PUT' ? {} : undefined);
      expect(answer).toMatchObject({ status: 404, body: { code: 'test_suite_not_found' } });
    }
  });
});
