import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';

import { startTwoGateways } from '../support/gateway.ts';
import { detectLeaks } from '../support/leaks.ts';
import { type LoopbackServer, serveOnLoopback } from '../support/loopbackServer.ts';

interface Received {
  readonly text: string;
  readonly headers: Record<string, string>;
}

let nodes: Awaited<ReturnType<typeof startTwoGateways>>;
let receiver: LoopbackServer;
let assertNoLeaks: () => Promise<void>;
const received: Received[] = [];

beforeAll(async () => {
  assertNoLeaks = detectLeaks();
  receiver = await serveOnLoopback(async (request, response) => {
    received.push({ text: await text(request), headers: request.headers as Record<string, string> });
    response.writeHead(204).end();
  });
  nodes = await startTwoGateways({ ALLOW_INSECURE_WEBHOOKS: 'true' });
});
afterAll(async () => {
  await nodes.stop();
  await receiver.close();
  await assertNoLeaks();
});

test('A chat on one node is streamed by another as it happens, and sent to the eventWebhook, again on request', async () => {
  const { first, second } = nodes;
  const project = await first.createProject();
  const key = project.developerKey;
  const url = `http://127.0.0.1:${receiver.port}/events`;
  const events = ['session.started', 'turn.user', 'turn.agent', 'session.finalized'];
  const put = await first.api('PUT', `${project.path}/agent`, {
    key,
    body: { status: 'published', eventWebhook: { url, events, headers: [{ key: 'x-own', value: 'v' }] } },
  });
  expect(put.body.eventWebhook).toMatchObject({ url, events });
  received.length = 0;

  const leave = new AbortController();
  const stream = await fetch(`${second.url}${project.path}/events?sessionId=live`, {
    headers: { authorization: `Bearer ${key}` },
    signal: leave.signal,
  });
  let streamed = '';
  const reading = (async () => {
    for await (const chunk of stream.body?.pipeThrough(new TextDecoderStream()) ?? []) streamed += chunk;
  })().catch(() => undefined);
  const body = { session_id: 'live', messages: [{ role: 'user', content: 'Good morning' }] };
  await first.api('POST', `${project.path}/chat/completions`, { key, body });
  await first.api('DELETE', `${project.path}/sessions`, { key, body: { session_id: 'live' } });
  await vi.waitFor(() => expect(streamed).toContain('event: session.finalized'), { timeout: 10_000 });
  leave.abort();
  await reading;
  const seen = [...streamed.matchAll(/^data: (.*)$/gm)].map(([, data = '']) => JSON.parse(data));
  expect(seen.map(({ type }) => type)).toEqual([
    'session.started',
    'turn.started',
    'turn.user',
    ...seen.flatMap(({ type }) => (/^(node|variable|tool)\./.test(type) ? [type] : [])),
    'turn.agent',
    'session.ended',
    'session.finalized',
  ]);

  await vi.waitFor(() => expect(received).toHaveLength(events.length), { timeout: 10_000 });
  const { secret } = (await first.api('GET', `${project.path}/webhook-secret`)).body;
  const sent = received.map(({ text, headers }) => new Webhook(secret).verify(text, headers));
  expect(sent).toEqual(seen.filter(({ type }) => events.includes(type)));
  expect(received[0]?.headers['x-own']).toBe('v');

  const id = received[1]?.headers['webhook-id'] ?? '';
  const again = await vi.waitFor(
    async () => {
      const answer = await second.api('POST', `${project.path}/webhook-deliveries/${id}/redeliver`, { key });
      expect(answer.status).toBe(202);
      return answer;
    },
    { timeout: 10_000 },
  );
  expect(again.body).toEqual({ deliveryId: id });
  await vi.waitFor(() => expect(received).toHaveLength(events.length + 1), { timeout: 10_000 });
  expect(received.at(-1)?.headers['webhook-id']).toBe(id);
  expect(received.at(-1)?.text).toBe(received[1]?.text);
  const log = await first.api('GET', `/v1/projects/${project.id}/audit-log`, { key: first.adminToken });
  expect(log.body.data[0]).toMatchObject({ action: 'webhook_delivery.redelivered', target: id });
  const none = await first.api('POST', `${project.path}/webhook-deliveries/none/redeliver`, { key });
  expect([none.status, none.body.code]).toEqual([404, 'webhook_delivery_not_found']);
});

test('An alert fires once over all nodes, and its webhook is told, signed, when it begins and when it is over', async () => {
  const { first, second } = nodes;
  const project = await first.createProject();
  const key = project.developerKey;
  const body = { session_id: 's', messages: [{ role: 'user', content: 'Good morning' }] };
  await first.api('POST', `${project.path}/chat/completions`, { key, body });
  await first.api('DELETE', `${project.path}/sessions`, { key, body: { session_id: 's' } });
  await vi.waitFor(
    async () => {
      const { body: counted } = await second.api('GET', `${project.path}/insights?metric=sessions`, { key });
      expect(counted.total.n).toBe(1);
    },
    { timeout: 20_000, interval: 500 },
  );
  received.length = 0;
  const url = `http://127.0.0.1:${receiver.port}/alerts`;
  const alert = { name: 'Any', metric: 'sessions', windowMinutes: 60, above: 0, filter: { channel: 'chat' } };
  const webhook = { url, headers: [{ key: 'x-own', value: 'v' }] };
  const { body: waiting } = await first.api('POST', `${project.path}/alerts`, {
    key,
    body: { ...alert, webhook },
  });
  const path = `${project.path}/alerts/${waiting.id}`;
  await vi.waitFor(async () => expect((await first.api('GET', path, { key })).body.lastValue).toBe(1));
  expect((await second.api('GET', path, { key })).body.state).toBe('ok');
  await first.api('PATCH', path, { key, body: { minCount: 1 } });
  await vi.waitFor(() => expect(received).toHaveLength(1), { timeout: 10_000 });
  await first.api('PATCH', path, { key, body: { enabled: false } });
  await vi.waitFor(() => expect(received).toHaveLength(2), { timeout: 10_000 });
  expect((await second.api('GET', path, { key })).body).toMatchObject({ state: 'ok', lastValue: null });

  const { secret } = (await first.api('GET', `${project.path}/webhook-secret`)).body;
  const data = { alertId: waiting.id, name: 'Any', metric: 'sessions', above: 0, since: expect.any(String) };
  expect(received.map(({ text, headers }) => new Webhook(secret).verify(text, headers))).toEqual([
    expect.objectContaining({ type: 'alert.firing', data: { ...data, value: 1 } }),
    expect.objectContaining({ type: 'alert.resolved', data: { ...data, value: null } }),
  ]);
  expect(received[0]?.headers['x-own']).toBe('v');
  const { body: log } = await first.api('GET', `${project.path}/webhook-deliveries?webhook=alertWebhook`, {
    key,
  });
  expect(log.data).toMatchObject([{ event: 'alert.resolved' }, { event: 'alert.firing', url }]);
  const again = await first.api(
    'POST',
    `${project.path}/webhook-deliveries/${log.data[0].deliveryId}/redeliver`,
    { key },
  );
  expect(again.status).toBe(202);
  await vi.waitFor(() => expect(received).toHaveLength(3), { timeout: 10_000 });
});
