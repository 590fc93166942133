import { expect, test } from 'vitest';

import { sharedGateway, startTestGateway } from '../../support/gateway.ts';
import { createTestDatabase } from '../../support/postgres.ts';

const gateway = sharedGateway({ env: { CHAT_MODELS_ALLOWED: 'small, medium' } });
const start = { id: 'start', type: 'start', position: { x: 0, y: 0 } };
const node = (chat: object) => ({ ...start, data: { title: 'Hi', prompt: 'Greet.', chat } });

test.each<[string, string, (chat: object) => object, string]>([
  ['PATCH', '/agent', (chat) => ({ chat }), '/chat'],
  ['PUT', '/agent', (chat) => ({ chat }), '/chat'],
  ['PUT', '/pathway', (chat) => ({ nodes: [node(chat)], edges: [] }), '/nodes/0/data/chat'],
  ['POST', '/pathway/nodes', (chat) => ({ type: 'say', data: { title: 'x', chat } }), '/data/chat'],
  ['PATCH', '/pathway/nodes/start', (chat) => ({ data: { chat } }), '/data/chat'],
])('%s %s refuses models that CHAT_MODELS_ALLOWED does not name', async (method, path, bodyOf, place) => {
  const project = await gateway().createProject();
  const save = (chat: object) =>
    gateway().api(method, project.path + path, { key: project.developerKey, body: bodyOf(chat) });
  for (const [chat, at] of [
    [{ model: 'large' }, '/model'],
    [{ model: 'Small' }, '/model'],
    [{ model: 'small', fallback: ['medium', 'large'] }, '/fallback/1'],
    [{ fallback: [{ model: 'large' }] }, '/fallback/0/model'],
    [{ endpoint: 'anthropic', model: 'large' }, '/model'],
  ] as const) {
    const { status, body } = await save(chat);
    expect([status, body.code, body.details?.[0]?.path]).toEqual([400, 'model_not_allowed', place + at]);
  }
  const saved = await save({ model: 'small', fallback: ['medium'] });
  expect([200, 201]).toContain(saved.status);
  expect([200, 201]).toContain((await save({ temperature: 0.5 })).status);
});

test('An analysis refuses a model that CHAT_MODELS_ALLOWED does not name', async () => {
  const { path, developerKey: key } = await gateway().createProject();
  const save = (model: string) =>
    gateway().api('PATCH', `${path}/agent`, { key, body: { analysis: { model } } });
  expect((await save('large')).body).toMatchObject({
    code: 'model_not_allowed',
    details: [{ path: '/analysis/model' }],
  });
  expect((await save('small')).status).toBe(200);
});

test('A test run refuses a model that CHAT_MODELS_ALLOWED does not name', async () => {
  const project = await gateway().createProject();
  const call = (path: string, body: object) =>
    gateway().api('POST', project.path + path, { key: project.developerKey, body });
  const { body } = await call('/test-cases', {
    name: 'a',
    channel: 'chat',
    turns: [{ say: 'Hi' }],
    assertions: [],
  });
  const place = `/test-cases/${(body.data ?? body).id}/runs`;
  expect(await call(place, { model: 'large' })).toMatchObject({
    status: 400,
    body: { code: 'model_not_allowed', details: [{ path: '/model' }] },
  });
  expect((await call(place, { model: 'small' })).status).toBe(202);
});

test('A release and a version of the pathway with a model that is not allowed any more are not restored', async () => {
  const { url, drop } = await createTestDatabase('newest');
  const shared = { DATABASE_URL: url, SECRETS_KEY: Buffer.alloc(32).toString('base64') };
  const before = await startTestGateway({ env: shared });
  const { path, developerKey: key } = await before.createProject();
  await before.api('PATCH', `${path}/agent`, { key, body: { chat: { model: 'large' } } });
  const body = { nodes: [node({ model: 'large' })], edges: [] };
  const saved = await before.api('PUT', `${path}/pathway`, { key, body });
  await before.api('POST', `${path}/agent/publish`, { key, body: {} });
  await before.stop();

  const after = await startTestGateway({ env: { ...shared, CHAT_MODELS_ALLOWED: 'small' } });
  const refusal = async (place: string) =>
    (await after.api('POST', path + place, { key })).body as { code?: string; details?: { path: string }[] };
  expect(await refusal('/releases/1/restore')).toMatchObject({
    code: 'model_not_allowed',
    details: [{ path: '/chat/model' }, { path: '/nodes/0/data/chat/model' }],
  });
  expect(await refusal(`/pathway/versions/${saved.body.version}/restore`)).toMatchObject({
    code: 'model_not_allowed',
    details: [{ path: '/nodes/0/data/chat/model' }],
  });
  await after.stop();
  await drop();
});
