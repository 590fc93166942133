import { beforeAll, describe, expect, test } from 'vitest';

import { sharedGateway, type TestProject } from '../support/gateway.ts';

const gateway = sharedGateway();
let project: TestProject;
let readKey: string;

const call = (method: string, path: string, body?: unknown, key: string = project.developerKey) =>
  gateway().api(method, `${project.path}${path}`, { key, ...(body === undefined ? {} : { body }) });

async function create(path: string, input: object): Promise<string> {
  const { status, body } = await call('POST', path, input);
  expect(status).toBe(201);
  return `${path}/${body.id}`;
}

beforeAll(async () => {
  project = await gateway().createProject();
  const created = await gateway().createKey(project, { kind: 'developer', scopes: ['read'] });
  readKey = created.key;
});

const TOKEN = { key: 'x-token', value: 'secret words' };

describe('A stored secret goes to no other server', () => {
  const TRUNK = { name: 'carrier', host: 'sip.a.example', username: 'callway', password: 'secret words' };
  test.each([
    ['host', 'sip.b.example'],
    ['port', 5080],
    ['transport', 'tcp'],
    ['outboundProxy', 'sip:proxy.b.example'],
  ])('a trunk with another %s needs its password again', async (field, value) => {
    const place = await create('/trunks', TRUNK);
    const moved = { [field]: value };
    const refused = await call('PATCH', place, moved);
    expect(refused).toMatchObject({
      status: 400,
      body: { code: 'secret_needed_again', details: [{ path: '/password' }] },
    });
    expect((await call('PATCH', place, { ...moved, password: 'given again' })).status).toBe(200);
    expect((await call('PATCH', place, { ...moved, name: 'the same place' })).status).toBe(200);
  });

  test('a trunk without a password moves freely', async () => {
    const place = await create('/trunks', { name: 'plain', host: 'sip.a.example' });
    expect((await call('PATCH', place, { host: 'sip.b.example' })).status).toBe(200);
  });

  test('a tool at another server needs its headers again', async () => {
    const http = { method: 'POST', url: 'https://a.example/{{ id }}', headers: [TOKEN] };
    const place = await create('/tools', { name: 'moves', http });
    const move = (change: object) => call('PATCH', place, { http: change });
    expect(await move({ url: 'https://b.example/{{ id }}' })).toMatchObject({
      status: 400,
      body: { code: 'secret_needed_again', details: [{ path: '/http/headers' }] },
    });
    expect((await move({ url: 'http://a.example/{{ id }}' })).body.code).toBe('secret_needed_again');
    expect((await move({ url: 'https://a.example/other' })).status).toBe(200);
    expect((await move({ url: 'https://b.example/', headers: [] })).status).toBe(200);
  });

  test('an MCP server elsewhere needs its headers again', async () => {
    const server = { name: 'shop', url: 'https://a.example/mcp', headers: [TOKEN], timeoutMs: 100 };
    const place = await create('/mcp-servers', server);
    expect(await call('PATCH', place, { url: 'https://b.example/mcp' })).toMatchObject({
      status: 400,
      body: { code: 'secret_needed_again', details: [{ path: '/headers/0/value' }] },
    });
  });
});

test('A key with the scope read alone sees the names of headers', async () => {
  const hook = { url: 'https://a.example/hook', headers: [TOKEN] };
  const config = { postSessionWebhook: hook, beforeStartConfig: hook };
  await call('PATCH', '/agent', { ...config, eventWebhook: { ...hook, events: ['call.ended'] } });
  const http = { method: 'GET', url: 'https://a.example/', headers: [TOKEN] };
  const place = await create('/tools', { name: 'shown', http });
  for (const path of ['/agent', '/tools', place]) {
    const shown = JSON.stringify((await call('GET', path, undefined, readKey)).body);
    expect(shown).toContain('x-token');
    expect(shown).not.toContain('secret words');
    expect(JSON.stringify((await call('GET', path)).body)).toContain('secret words');
  }
});
