import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';

import { parseTraceparent } from '../../src/base/tracing.ts';
import { startTestGateway, type TestGateway, type TestProject } from '../support/gateway.ts';
import { detectLeaks } from '../support/leaks.ts';
import { type LoopbackServer, serveOnLoopback } from '../support/loopbackServer.ts';
import { collectTraces, type TraceCollector } from '../support/traceCollector.ts';

const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const TRACE_ID = '0af7651916cd43dd8448eb211c80319c';
const SPAN_ID = 'b7ad6b7169203331';

let assertNoLeaks: () => Promise<void>;
let collector: TraceCollector;
let receiver: LoopbackServer;
let gateway: TestGateway;
let project: TestProject;
/** Requests that the user's server received, by path. */
const received: { path: string; traceparent: unknown; event?: string }[] = [];

beforeAll(async () => {
  assertNoLeaks = detectLeaks();
  collector = await collectTraces();
  receiver = await serveOnLoopback(async (request, response) => {
    const { event } = JSON.parse((await text(request)) || '{}');
    received.push({ path: request.url ?? '', traceparent: request.headers.traceparent, event });
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"free":"ten"}');
  });
  gateway = await startTestGateway({
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, ALLOW_INSECURE_WEBHOOKS: 'true' },
  });
  project = await gateway.createProject();
});
afterAll(async () => {
  await gateway.stop();
  await receiver.close();
  await collector.close();
  await assertNoLeaks();
});

const url = (path: string) => `http://127.0.0.1:${receiver.port}${path}`;
const api = (method: string, path: string, body: object, headers = {}) =>
  gateway.api(method, project.path + path, { key: project.developerKey, body, headers });

/** The last collected span with this name. */
const spanOf = (name: string | RegExp) =>
  vi.waitFor(
    () => {
      const found = collector.spans.find((span) => span.name.match(name) !== null);
      if (!found) throw new Error(`no span ${name} yet`);
      return found;
    },
    { timeout: 20_000, interval: 50 },
  );

test('A chat’s spans are part of the caller’s trace, including turn, models, tools and beforeStart', async () => {
  const tool = await api('POST', '/tools', {
    name: 'find_slot',
    http: { method: 'POST', url: url('/slots') },
  });
  await api('PUT', '/agent', { beforeStartConfig: { url: url('/before') } });
  const graph = (await gateway.api('GET', `${project.path}/pathway`, { key: project.developerKey })).body;
  const pathway = await gateway.api('PUT', `${project.path}/pathway`, {
    key: project.developerKey,
    headers: { 'if-match': `"${graph.version}"` },
    body: {
      nodes: [
        { id: 'start', type: 'start', data: { title: 'Start', prompt: 'Say "Hello."' } },
        { id: 'look', type: 'tool', data: { title: 'Look', prompt: '', tools: [tool.body.id] } },
        { id: 'tell', type: 'conversation', data: { title: 'Tell', prompt: 'Say "There is room."' } },
      ],
      edges: [
        { id: 'go', source: 'start', target: 'look', data: { condition: { '==': [1, 1] } } },
        { id: 'told', source: 'look', target: 'tell' },
      ],
    },
  });
  expect([pathway.status, pathway.body.code]).toEqual([200, undefined]);
  const messages = [{ role: 'user', content: 'Hello' }];
  const answer = await api('POST', '/chat/completions', { messages }, { traceparent });
  expect(answer.status).toBe(200);

  const [request, turn] = [await spanOf(/^POST .*chat\/completions/), await spanOf(/^turn$/)];
  expect([request.traceId, request.parentSpanId]).toEqual([TRACE_ID, SPAN_ID]);
  expect(request.attributes).toMatchObject({
    'session.id': answer.body.session_id,
    'callway.request.id': answer.headers.get('x-request-id'),
  });
  expect(turn.parentSpanId).toBe(request.spanId);
  for (const name of [/^chat /, /^execute_tool find_slot$/, /^before start$/]) {
    const part = await spanOf(name);
    expect([part.traceId, part.parentSpanId]).toEqual([TRACE_ID, turn.spanId]);
  }
  for (const [path, name] of [
    ['/slots', /^execute_tool/],
    ['/before', /^before start$/],
  ] as const) {
    const told = received.find((one) => one.path === path);
    expect(parseTraceparent(told?.traceparent)).toMatchObject({
      traceId: TRACE_ID,
      spanId: (await spanOf(name)).spanId,
    });
  }
});

test('A call’s spans are part of the request’s trace, from its acceptance to its webhooks', async () => {
  await api('POST', '/trunks', { name: 'Carrier', host: 'sip.example.com' });
  await api('POST', '/phone-numbers', { number: '+886223456789' });
  await api('PUT', '/agent', {
    status: 'published',
    postSessionWebhook: { url: url('/hook'), events: ['call.ended'] },
  });
  const body = { projectId: project.id, fromNumber: '+886223456789', toNumber: '0912345678' };
  const call = await gateway.api('POST', '/v1/calls/outbound', {
    key: project.developerKey,
    body,
    headers: { traceparent },
  });
  expect(call.status).toBe(202);
  await api('POST', `/calls/${call.body.callId}/hangup`, {});
  const accepted = await spanOf(/^accept call$/);
  expect([accepted.traceId, accepted.parentSpanId]).toEqual([TRACE_ID, SPAN_ID]);
  const webhook = await spanOf(/^webhook call.ended$/);
  expect([webhook.traceId, webhook.parentSpanId]).toEqual([TRACE_ID, accepted.spanId]);
  const told = received.find(({ event }) => event === 'call.ended');
  expect(parseTraceparent(told?.traceparent)).toMatchObject({ traceId: TRACE_ID, spanId: webhook.spanId });
});
