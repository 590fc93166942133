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
  receiver = await serveOnLoopback((request, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', (chunk) => {
      text += chunk;
    });
    request.on('end', () => {
      received.push({ text, headers: request.headers as Record<string, string> });
      response.writeHead(204).end();
    });
  });
  nodes = await startTwoGateways({ ALLOW_INSECURE_WEBHOOKS: 'true' });
});
afterAll(async () => {
  await nodes.stop();
  await receiver.close();
  await assertNoLeaks();
});

test('The end of a chat sends two signed webhooks, from one of two nodes, which appear in the history', async () => {
  const { first, second } = nodes;
  const project = await first.createProject();
  const key = project.developerKey;
  const postSessionWebhook = {
    url: `http://127.0.0.1:${receiver.port}/hook`,
    events: ['session.finalized', 'session.ended'],
  };
  await first.api('PUT', `${project.path}/agent`, { key, body: { status: 'published', postSessionWebhook } });
  const sessionId = 'talk 電話';
  const body = { session_id: sessionId, messages: [{ role: 'user', content: 'Good morning' }] };
  const answer = await first.api('POST', `${project.path}/chat/completions`, { key, body });
  expect(answer.status).toBe(200);
  await second.api('DELETE', `${project.path}/sessions`, { key, body: { session_id: sessionId } });

  await vi.waitFor(() => expect(received).toHaveLength(2), { timeout: 5_000 });
  const { secret } = (await first.api('GET', `${project.path}/webhook-secret`)).body;
  const bodies = received.map(({ text, headers }) => new Webhook(secret).verify(text, headers));
  expect(bodies).toMatchObject([
    { event: 'session.ended', sessionId, projectId: project.id, channel: 'chat' },
    {
      event: 'session.finalized',
      sessionId,
      endReason: 'api_end',
      messages: [{ content: 'Good morning' }, {}],
    },
  ]);

  // A delivery is recorded after its response.
  const list = await vi.waitFor(
    async () => {
      const answer = await second.api('GET', `${project.path}/webhook-deliveries`, { key });
      expect(answer.body.pagination.total).toBe(2);
      return answer;
    },
    { timeout: 10_000, interval: 20 },
  );
  expect(list.body.data).toMatchObject(Array(2).fill({ sessionId, ok: true, status: 204 }));
  const history = await first.api('GET', `${project.path}/session-history/${encodeURIComponent(sessionId)}`, {
    key,
  });
  const types = history.body.events.map(({ type }: { type: string }) => type);
  expect(types.slice(-3)).toEqual(['session_ended', 'webhook_sent', 'webhook_sent']);
});
