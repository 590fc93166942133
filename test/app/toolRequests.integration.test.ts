import type { IncomingMessage } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startTestGateway, type TestGateway, type TestProject } from '../support/gateway.ts';
import { type LoopbackServer, serveOnLoopback } from '../support/loopbackServer.ts';
import {
  calling,
  type ScriptedUpstream,
  saying,
  startScriptedUpstream,
} from '../support/scriptedUpstream.ts';

interface Received {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

const ANSWERS: Readonly<Record<string, string>> = {
  '/booking': '{"booking":{"id":"B7","nights":3},"guests":["Mei"]}',
};

/** A check is stopped after 3 s of work, seen up to 250 ms later. */
const MAX_CHECK_CPU_MS = 6_000;

let upstream: ScriptedUpstream;
let hotel: LoopbackServer;
let gateway: TestGateway;
let project: TestProject;
const received: Received[] = [];
const text = { type: 'string' };

beforeAll(async () => {
  upstream = await startScriptedUpstream();
  hotel = await serveOnLoopback(async (request, response) => {
    const body = (await request.toArray()).join('');
    received.push({ method: request.method, url: request.url, headers: request.headers, body });
    if (request.url === '/never') return;
    if (request.url === '/slow') await delay(1_500);
    const answer = ANSWERS[request.url ?? ''] ?? '{"ok":true}';
    response.setHeader('content-type', 'application/json').end(answer);
  });
  gateway = await startTestGateway({
    env: { OPENAI_BASE_URL: upstream.baseUrl, ALLOW_INSECURE_WEBHOOKS: 'true' },
  });
  project = await gateway.createProject();
});
afterAll(async () => {
  await gateway.stop();
  await Promise.all([hotel.close(), upstream.close()]);
});
beforeEach(() => {
  received.length = 0;
});

let count = 0;
let lastSession = '';
let lastAnswer = '';
/** Lets the model call a tool once, and returns what it is told. */
async function callTool(tool: object, args: object, variables: object = {}): Promise<string> {
  count += 1;
  const name = `tool_${count}`;
  const call = (method: string, path: string, body: object) =>
    gateway.api(method, `${project.path}${path}`, { key: project.developerKey, body });
  const created = await call('POST', '/tools', { name, ...tool });
  expect(created.status).toBe(201);
  await call('PATCH', '/pathway/nodes/start', { data: { tools: [created.body.id] } });
  const sessionId = `session-${count}`;
  await call('POST', '/sessions', { sessionId, session_id: sessionId, variables });
  upstream.clearRequests();
  upstream.answerWith({ steps: calling(name, JSON.stringify(args)) }, { steps: saying('Done.') });
  const { status, body } = await gateway.api('POST', `${project.path}/chat/completions`, {
    key: project.developerKey,
    headers: { 'x-session-id': sessionId, 'x-agent-version': 'draft' },
    body: { messages: [{ role: 'user', content: 'Go.' }] },
  });
  expect(status).toBe(200);
  lastSession = sessionId;
  lastAnswer = body.choices[0].message.content;
  const messages = upstream.requests.at(-1)?.body.messages as { role: string; content: string }[];
  return messages.findLast(({ role }) => role === 'tool')?.content ?? '';
}

const at = (path: string) => `http://127.0.0.1:${hotel.port}${path}`;

test('A nested value stays within its segment of the path', async () => {
  const parameters = {
    type: 'object',
    properties: { guest: { type: 'object', properties: { id: text } } },
  };
  const http = { method: 'DELETE', url: at('/v1/guests/{{ guest.id }}/notes') };
  await callTool({ parameters, http }, { guest: { id: '../../admin/wipe?all=1#' } });
  expect(received.map(({ url }) => url)).toEqual(['/v1/guests/..%2F..%2Fadmin%2Fwipe%3Fall%3D1%23/notes']);

  expect(await callTool({ parameters, http }, { guest: { id: '..' } })).toContain('. or ..');
  expect(received).toHaveLength(1);
});

test('An argument that the tool does not declare is refused at every depth, so that the model can try again', async () => {
  const parameters = {
    type: 'object',
    properties: { id: text, guest: { type: 'object', properties: { name: text } } },
  };
  const http = { method: 'POST', url: at('/book/{{ id }}') };
  expect(await callTool({ parameters, http }, { id: '1', admin: true })).toContain('no argument "admin"');
  const nested = await callTool({ parameters, http }, { id: '1', guest: { name: 'Mei', role: 'x' } });
  expect(nested).toContain('/guest has no argument "role"');
  expect(received).toEqual([]);
});

test.each([
  ['a body that is no JSON', { bodyTemplate: 'a={{ a }}' }, '/http/bodyTemplate'],
  [
    'a body in which values cannot be escaped',
    { bodyTemplate: '{{ a }}', headers: [{ key: 'Content-Type', value: 'text/csv' }] },
    '/http/bodyTemplate',
  ],
  ['a broken template in a header', { headers: [{ key: 'x-a', value: '{{ a' }] }, '/http/headers/0/value'],
])('%s is refused when the tool is saved', async (_name, changes, path) => {
  const { status, body } = await gateway.api('POST', `${project.path}/tools`, {
    key: project.developerKey,
    body: { name: 'refused', http: { method: 'POST', url: at('/'), ...changes } },
  });
  expect([status, body.details?.[0]?.path]).toEqual([400, path]);
});

test('A pattern takes linear time', async () => {
  const parameters = { type: 'object', properties: { a: { type: 'string', pattern: '^(a+)+$' } } };
  const http = { method: 'POST', url: at('/') };
  expect(await callTool({ parameters, http }, { a: `${'a'.repeat(200)}!` })).toContain('must match pattern');
  expect(await callTool({ parameters, http }, { a: 'aaa' })).toBe('{"ok":true}');
});

test.each<[string, object, string]>([
  ['look-ahead', { properties: { a: { pattern: '(?=a)b' } } }, 'Perl syntax'],
  ['a repetition of repetitions', { properties: { a: { pattern: '((a{999}){999}){999}' } } }, 'repeat count'],
])('A schema with %s is refused', async (_name, parameters, message) => {
  const { status, body } = await gateway.api('POST', `${project.path}/tools`, {
    key: project.developerKey,
    body: {
      name: 'refused',
      parameters: { type: 'object', ...parameters },
      http: { method: 'GET', url: at('/') },
    },
  });
  expect(status).toBe(400);
  expect(body.error).toContain(message);
});

test('A schema that unfolds without end is stopped, and its project rests', async () => {
  const other = await gateway.createProject();
  const unfolding = Object.fromEntries(
    Array.from({ length: 40 }, (_, n) => [`d${n}`, { allOf: [ref(n + 1), ref(n + 1)] }]),
  );
  const parameters = { type: 'object', $ref: '#/$defs/d0', $defs: { ...unfolding, d40: { type: 'object' } } };
  const save = (to: TestProject, name: string, schema: object) =>
    gateway.api('POST', `${to.path}/tools`, {
      key: to.developerKey,
      body: { name, parameters: schema, http: { method: 'GET', url: at('/') } },
    });
  const before = process.cpuUsage();
  expect(await save(other, 'bomb', parameters)).toMatchObject({
    status: 400,
    body: { code: 'check_too_slow' },
  });
  expect(process.cpuUsage(before).user / 1000).toBeLessThan(MAX_CHECK_CPU_MS);
  expect(await save(other, 'next', { type: 'object' })).toMatchObject({
    status: 429,
    body: { code: 'project_busy' },
  });
  expect(await save(project, 'unharmed', { type: 'object' })).toMatchObject({ status: 201 });
});

function ref(n: number) {
  return { $ref: `#/$defs/d${n}` };
}

const variablesOf = async (sessionId: string) => {
  const { body } = await gateway.api('GET', `${project.path}/sessions/${sessionId}`, {
    key: project.developerKey,
  });
  return (body.state ?? body.data?.state ?? body.data).variables as Record<string, unknown>;
};

test('An answer sets the variables that the tool maps it to, and leaves the others', async () => {
  const resultMapping = [
    { path: 'booking.id', variable: 'bookingId' },
    { path: 'guests.0', variable: 'guest' },
    { path: 'booking.gone', variable: 'kept' },
  ];
  await callTool({ http: { method: 'POST', url: at('/booking') }, resultMapping }, {}, { kept: 'as before' });
  expect(await variablesOf(lastSession)).toMatchObject({ bookingId: 'B7', guest: 'Mei', kept: 'as before' });
});

test('A tool says its own line while it runs', async () => {
  const speakWhile = { de: 'Moment.', en: 'Looking for {{ what }}.' };
  await callTool({ http: { method: 'POST', url: at('/slow') }, speakWhile }, {}, { what: 'a room' });
  expect(lastAnswer).toContain('Looking for a room.');
});

test('A timeout is a failed result of which the model is told', async () => {
  const http = { method: 'POST', url: at('/never'), timeoutMs: 100 };
  expect(await callTool({ http }, {})).toContain('within 100 ms');
});

test.each([
  ['a variable of the service', { resultMapping: [{ path: 'a', variable: 'call' }] }],
  ['a broken line', { speakWhile: { en: '{{ a' } }],
])('%s is refused', async (_name, changes) => {
  const { status } = await gateway.api('POST', `${project.path}/tools`, {
    key: project.developerKey,
    body: { name: 'refused', http: { method: 'POST', url: at('/') }, ...changes },
  });
  expect(status).toBe(400);
});
