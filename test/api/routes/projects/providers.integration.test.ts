import { expect, test } from 'vitest';
import { sharedGateway, type TestProject } from '../../../support/gateway.ts';

const gateway = sharedGateway();
const KEY = 'dg-secret-key-of-the-project-1234';

const send = (
  project: Pick<TestProject, 'path'>,
  method: string,
  path = '',
  more: { key?: string | null; body?: unknown } = {},
) => gateway().api(method, `${project.path}/providers${path}`, more);

test('Provider credentials are stored with apiKey and baseUrl, and shown by a hint', async () => {
  const project = await gateway().createProject();
  const body = { apiKey: KEY, baseUrl: 'https://Speech.Example.com/' };
  const put = await send(project, 'PUT', '/openai', { body });
  expect(put.status).toBe(200);
  expect(put.body).toMatchObject({ name: 'openai', hint: '…1234', baseUrl: 'https://speech.example.com' });
  expect((await send(project, 'GET', '/openai')).body).toEqual(put.body);
  await send(project, 'PUT', '/custom_tts', { body: { apiKey: 'short' } });
  const list = (await send(project, 'GET')).body;
  expect(list.data).toMatchObject([{ name: 'custom_tts', hint: '…', baseUrl: null }, put.body]);
  expect(list.pagination).toMatchObject({ total: 2 });
  const first = (await send(project, 'GET', '?limit=1')).body;
  const second = (await send(project, 'GET', `?limit=1&cursor=${first.pagination.nextCursor}`)).body;
  expect([...first.data, ...second.data]).toEqual(list.data);

  expect((await send(project, 'DELETE', '/openai')).status).toBe(204);
  expect((await send(project, 'DELETE', '/openai')).status).toBe(404);
  expect((await send(project, 'GET', '/openai')).status).toBe(404);
  const log = (await gateway().api('GET', `${project.path}/audit-log`)).body;
  expect(log.data.slice(0, 3)).toMatchObject([
    { action: 'provider.deleted', target: 'openai' },
    { action: 'provider.updated', target: 'custom_tts', details: { hint: '…', baseUrl: null } },
    { action: 'provider.updated', target: 'openai', details: { hint: '…1234' } },
  ]);
  expect(JSON.stringify([put.body, list, log])).not.toContain(KEY);
});

test.each([
  ['openai', { apiKey: '' }, '/apiKey'],
  ['openai', { apiKey: 'two words' }, '/apiKey'],
  ['openai', { apiKey: 'line\r\nbreak' }, '/apiKey'],
  ['openai', { apiKey: 'k'.repeat(1001) }, '/apiKey'],
  ['openai', {}, '/apiKey'],
  ['openai', { apiKey: 'k', model: 'm' }, '/model'],
  ['openai', { apiKey: 'k', baseUrl: 'https://example.com/v1' }, '/baseUrl'],
  ['openai', { apiKey: 'k', baseUrl: 'https://example.com/?a=b' }, '/baseUrl'],
  ['openai', { apiKey: 'k', baseUrl: 'https://user:word@example.com' }, '/baseUrl'],
  ['openai', { apiKey: 'k', baseUrl: 'http://example.com' }, '/baseUrl'],
  ['openai', { apiKey: 'k', baseUrl: 'https://169.254.169.254' }, '/baseUrl'],
  ['custom_stt', { apiKey: 'k', baseUrl: 'https://[::1]:9000' }, '/baseUrl'],
  ['local', { apiKey: 'k' }, undefined],
])('Provider credentials of %s cannot be %j', async (name, body, path) => {
  const project = await gateway().createProject();
  const answer = await send(project, 'PUT', `/${name}`, { body });
  expect(answer.status).toBe(400);
  if (path !== undefined) expect(answer.body.details).toMatchObject([{ path }]);
  expect((await send(project, 'GET')).body.data).toEqual([]);
});

test('Provider credentials need the admin token or keys:write of their own project', async () => {
  const [project, other] = [await gateway().createProject(), await gateway().createProject()];
  const keeper = await gateway().createKey(project, { scopes: ['keys:write'] });
  const stranger = await gateway().createKey(other, { scopes: ['keys:write'] });
  const body = { apiKey: KEY };
  const status = async (key: string | null) => {
    const answers = [
      await send(project, 'PUT', '/openai', { key, body }),
      await send(project, 'GET', '/openai', { key }),
      await send(project, 'GET', '', { key }),
      await send(project, 'DELETE', '/openai', { key }),
    ];
    return answers.map((answer) => answer.status);
  };
  expect(await status(keeper.key)).toEqual([200, 200, 200, 204]);
  expect(await status(project.developerKey)).toEqual([403, 403, 403, 403]);
  expect(await status(stranger.key)).toEqual([401, 401, 401, 401]);
  expect(await status(null)).toEqual([401, 401, 401, 401]);
  expect((await send({ path: '/v1/projects/nobody' }, 'GET')).status).toBe(404);
  expect((await send({ path: '/v1/projects/nobody' }, 'PUT', '/openai', { body })).status).toBe(404);
});
