import { randomUUID } from 'node:crypto';
import { describe, expect, onTestFinished, test, vi } from 'vitest';

import { DEFAULT_QUOTAS } from '../../../../src/agents/accounts/quotas.ts';
import { type ApiAnswer, sharedGateway, type TestProject } from '../../../support/gateway.ts';
import { saying, startScriptedUpstream } from '../../../support/scriptedUpstream.ts';

const gateway = sharedGateway({ env: { ALLOW_INSECURE_WEBHOOKS: 'true' } });

async function projectWith(quotas: object): Promise<TestProject> {
  const project = await gateway().createProject();
  const { status, body } = await gateway().api('PATCH', project.path, { body: { quotas } });
  expect([status, body.quotas]).toEqual([200, { ...DEFAULT_QUOTAS, ...quotas }]);
  return project;
}

const post = (project: TestProject, path: string, body: object, key = project.developerKey) =>
  gateway().api('POST', project.path + path, { key, body });
const usageOf = async (project: TestProject) =>
  (await gateway().api('GET', `${project.path}/usage`, { key: project.developerKey })).body;

function expectExceeded({ status, body }: ApiAnswer | undefined = {} as ApiAnswer, quota: string) {
  expect([status, body]).toMatchObject([429, { code: 'quota_exceeded', quota }]);
  expect(body.error).toContain(quota);
}

const http = { method: 'GET', url: 'https://example.com/' };
const things = {
  trunks: ['/trunks', (index: number) => ({ name: `t${index}`, host: `sip${index}.example.com` })],
  numbers: ['/phone-numbers', (index: number) => ({ number: `+88691200000${index}` })],
  tools: ['/tools', (index: number) => ({ name: `tool_${index}`, http })],
  testCases: ['/test-cases', (index: number) => ({ name: `case ${index}` })],
  campaigns: ['/campaigns', (index: number) => ({ name: `campaign ${index}` })],
  alerts: [
    '/alerts',
    (index: number) => ({ name: `a${index}`, metric: 'sessions', windowMinutes: 5, above: 1 }),
  ],
  testSuites: ['/test-suites', (index: number) => ({ name: `suite ${index}` })],
} as const;

describe('A project has quotas', () => {
  test.each(Object.entries(things))(
    'of %s, which hold for simultaneous requests and the admin too',
    async (quota, [path, input]) => {
      const project = await projectWith({ [quota]: 2 });
      const answers = await Promise.all([0, 1, 2, 3].map((index) => post(project, path, input(index))));
      expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 429, 429]);
      expectExceeded(
        answers.find(({ status }) => status === 429),
        quota,
      );
      expect((await usageOf(project)).quotas[quota]).toEqual({ used: 2, limit: 2 });
      if (quota === 'trunks' || quota === 'numbers')
        expectExceeded(await post(project, path, input(5), gateway().adminToken), quota);
    },
  );

  test('of API keys, fifty by default, whichever credential creates them', async () => {
    const project = await gateway().createProject();
    const answers = await Promise.all(
      Array.from({ length: 49 }, () =>
        gateway().api('POST', `${project.path}/api-keys`, { body: { name: 'k', kind: 'secret' } }),
      ),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(48);
    expectExceeded(
      answers.find(({ status }) => status === 429),
      'apiKeys',
    );
  });

  test('of sessions a day, by whichever route they begin', async () => {
    const project = await projectWith({ sessionsPerDay: 2 });
    const key = project.secretKey;
    const create = () =>
      gateway().api('POST', `${project.path}/sessions`, { key, body: { session_id: randomUUID() } });
    const chat = (sessionId: string) =>
      gateway().api('POST', `${project.path}/chat/completions`, {
        key,
        headers: { 'x-session-id': sessionId },
        body: { messages: [{ role: 'user', content: 'Hello' }] },
      });
    expect((await create()).status).toBe(200);
    expect((await chat('one')).status).toBe(200);
    for (const refused of [await create(), await chat('two')]) {
      expectExceeded(refused, 'sessionsPerDay');
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    }
    expect((await chat('one')).status).toBe(200);
    expect((await usageOf(project)).quotas.sessionsPerDay).toEqual({ used: 2, limit: 2 });
  });

  const chat = (project: TestProject, sessionId: string) =>
    gateway().api('POST', `${project.path}/chat/completions`, {
      key: project.secretKey,
      headers: { 'x-session-id': sessionId },
      body: { messages: [{ role: 'user', content: 'Hello' }] },
    });

  test('of tokens a day, which refuses what is new and lets sessions go on', async () => {
    const project = await projectWith({ tokensPerDay: 1 });
    expect((await chat(project, 'one')).status).toBe(200);
    const { body } = await post(project, '/test-cases', { name: 'C', turns: [{ say: 'Hello' }] });
    const refusals = [
      await chat(project, 'two'),
      await post(project, '/sessions', { session_id: 'three' }, project.secretKey),
      await post(project, `/test-cases/${body.id}/runs`, {}),
    ];
    for (const refused of refusals) {
      expectExceeded(refused, 'tokensPerDay');
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    }
    expect((await chat(project, 'one')).status).toBe(200);
    const { tokensPerDay } = (await usageOf(project)).quotas;
    expect(tokensPerDay).toEqual({ used: expect.any(Number), limit: 1 });
    expect(tokensPerDay.used).toBeGreaterThan(1);
    await gateway().api('PATCH', project.path, { body: { quotas: { tokensPerDay: null } } });
    expect((await chat(project, 'two')).status).toBe(200);
    expect((await usageOf(project)).quotas.tokensPerDay.limit).toBe(null);
  });

  test('of tokens, of which none count on its own credentials', async () => {
    const upstream = await startScriptedUpstream({ steps: saying('Hi.') });
    onTestFinished(upstream.close);
    const project = await projectWith({ tokensPerDay: 1 });
    const credentials = { apiKey: 'theirs', baseUrl: new URL(upstream.baseUrl).origin };
    const key = project.developerKey;
    await gateway().api('PUT', `${project.path}/providers/openai`, { body: credentials });
    await gateway().api('PATCH', `${project.path}/agent`, { key, body: { chat: { endpoint: 'openai' } } });
    for (const sessionId of ['one', 'two']) expect((await chat(project, sessionId)).status).toBe(200);
    expect(upstream.requests.at(-1)?.headers.authorization).toBe('Bearer theirs');
    expect((await usageOf(project)).quotas.tokensPerDay).toEqual({ used: 0, limit: 1 });
  });

  test('of characters a day, by previews too', async () => {
    const project = await projectWith({ charactersPerDay: 5 });
    const preview = () => post(project, '/speech/preview', { text: 'Hello there.' });
    expect((await preview()).status).toBe(200);
    expectExceeded(await preview(), 'charactersPerDay');
    expectExceeded(await chat(project, 'one'), 'charactersPerDay');
    expect((await usageOf(project)).quotas.charactersPerDay).toEqual({ used: 12, limit: 5 });
  });

  test('of documents and their bytes', async () => {
    const project = await projectWith({ documents: 1, storedBytes: 100 });
    const base = { name: 'KB', type: 'pgvector', embeddingModelName: 'text-embedding-3-small' };
    await post(project, '/knowledgebases', base, project.secretKey);
    const list = await gateway().api('GET', `${project.path}/knowledgebases`, { key: project.secretKey });
    const upload = async (text: string) => {
      const form = new FormData();
      form.set('dataset', new Blob([text]), 'a.txt');
      const path = `${project.path}/knowledgebases/${list.body[0].id}/datasets`;
      const headers = { authorization: `Bearer ${project.secretKey}` };
      const response = await fetch(gateway().url + path, { method: 'POST', headers, body: form });
      return { status: response.status, body: JSON.parse(await response.text()) };
    };
    expect(await upload('x'.repeat(101))).toMatchObject({ status: 413, body: { quota: 'storedBytes' } });
    expect((await upload('Open from nine to five.')).status).toBe(201);
    expect(await upload('Another one.')).toMatchObject({ status: 429, body: { quota: 'documents' } });
    expect((await usageOf(project)).quotas).toMatchObject({
      documents: { used: 1, limit: 1 },
      storedBytes: { used: 23, limit: 100 },
    });
  });

  test('of pathway versions: the oldest go, but none that is published', async () => {
    const project = await projectWith({ pathwayVersions: 3 });
    const edit = async (path: string, method: string, body: object) =>
      expect(
        (await gateway().api(method, project.path + path, { key: project.developerKey, body })).status,
      ).toBe(200);
    const rename = (title: string) => edit('/pathway/nodes/start', 'PATCH', { data: { title } });
    await edit('/agent', 'PATCH', { status: 'published' });
    await rename('One');
    await edit('/agent', 'PATCH', { status: 'draft' });
    for (const title of ['Two', 'Three', 'Four', 'Five']) await rename(title);
    const versions = await gateway().api('GET', `${project.path}/pathway/versions`, {
      key: project.developerKey,
    });
    expect(versions.body.data.map(({ version }: { version: number }) => version)).toEqual([6, 5, 4, 2]);
  });
});

test('Usage shows today’s chats', async () => {
  const project = await gateway().createProject();
  const body = { messages: [{ role: 'user', content: 'Hello' }] };
  await post(project, '/chat/completions', body, project.secretKey);
  await vi.waitFor(
    async () => {
      const { days } = await usageOf(project);
      expect(days).toMatchObject([
        { date: new Date().toISOString().slice(0, 10), chats: 1, calls: 0, minutes: 0 },
      ]);
    },
    { timeout: 15_000, interval: 300 },
  );
});

/** A list shows 200 of them. */
describe('One item has at most 65,536 characters as JSON', () => {
  const long = 'x'.repeat(65_536);
  test.each([
    ['tool', '/tools', { name: 'long', http }, { parameters: { type: 'object', description: long } }],
    ['test case', '/test-cases', { name: 'Long' }, { toolMocks: [{ name: 'find', result: long }] }],
    ['phone number', '/phone-numbers', { number: '+886912345678' }, { variables: { long } }],
  ])('when a %s is created or changed', async (_, path, input, change) => {
    const project = await gateway().createProject();
    const refused = await post(project, path, { ...input, ...change });
    expect([refused.status, refused.body.code]).toEqual([413, 'item_too_large']);
    const { body: created } = await post(project, path, input);
    const { status } = await gateway().api('PATCH', `${project.path}${path}/${created.id}`, {
      key: project.developerKey,
      body: change,
    });
    expect(status).toBe(413);
    const { body } = await gateway().api('GET', project.path + path, { key: project.developerKey });
    expect(body.data).toEqual([created]);
  });

  test.each(['dynamicVariables', 'metadata'])('and half as many are in the %s of a call', async (field) => {
    const project = await gateway().createProject();
    const order = { projectId: project.id, fromNumber: '+886912345678', toNumber: '+886912345679' };
    const { status, body } = await gateway().api('POST', '/v1/calls/outbound', {
      key: project.developerKey,
      body: { ...order, [field]: { long: 'x'.repeat(32_768) } },
    });
    expect([status, body.details]).toMatchObject([400, [{ path: `/${field}` }]]);
  });
});
