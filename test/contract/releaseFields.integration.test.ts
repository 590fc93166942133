import { beforeEach, expect, test } from 'vitest';
import { type ContractProject, contractRig, promptOf } from './support.ts';

const rig = contractRig();
let project: ContractProject;
beforeEach(async () => {
  rig.reply = { body: {} };
  project = await rig.project();
});

const prompt = (text: string, more: object = {}) =>
  project.call('PATCH', '/pathway/nodes/start', { data: { prompt: text, ...more } });
const publish = async (body?: object) => (await project.call('POST', '/agent/publish', body)).body;
const releases = async () => (await project.call('GET', '/releases')).body.data;
const releaseOf = async (sessionId: string) => (await project.history(sessionId)).release;
const lastPrompt = () => promptOf(project.asked('answer').at(-1));

beforeEach(() =>
  project.call('PUT', '/pathway', {
    nodes: [{ id: 'start', type: 'start', data: { title: 'Start', prompt: 'Say the first words.' } }],
    edges: [],
  }),
);

test('A publication is a release with its note, also where nothing changed, and sessions name it', async () => {
  await project.chat('Hi', 'before');
  const made = await publish({ note: 'First words' });
  await project.chat('Hi', 'after');
  await project.call('PATCH', '/agent', { status: 'published' });

  expect(made).toEqual({
    release: 1,
    createdAt: expect.any(String),
    createdBy: { kind: 'developer', keyId: expect.any(String), hint: expect.any(String) },
    note: 'First words',
    isLive: true,
  });
  expect(await releases()).toMatchObject([
    { release: 2, note: null, isLive: true },
    { release: 1, note: 'First words', isLive: false },
  ]);
  expect([await releaseOf('before'), await releaseOf('after')]).toEqual(['draft', 1]);
  const { body } = await project.call('GET', '/session-history?release=1');
  expect(body.results).toMatchObject([{ sessionId: 'after', release: 1 }]);
  const drafts = await project.call('GET', '/session-history?release=draft');
  expect(drafts.body.results).toMatchObject([{ sessionId: 'before', release: 'draft' }]);
  expect((await project.call('GET', '/sessions/after')).body.state.release).toBe(1);
});

test('A release with live: false leaves callers where they are, and can be tested', async () => {
  await publish();
  await project.call('PATCH', '/agent', { status: 'draft' });
  await prompt('Say the second words.');
  expect(await publish({ live: false })).toMatchObject({ release: 2, isLive: false });
  await prompt('Say the third words.');

  await project.chat('Hi', 'caller');
  expect(lastPrompt()).toContain('first words');
  expect(await releaseOf('caller')).toBe(1);
  expect((await project.call('GET', '/agent')).body.status).toBe('draft');
  const turns = [{ say: 'Hi' }];
  const tested = (await project.call('POST', '/test-cases', { name: 'Greets', turns })).body.id;
  const run = await project.call('POST', `/test-cases/${tested}/runs`, { release: 2 });
  expect(run).toMatchObject({ status: 202, body: { data: { release: 2 } } });
  await expect
    .poll(async () => (await project.call('GET', `/test-runs/${run.body.data.id}`)).body.data.endedAt)
    .not.toBeNull();
  expect(lastPrompt()).toContain('second words');
  expect(await project.call('POST', `/test-cases/${tested}/runs`, { release: 9 })).toMatchObject({
    status: 404,
    body: { code: 'release_not_found' },
  });
});

test('Edits of a published agent share a release until a session has begun on it', async () => {
  await publish();
  await prompt('Say the second words.');
  await project.call('PATCH', '/agent', { globalPrompt: 'Be brief.' });
  await project.call('POST', '/tools', {
    name: 'look_up',
    description: '',
    parameters: { type: 'object' },
    http: { method: 'GET', url: 'https://example.com/' },
  });
  await prompt('Say the second words.');
  expect(await releases()).toMatchObject([{ release: 2, note: null, isLive: true }, { release: 1 }]);

  await project.chat('Hi', 'second');
  await prompt('Say the third words.');
  await project.chat('Hi', 'third');

  expect(lastPrompt()).toContain('third words');
  expect([await releaseOf('second'), await releaseOf('third')]).toEqual([2, 3]);
  const { body } = await project.call('GET', '/releases/2');
  expect(body).toMatchObject({ agent: { globalPrompt: 'Be brief.' }, pathway: { version: 3 } });
  expect(body.pathway.nodes[0].data.prompt).toBe('Say the second words.');
});

test('A restored release is the working copy again, with its secrets, which a reader never sees', async () => {
  const headers = [{ key: 'Authorization', value: 'Bearer first' }];
  const eventWebhook = { url: `${rig.endpoint}/events`, headers, events: ['session.started'] };
  await project.call('PATCH', '/agent', { eventWebhook, globalPrompt: 'Be brief.' });
  await publish();
  await project.call('PATCH', '/agent', { status: 'draft' });
  await project.call('PATCH', '/agent', { eventWebhook: null, globalPrompt: 'Be long.' });
  await prompt('Say the second words.');

  const restored = await project.call('POST', '/releases/1/restore');

  expect(restored).toMatchObject({ status: 200, body: { agent: { eventWebhook }, pathway: { version: 4 } } });
  const agent = (await project.call('GET', '/agent')).body;
  expect(agent).toMatchObject({ status: 'draft', globalPrompt: 'Be brief.', eventWebhook });
  const versions = (await project.call('GET', '/pathway/versions')).body.data;
  expect(versions[0]).toMatchObject({ version: 4, restoredFrom: 2 });
  await project.call('PATCH', '/agent', { globalPrompt: 'Be long.' });
  await publish();
  const { key } = await rig.gateway().createKey(project, { scopes: ['read'] });
  const read = (path: string) => rig.gateway().api('GET', `${project.path}${path}`, { key });
  for (const path of ['/releases/1', '/releases/2/diff', '/releases'])
    expect(JSON.stringify((await read(path)).body)).not.toContain('Bearer first');
  expect((await read('/releases/1')).body.agent.eventWebhook.headers).toEqual([
    { key: 'Authorization', value: null },
  ]);
  await project.chat('Hi');
  await expect.poll(() => rig.received.filter(({ url }) => url === '/events').length).toBeGreaterThan(0);
  const event = JSON.parse(rig.received.findLast(({ url }) => url === '/events')?.body ?? '');
  expect(event).toMatchObject({ type: 'session.started', release: 2 });
});

test('Two releases differ as a person reads it: prompts by words, nodes by what they do', async () => {
  await publish();
  await prompt('Say the last words, slowly.');
  await project.call('PATCH', '/pathway/nodes/start', { position: { x: 500, y: 500 } });
  await project.call('POST', '/pathway/nodes', {
    id: 'bye',
    type: 'end',
    data: { title: 'Bye', prompt: 'Goodbye.' },
  });
  await project.call('POST', '/pathway/edges', { id: 'e', source: 'start', target: 'bye', data: {} });
  await project.call('PATCH', '/agent', { executionMode: 'turbo' });
  await publish();

  const { body } = await project.call('GET', '/releases/3/diff?with=1');

  expect(body).toMatchObject({
    agent: [{ path: '/executionMode', from: null, to: 'turbo' }],
    nodes: {
      added: [{ id: 'bye', title: 'Bye', type: 'end' }],
      removed: [],
      changed: [
        {
          id: 'start',
          title: 'Start',
          fields: [
            {
              path: '/data/prompt',
              words: [
                { kind: 'same', text: 'Say the ' },
                { kind: 'removed', text: 'first' },
                { kind: 'added', text: 'last' },
                { kind: 'same', text: ' words' },
                { kind: 'added', text: ', slowly' },
                { kind: 'same', text: '.' },
              ],
            },
          ],
        },
      ],
    },
    edges: { added: [{ id: 'e' }], removed: [], changed: [] },
  });
  const same = await project.call('GET', '/releases/3/diff');
  expect(same.body).toEqual({
    agent: [],
    nodes: { added: [], removed: [], changed: [] },
    edges: { added: [], removed: [], changed: [] },
  });
  expect((await project.call('GET', '/releases/1/diff')).body).toEqual({
    code: 'release_not_found',
    error: 'There is no release before 1: name one by `with`',
  });
  expect((await project.call('GET', '/releases/x')).status).toBe(400);
});

test('A rollout gives a share of people the new release, the same person always the same', async () => {
  expect((await project.call('POST', '/rollouts', { release: 1, percent: 50 })).body.code).toBe(
    'not_published',
  );
  await publish();
  await project.call('PATCH', '/agent', { status: 'draft' });
  await prompt('Say the second words.');
  await publish({ live: false });
  expect((await project.call('POST', '/rollouts', { release: 1, percent: 50 })).body.code).toBe(
    'release_is_live',
  );
  expect((await project.call('POST', '/rollouts', { release: 7, percent: 50 })).status).toBe(404);
  await project.call('PUT', '/rates', { currency: 'TWD' });
  const started = await project.call('POST', '/rollouts', { release: 2, percent: 40 });
  expect(started).toMatchObject({
    status: 201,
    body: {
      status: 'running',
      previousRelease: 1,
      decideAfter: { sessions: 500 },
      onBad: 'rollback',
      onGood: 'alert',
      decision: null,
      currency: 'TWD',
      arms: [
        { release: 1, sessions: 0, metrics: { success: { value: null, low: null, high: null, n: 0 } } },
        { release: 2, sessions: 0 },
      ],
    },
  });
  const { id } = started.body;
  expect((await project.call('POST', '/rollouts', { release: 2, percent: 40 })).body.code).toBe(
    'rollout_running',
  );

  let sessions = 0;
  const releasesOf = async () => {
    const released = [];
    for (let customerId = 0; customerId < 24; customerId += 1) {
      sessions += 1;
      const session_id = `s${sessions}`;
      await project.call('POST', '/sessions', { session_id, variables: { customerId } });
      released.push((await project.call('GET', `/sessions/${session_id}`)).body.state.release);
    }
    return released;
  };
  const before = await releasesOf();
  expect(new Set(before)).toEqual(new Set([1, 2]));
  expect(await releasesOf()).toEqual(before);
  expect((await project.call('PATCH', `/rollouts/${id}`, { percent: 70 })).body.percent).toBe(70);
  const after = await releasesOf();
  expect(after.filter((release) => release === 2).length).toBeGreaterThan(
    before.filter((release) => release === 2).length,
  );
  expect(before.every((release, index) => release === 1 || after[index] === 2)).toBe(true);

  const promoted = await project.call('POST', `/rollouts/${id}/promote`);
  expect(promoted.body).toMatchObject({ status: 'promoted', decision: { reason: 'requested' } });
  expect(new Set(await releasesOf())).toEqual(new Set([2]));
  expect((await project.call('POST', `/rollouts/${id}/rollback`)).body.code).toBe('rollout_ended');
  expect((await project.call('PATCH', `/rollouts/${id}`, { percent: 5 })).body.code).toBe('rollout_ended');
  expect((await releases())[0]).toMatchObject({ release: 2, isLive: true });
});

test('A rollout has ended after a publication or an edit of a published agent, not after one that changes nothing', async () => {
  await publish();
  const rollout = async (release: number) => {
    const { body } = await project.call('POST', '/rollouts', { release, percent: 10 });
    return async () => (await project.call('GET', `/rollouts/${body.id}`)).body;
  };
  await publish({ live: false });
  const edited = await rollout(2);
  await project.call('PATCH', '/agent', { globalPrompt: null });
  expect((await edited()).status).toBe('running');
  expect(await releases()).toHaveLength(2);
  await prompt('Say the second words.');
  expect(await edited()).toMatchObject({ status: 'ended', decision: { reason: 'agent_changed' } });
  const published = await rollout(2);
  await project.call('PATCH', '/agent', { status: 'draft' });
  await prompt('Say the third words.');
  expect((await published()).status).toBe('running');
  await publish();
  expect((await published()).status).toBe('ended');
  expect((await project.call('GET', '/rollouts')).body.data).toHaveLength(2);
});

test('A rollout takes guards with one limit each, and what follows', async () => {
  await publish();
  await publish({ live: false });
  const input = { release: 2, percent: 10, decideAfter: { sessions: 50 }, onBad: 'alert', onGood: 'promote' };
  const guards = [
    { metric: 'success', maxDrop: 0.05 },
    { metric: 'latencyP95', max: 1_500 },
  ];
  for (const wrong of [
    { metric: 'success' },
    { metric: 'success', max: 1, maxDrop: 1 },
    { metric: 'luck', max: 1 },
  ])
    expect((await project.call('POST', '/rollouts', { ...input, guards: [wrong] })).status).toBe(400);
  for (const percent of [0, 100, 1.5])
    expect((await project.call('POST', '/rollouts', { ...input, percent })).status).toBe(400);
  const { body } = await project.call('POST', '/rollouts', { ...input, guards });
  expect(body).toMatchObject({ ...input, guards });
});
