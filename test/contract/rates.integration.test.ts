import { beforeEach, expect, test } from 'vitest';
import { rates } from '../../src/agents/cost/rates.ts';
import { type ContractProject, contractRig } from './support.ts';

const rig = contractRig();
let project: ContractProject;
beforeEach(async () => {
  rig.reply = { body: {} };
  project = await rig.project();
});

const RATES = rates.parse({
  currency: 'EUR',
  chat: [{ model: 'm-balance', inputPerMillion: 2, outputPerMillion: 8, cachedInputPerMillion: 0.5 }],
  recognition: [{ provider: 'deepgram', model: 'nova-3', perMinute: 0.006 }],
  synthesis: [{ provider: 'elevenlabs', model: 'flash', perMillionCharacters: 50 }],
  carrier: [{ prefix: '+886', perMinute: 0.04 }],
});
const TOKENS = { inputTokens: 1000, outputTokens: 100, cachedInputTokens: 800 };
const USED = { ...TOKENS, chat: [{ model: 'm-balance', ...TOKENS }] };
const NO_SPEECH = {
  recognitionSeconds: 0,
  recognition: [],
  synthesisCharacters: 0,
  synthesis: [],
  callSeconds: 0,
};
/** 200 new tokens, 800 cached ones and 100 written ones. */
const COST = 0.0016;

test('A chat is priced by the rates of its project, in its history, in its turns and in session.finalized', async () => {
  rig.script.usage = { promptTokens: 1000, completionTokens: 100, cachedTokens: 800 };
  rig.script.judge = { results: [{ name: 'polite', passed: true, reason: 'Was.' }] };
  expect((await project.call('PUT', '/rates', RATES)).body).toEqual(RATES);
  const criteria = [{ name: 'polite', description: 'Is polite.' }];
  const postSessionWebhook = { url: `${rig.endpoint}/priced`, events: ['session.finalized'] };
  await project.call('PATCH', '/agent', { postSessionWebhook, postEvaluationConfig: { criteria } });
  await project.chat('Hi');
  expect(await project.history('s')).toMatchObject({ cost: null, usage: USED });

  await project.call('DELETE', '/sessions', { session_id: 's' });
  const hooks = () => rig.received.filter(({ url }) => url === '/priced');
  await expect.poll(() => hooks().length).toBe(1);
  const usage = { ...USED, ...NO_SPEECH, afterwards: USED };
  const cost = {
    ...{ total: 2 * COST, chat: COST, afterwards: COST, recognition: 0, synthesis: 0, carrier: 0 },
    ...{ currency: 'EUR', unpriced: [] },
  };
  const finalized = JSON.parse(hooks()[0]?.body ?? '');
  expect(finalized).toMatchObject({ usage, cost });
  expect(finalized.messages.at(-1).usage).toEqual(USED.chat);
  const history = await project.history('s');
  expect([history.usage, history.cost]).toEqual([usage, cost]);
  expect(history.messages.at(-1)).toMatchObject({ usage: USED.chat, cost: COST });
  const list = await project.call('GET', '/session-history');
  expect(list.body.results).toMatchObject([{ cost }]);
  const { body: line } = await project.call('GET', '/calls/s/timeline');
  expect([line.cost, line.messages.at(-1).cost]).toEqual([cost, COST]);

  // What ended keeps its price.
  await project.call('PUT', '/rates', {
    currency: 'EUR',
    chat: [{ ...RATES.chat[0], inputPerMillion: 100 }],
  });
  expect((await project.history('s')).cost).toEqual(cost);
});

test('A project has the rates of the installation until it has its own, and again once these are deleted', async () => {
  const admin = (method: string, body?: unknown) => rig.gateway().api(method, '/v1/rates', { body });
  const own = (method: string, body?: unknown) => project.call(method, '/rates', body);
  expect([(await own('GET')).status, (await admin('GET')).status]).toEqual([404, 404]);
  expect((await admin('PUT', { ...RATES, currency: 'JPY' })).status).toBe(200);
  expect((await admin('GET')).body).toEqual({ ...RATES, currency: 'JPY' });
  expect((await own('GET')).body.currency).toBe('JPY');
  expect((await own('DELETE')).status).toBe(404);
  await own('PUT', RATES);
  expect((await own('GET')).body).toEqual(RATES);
  expect((await own('DELETE')).status).toBe(204);
  expect((await own('GET')).body.currency).toBe('JPY');
  const log = (await rig.gateway().api('GET', `${project.path}/audit-log`)).body.data;
  expect(log.slice(0, 2)).toMatchObject([{ action: 'rates.deleted' }, { action: 'rates.updated' }]);
});

test.each<['write' | 'read', string, string, number]>([
  ['read', 'GET', '/rates', 200],
  ['read', 'PUT', '/rates', 403],
  ['read', 'DELETE', '/rates', 403],
  ['write', 'PUT', '/rates', 200],
])('A key with %s may %s %s: %i', async (scope, method, path, status) => {
  await project.call('PUT', '/rates', RATES);
  const { key } = await rig.gateway().createKey(project, { kind: 'developer', scopes: [scope] });
  const body = method === 'PUT' ? RATES : undefined;
  expect((await rig.gateway().api(method, project.path + path, { key, body })).status).toBe(status);
});

test.each(['GET', 'PUT'])('A key of a project may not %s the installation’s rates', async (method) => {
  const body = method === 'PUT' ? RATES : undefined;
  const { status } = await rig.gateway().api(method, '/v1/rates', { key: project.developerKey, body });
  expect(status).toBe(401);
});
