import { describe, expect, test, vi } from 'vitest';

import { sharedGateway, type TestProject } from '../../../support/gateway.ts';

const gateway = sharedGateway();
const call = (project: TestProject, method: string, path: string, body?: unknown) =>
  gateway().api(method, `${project.path}${path}`, { key: project.developerKey, body });
const talk = async (project: TestProject, session_id: string) => {
  const messages = [{ role: 'user', content: `Hello, this is ${session_id}` }];
  await call(project, 'POST', '/chat/completions', { session_id, messages });
};
const end = (project: TestProject, session_id: string) =>
  call(project, 'DELETE', '/sessions', { session_id });
const CRITERIA = [
  { name: 'polite', description: 'The agent is polite' },
  { name: 'tone', description: 'How warm the agent is', type: 'score' },
];

describe('A review', () => {
  test('is asked for by a rule, given by a person, replaced, and shown in the history', async () => {
    const project = await gateway().createProject();
    const rules = { reviewRules: [{ when: 'random', percent: 100 }, { when: 'interrupted_often' }] };
    expect(await call(project, 'PATCH', '', rules)).toMatchObject({ status: 200, body: rules });
    await talk(project, 'a');
    const tooEarly = await call(project, 'POST', '/session-history/a/review', { verdict: 'good' });
    expect(tooEarly).toMatchObject({ status: 409, body: { code: 'session_active' } });
    await end(project, 'a');
    await vi.waitFor(
      async () =>
        expect((await call(project, 'GET', '/reviews')).body).toMatchObject({
          data: [{ sessionId: 'a', why: ['random'], status: 'ended', channel: 'chat', messageCount: 2 }],
          pagination: { total: 1 },
        }),
      { timeout: 20_000, interval: 500 },
    );

    const first = await call(project, 'POST', '/session-history/a/review', { verdict: 'good' });
    expect(first).toMatchObject({ status: 200, body: { verdict: 'good', by: { kind: 'developer' } } });
    const given = { verdict: 'bad', note: 'Said hello twice.', labels: ['greeting', 'wording'] };
    const { body: saved } = await call(project, 'POST', '/session-history/a/review', given);
    expect(saved).toMatchObject({ ...given, by: { kind: 'developer', keyId: expect.any(String) } });
    expect((await call(project, 'GET', '/session-history/a')).body.review).toEqual(saved);
    expect((await call(project, 'GET', '/reviews')).body.data).toEqual([]);
    expect((await call(project, 'GET', '/reviews?status=done')).body.data).toMatchObject([
      { sessionId: 'a', why: ['random'], review: saved },
    ]);
  });

  test('of a session that a person chose is among those that are done; its criteria are those of the judge', async () => {
    const project = await gateway().createProject();
    await call(project, 'PATCH', '/agent', { postEvaluationConfig: { criteria: CRITERIA } });
    await talk(project, 'b');
    await end(project, 'b');
    await vi.waitFor(
      async () => expect((await call(project, 'GET', '/session-history/b')).body.evaluation).toBeDefined(),
      { timeout: 20_000, interval: 500 },
    );
    const review = { verdict: 'good', criteria: { polite: 'good' } };
    for (const name of ['polit', 'tone'])
      expect(
        await call(project, 'POST', '/session-history/b/review', {
          verdict: 'good',
          criteria: { [name]: 'bad' },
        }),
      ).toMatchObject({ status: 400, body: { details: [{ path: `/criteria/${name}` }] } });
    expect((await call(project, 'POST', '/session-history/b/review', review)).body).toMatchObject(review);
    expect((await call(project, 'GET', '/reviews?status=done')).body.data).toMatchObject([
      { sessionId: 'b', why: [], review },
    ]);
    await vi.waitFor(
      async () =>
        expect((await call(project, 'GET', '/insights?metric=judgeAgreement')).body).toMatchObject({
          series: [{ key: 'polite', points: [{ n: 1, value: expect.any(Number) }] }],
        }),
      { timeout: 20_000, interval: 500 },
    );
    const unknown = await call(project, 'POST', '/session-history/none/review', { verdict: 'good' });
    expect(unknown).toMatchObject({ status: 404, body: { code: 'session_not_found' } });
  });

  test('is paged', async () => {
    const project = await gateway().createProject();
    for (const id of ['a', 'b', 'c']) {
      await talk(project, id);
      await end(project, id);
      await call(project, 'POST', `/session-history/${id}/review`, { verdict: 'bad' });
    }
    const { body: page } = await call(project, 'GET', '/reviews?status=done&limit=2');
    expect(page.data.map(({ sessionId }: { sessionId: string }) => sessionId)).toEqual(['c', 'b']);
    const next = `/reviews?status=done&limit=2&cursor=${page.pagination.nextCursor}`;
    expect((await call(project, 'GET', next)).body.data).toMatchObject([{ sessionId: 'a' }]);
  });

  test.each([
    [[{ when: 'random' }, { when: 'random', percent: 5 }], 'one rule at most for each'],
    [[{ when: 'random', percent: 0 }], 'percent'],
    [[{ when: 'random', percent: 101 }], 'percent'],
    [[{ when: 'bored' }], 'when'],
  ])('has no such rules: %j', async (reviewRules, message) => {
    const project = await gateway().createProject();
    const { status, body } = await call(project, 'PATCH', '', { reviewRules });
    expect([status, JSON.stringify(body)]).toEqual([400, expect.stringContaining(message)]);
  });
});

describe('Sessions', () => {
  test('become test cases at once, all of them or none', async () => {
    const project = await gateway().createProject();
    for (const id of ['a', 'b']) await talk(project, id);
    const make = (body: unknown) => call(project, 'POST', '/test-cases/from-session', body);
    expect(await make({ sessionIds: ['a', 'none', 'b', 'neither'] })).toMatchObject({
      status: 404,
      body: {
        code: 'session_not_found',
        details: [
          { path: '/sessionIds', message: expect.stringContaining('none') },
          { path: '/sessionIds', message: expect.stringContaining('neither') },
        ],
      },
    });
    expect((await call(project, 'GET', '/test-cases')).body.data).toEqual([]);
    await call(project, 'POST', '/sessions', { session_id: 'silent' });
    expect(await make({ sessionIds: ['a', 'silent'] })).toMatchObject({
      status: 400,
      body: { code: 'nothing_to_play', error: expect.stringContaining('silent') },
    });
    expect(await make({ sessionIds: ['a', 'b', 'a'] })).toMatchObject({
      status: 201,
      body: { data: [{ name: 'Session a' }, { name: 'Session b' }] },
    });
    for (const body of [{}, { sessionIds: [] }, { sessionId: 'a', sessionIds: ['b'] }])
      expect((await make(body)).status).toBe(400);
    expect((await make({ sessionIds: ['a'], name: 'Ada' })).status).toBe(400);
    expect((await make({ sessionIds: Array.from({ length: 101 }, (_, index) => `s${index}`) })).status).toBe(
      400,
    );
    expect((await call(project, 'GET', '/test-cases')).body.data).toHaveLength(2);
  });
});
