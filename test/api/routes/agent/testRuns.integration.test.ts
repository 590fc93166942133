import { beforeAll, describe, expect, test } from 'vitest';

import { sharedGateway, type TestProject } from '../../../support/gateway.ts';

const gateway = sharedGateway();
let project: TestProject;
let suiteId: string;
let cases: { good: string; bad: string; tool: string };

const call = (method: string, path: string, body?: unknown) =>
  gateway().api(method, `${project.path}${path}`, {
    key: project.developerKey,
    ...(body === undefined ? {} : { body }),
  });

const node = (id: string, type: string, data: object) => ({
  id,
  type,
  data: { title: id, prompt: '', tools: [], ...data },
  position: { x: 0, y: 0 },
});
const edge = (id: string, source: string, target: string, condition: unknown = null) => ({
  id,
  source,
  target,
  data: { label: id, condition },
});

beforeAll(async () => {
  project = await gateway().createProject();
  const tool = await call('POST', '/tools', {
    name: 'find_slot',
    description: 'Finds a free slot.',
    http: { method: 'GET', url: 'https://clinic.example/slots' },
  });
  const pathway = await call('PUT', '/pathway', {
    nodes: [
      node('start', 'start', { prompt: 'Greet {{ name }}.' }),
      node('slot', 'tool', { tools: [tool.body.id] }),
      node('offer', 'say', { prompt: 'There is one on {{ find_slot.day }}.' }),
      node('end', 'end', { prompt: 'Goodbye.' }),
    ],
    edges: [edge('a', 'start', 'slot'), edge('b', 'slot', 'offer'), edge('c', 'offer', 'end')],
  });
  expect(pathway.status, JSON.stringify(pathway.body)).toBe(200);
  const create = async (body: object) => {
    const { body: created, status } = await call('POST', '/test-cases', body);
    expect(status, JSON.stringify(created)).toBe(201);
    return created.id as string;
  };
  const turns = [{ say: 'Hello' }, { say: 'Yes' }, { say: 'Thanks' }];
  const toolMocks = [{ name: 'find_slot', result: { day: 'Monday' } }];
  cases = {
    good: await create({
      name: 'Offers a slot',
      variables: { name: 'Amy' },
      turns: [turns[0], { expect: { type: 'contains', value: 'hELLO' } }, ...turns.slice(1)],
      toolMocks,
      assertions: [
        { type: 'contains', value: 'Monday' },
        { type: 'tool_called', name: 'find_slot' },
        { type: 'node_visited', nodeId: 'offer' },
        { type: 'ended_by', value: 'agent' },
        { type: 'regex', value: 'on (Mon|Tues)day' },
        { type: 'json_path', path: '$.find_slot.day', value: 'Monday' },
      ],
    }),
    bad: await create({
      name: 'Offers <Sunday>',
      turns,
      toolMocks,
      assertions: [{ type: 'contains', value: '<Sunday>' }],
    }),
    tool: await create({
      name: 'Has no mock',
      turns,
      assertions: [
        { type: 'tool_called', name: 'find_slot' },
        { type: 'not_contains', value: 'day' },
      ],
    }),
  };
  const suite = await call('POST', '/test-suites', {
    name: 'Before each release',
    testCaseIds: Object.values(cases),
  });
  suiteId = suite.body.data.id;
});

/** Starts a run and waits for its end. */
async function run(path: string, body?: object) {
  const started = await call('POST', `${path}/runs`, body);
  expect(started.status, JSON.stringify(started.body)).toBe(202);
  const { id } = started.body.data;
  await untilEnded(id);
  return (await call('GET', `/test-runs/${id}`)).body.data;
}

async function untilEnded(id: string) {
  await expect
    .poll(async () => (await call('GET', `/test-runs/${id}`)).body.data.endedAt, { timeout: 20_000 })
    .not.toBeNull();
}

describe('A test run', () => {
  test('plays each case as often as asked for, and shows what was seen', async () => {
    const shown = await run(`/test-suites/${suiteId}`, { repeat: 2, concurrency: 2, seed: 7 });

    expect(shown).toMatchObject({
      testSuiteId: suiteId,
      name: 'Before each release',
      status: 'failed',
      version: 'live',
      repeat: 2,
      concurrency: 2,
      seed: 7,
      summary: { passed: 2, failed: 1, flaky: 0, errors: 0 },
    });
    const [good, bad] = shown.cases;
    expect(good).toMatchObject({
      testCaseId: cases.good,
      status: 'passed',
      passed: 2,
      failed: 0,
      passRate: { value: 1, low: 0.3424, high: 1 },
      latencyMs: { p50: expect.any(Number), p95: expect.any(Number) },
    });
    expect(good.runs.map(({ index }: { index: number }) => index)).toEqual([0, 1]);
    expect(good.runs[0].assertions[0]).toMatchObject({ type: 'contains', passed: true, turn: 1 });
    expect(good.runs[0].assertions[1]).toMatchObject({ seen: expect.stringContaining('Monday'), turn: 2 });
    expect(bad.runs[0].assertions).toEqual([
      {
        type: 'contains',
        passed: false,
        seen: expect.stringContaining('Monday'),
        reason: 'the agent did not say “<Sunday>”',
      },
    ]);
  });

  test('marks its sessions, and leaves them out of lists unless they are asked for', async () => {
    const { cases: played } = await run(`/test-cases/${cases.good}`);
    const { sessionId } = played[0].runs[0];

    const history = await call('GET', `/session-history/${sessionId}`);
    const ids = async (query: string) =>
      (await call('GET', `/session-history?limit=200&${query}`)).body.results.map(
        (one: { sessionId: string }) => one.sessionId,
      );

    expect(history.body).toMatchObject({ test: true, status: 'ended', variables: { name: 'Amy' } });
    expect(history.body.messages.map(({ role }: { role: string }) => role)).toContain('assistant');
    expect(await ids('includeTests=true')).toContain(sessionId);
    expect(await ids('')).not.toContain(sessionId);
    expect((await call('GET', '/session-history/stats')).body.total).toBe(0);
    expect((await call('GET', '/webhook-deliveries')).body.data).toEqual([]);
    const { quotas } = (await call('GET', '/usage')).body;
    expect(quotas).toMatchObject({ sessionsPerDay: { used: 0 }, testRuns: { used: expect.any(Number) } });
  });

  test('plays the mode and model that are asked for', async () => {
    const own = await run(`/test-cases/${cases.good}`);
    expect(own).toMatchObject({ mode: null, model: null });
    const other = await run(`/test-cases/${cases.good}`, { mode: 'turbo', model: 'some-model' });
    expect(other).toMatchObject({ mode: 'turbo', model: 'some-model' });
    const listed = await call('GET', '/test-runs?limit=1');
    expect(listed.body.data[0]).toMatchObject({ mode: 'turbo', model: 'some-model' });
    for (const body of [{ mode: 'fast' }, { model: '' }])
      expect((await call('POST', `/test-cases/${cases.good}/runs`, body)).status).toBe(400);
  });

  test('compares with a baseline, of the same seed with the same seeds', async () => {
    const before = await run(`/test-suites/${suiteId}`, { seed: 3 });
    await call('PATCH', `/test-cases/${cases.bad}`, { assertions: [{ type: 'contains', value: 'Monday' }] });

    const after = await run(`/test-suites/${suiteId}`, { seed: 3, baselineRunId: before.id });

    expect(after.comparison).toEqual({
      newlyFailing: [],
      newlyPassing: [cases.bad],
      slower: expect.any(Array),
    });
    expect(after.status).toBe('passed');
    expect(after.cases[0].runs[0].seed).toBe(before.cases[0].runs[0].seed);
    const unknown = await call('POST', `/test-suites/${suiteId}/runs`, { baselineRunId: 'nothing' });
    expect(unknown).toMatchObject({ status: 404, body: { code: 'test_run_not_found' } });
  });

  test('plays the version that is asked for', async () => {
    await call('PATCH', '/agent', { status: 'published' });
    await call('PATCH', '/agent', { status: 'draft' });
    await call('PATCH', '/pathway/nodes/offer', { data: { prompt: 'Come on {{ find_slot.day }} at noon.' } });

    const statusOf = async (version: string) => {
      const { cases: played } = await run(`/test-cases/${cases.good}`, { version });
      return played[0].runs[0].assertions.at(-2).seen;
    };

    expect(await statusOf('live')).toContain('There is one on Monday');
    expect(await statusOf('draft')).toContain('Come on Monday at noon');
  });

  test('is canceled, and then no more', async () => {
    const slow = await call('POST', '/test-cases', { name: 'slow', turns: [{ waitMs: 600_000 }] });
    const { id } = (await call('POST', `/test-cases/${slow.body.id}/runs`, { repeat: 3 })).body.data;

    const canceled = await call('POST', `/test-runs/${id}/cancel`);

    expect(canceled.body.data).toMatchObject({ status: 'canceled', cases: [{ status: 'canceled' }] });
    expect((await call('POST', `/test-runs/${id}/cancel`)).status).toBe(200);
    const done = await run(`/test-cases/${cases.good}`);
    const late = await call('POST', `/test-runs/${done.id}/cancel`);
    expect(late).toMatchObject({ status: 409, body: { code: 'test_run_ended' } });
  });

  test('is made of a session, which is erased with its customer', async () => {
    const variables = { customerId: 'amy-1', name: 'Amy' };
    await call('POST', '/sessions', { session_id: 'real-1', variables });
    for (const content of ['Hello, I am Amy', 'Thanks'])
      await call('POST', '/chat/completions', {
        session_id: 'real-1',
        messages: [{ role: 'user', content }],
      });

    const made = await call('POST', '/test-cases/from-session', { sessionId: 'real-1', name: 'Of Amy' });
    const plain = await call('POST', '/test-cases/from-session', { sessionId: 'real-1', mask: false });
    const replayed = await call('POST', '/sessions/real-1/replay', { version: 'draft' });
    const replay = replayed.body.data.id;
    await untilEnded(replay);

    expect(made).toMatchObject({
      status: 201,
      body: { name: 'Of Amy', channel: 'chat', turns: [{ say: 'Hello, I am [name]' }, { say: 'Thanks' }] },
    });
    expect(plain.body.turns[0]).toEqual({ say: 'Hello, I am Amy' });
    const shown = (await call('GET', `/test-runs/${replay}`)).body.data;
    expect(shown).toMatchObject({ version: 'draft', status: 'passed', cases: [{ testCaseId: null }] });
    expect(shown.cases[0].runs[0].replay).toMatchObject([
      { turn: 0, said: 'Hello, I am Amy', before: expect.any(String), after: expect.any(String) },
      { turn: 1, said: 'Thanks' },
    ]);

    const playOfCase = (await run(`/test-cases/${plain.body.id}`)).id;
    await call('DELETE', '/sessions', { session_id: 'real-1' });
    const erased = await call('DELETE', '/customers/amy-1');
    expect(erased.status).toBe(204);
    for (const gone of [`/test-cases/${made.body.id}`, `/test-runs/${replay}`, `/test-runs/${playOfCase}`])
      expect((await call('GET', gone)).status).toBe(404);
    for (const [path, body] of [
      ['/test-cases/from-session', { sessionId: 'real-1' }],
      ['/sessions/real-1/replay', { version: 'live' }],
    ] as const)
      expect(await call('POST', path, body)).toMatchObject({
        status: 404,
        body: { code: 'session_not_found' },
      });
  });

  test('over the phone waits for a node that places calls, also of chat cases', async () => {
    const started = await call('POST', `/test-cases/${cases.good}/runs`, { channel: 'phone' });
    const path = `/test-runs/${started.body.data.id}`;

    await untilEnded((await run(`/test-cases/${cases.good}`, { channel: 'chat' })).id);
    expect((await call('GET', path)).body.data).toMatchObject({ status: 'queued', endedAt: null });
    expect((await call('POST', `${path}/cancel`)).body.data).toMatchObject({
      status: 'canceled',
      cases: [{ runs: [{ status: 'canceled' }] }],
    });
  });

  test('is listed, and reported as JUnit XML and as HTML', async () => {
    const bad = await call('POST', '/test-cases', {
      name: 'Offers <Sunday>',
      turns: [{ say: '<b>Hello</b>' }],
      assertions: [{ type: 'contains', value: '<Sunday>' }],
    });
    const { id } = await run(`/test-cases/${bad.body.id}`);

    const listed = await call('GET', '/test-runs?limit=1&status=failed');
    const junit = await call('GET', `/test-runs/${id}/junit`);
    const report = await call('GET', `/test-runs/${id}/report`);
    const chinese = await gateway().api('GET', `${project.path}/test-runs/${id}/report`, {
      key: project.developerKey,
      headers: { 'accept-language': 'zh-HK, en;q=0.5' },
    });

    expect(listed.body).toMatchObject({
      data: [{ id, summary: { failed: 1 } }],
      pagination: { nextCursor: expect.any(String) },
    });
    expect(listed.body.data[0].cases).toBeUndefined();
    expect((await call('GET', `/test-runs?testSuiteId=${suiteId}&limit=1`)).body.data[0].testSuiteId).toBe(
      suiteId,
    );
    expect(junit.headers.get('content-type')).toContain('application/xml');
    expect(junit.body).toContain('tests="1" failures="1" errors="0" skipped="0"');
    expect(junit.body).toContain('name="Offers &lt;Sunday&gt;"');
    expect(report.headers.get('content-type')).toContain('text/html');
    expect(report.body).toContain('&lt;b&gt;Hello&lt;/b&gt;');
    expect(report.body).not.toContain('<b>Hello');
    expect(report.body).not.toContain('<script');
    expect(report.body).toContain('<html lang="en">');
    expect(chinese.body).toContain('<html lang="zh-TW">');
    expect(chinese.headers.get('vary')).toContain('Accept-Language');
  });

  test('is refused without cases, over the quota, and of other projects', async () => {
    const empty = (await call('POST', '/test-suites', { name: 'empty' })).body.data.id;
    const other = await gateway().createProject();
    const { id } = await run(`/test-cases/${cases.good}`);
    await gateway().api('PATCH', project.path, { body: { quotas: { testRuns: 0 } } });

    expect(await call('POST', `/test-suites/${empty}/runs`)).toMatchObject({
      status: 400,
      body: { code: 'no_test_cases' },
    });
    expect(await call('POST', `/test-suites/${suiteId}/runs`)).toMatchObject({
      status: 429,
      body: { code: 'quota_exceeded', quota: 'testRuns' },
    });
    for (const path of [`test-runs/${id}`, `test-runs/${id}/junit`, `test-runs/${id}/report`])
      expect(await gateway().api('GET', `${other.path}/${path}`, { key: other.developerKey })).toMatchObject({
        status: 404,
        body: { code: 'test_run_not_found' },
      });
  });
});
