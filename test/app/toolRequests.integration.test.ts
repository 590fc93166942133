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
