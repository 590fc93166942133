import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer as createTlsServer } from 'node:https';
import { createServer as createTcpServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { expect, onTestFinished, test, vi } from 'vitest';

import { createClient } from '../support/gateway.ts';
import { listenOnLoopback } from '../support/loopbackServer.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { startService } from '../support/processes.ts';
import { redisDatabase } from '../support/redis.ts';
import { report, runsAllFaults } from './faults/support/table.ts';

const TIMEOUT = 240_000;
const SESSIONS = runsAllFaults ? 40 : 10;
const KILLS = runsAllFaults ? 4 : 1;
/** Delay before the receiver starts TLS. */
const ACCEPT_MS = 200;
/** Half a minute after a node was killed, another node takes its sessions. */
const WAIT = { timeout: 120_000, interval: 250 };
const fixture = (name: string) => fileURLToPath(new URL(`../fixtures/tls/${name}`, import.meta.url));

/** A receiver that accepts connections slowly. */
async function slowReceiver() {
  const received: { event: string; sessionId: string }[] = [];
  let begun = 0;
  const https = createTlsServer({
    cert: readFileSync(fixture('server.pem')),
    key: readFileSync(fixture('server.key')),
  });
  https.on('request', (request, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', (chunk) => {
      text += chunk;
    });
    request.on('error', () => undefined);
    request.on('end', () => {
      received.push(JSON.parse(text));
      response.writeHead(204).end();
    });
  });
  const tcp = createTcpServer((socket) => {
    begun += 1;
    setTimeout(() => https.emit('connection', socket), ACCEPT_MS);
  });
  const listening = await listenOnLoopback(tcp);
  onTestFinished(() => listening.close());
  return {
    url: `https://localhost:${listening.port}/hook`,
    begun: () => begun,
    times: (event: string) => {
      const times = new Map<string, number>();
      for (const body of received) {
        if (body.event === event) times.set(body.sessionId, (times.get(body.sessionId) ?? 0) + 1);
      }
      return times;
    },
  };
}

test('session.finalized is never sent twice, and session.ended never lost, when the service is killed over and over', {
  timeout: TIMEOUT,
}, async () => {
  const [database, redis, receiver] = await Promise.all([
    createTestDatabase('newest'),
    redisDatabase(),
    slowReceiver(),
  ]);
  onTestFinished(async () => {
    await Promise.all([database.drop(), redis.drop()]);
  });
  const token = randomBytes(24).toString('hex');
  const start = async () => {
    const service = await startService({
      env: {
        DATABASE_URL: database.url,
        REDIS_URL: redis.url,
        CALLWAY_ADMIN_TOKEN: token,
        SECRETS_KEY: Buffer.alloc(32, 1).toString('base64'),
        ALLOW_INSECURE_WEBHOOKS: 'true',
        NODE_EXTRA_CA_CERTS: fixture('ca.pem'),
        ROLES: 'api,worker',
      },
    });
    onTestFinished(() => service.close());
    return service;
  };

  let service = await start();
  let client = await createClient(service.url, token);
  const { path, developerKey: key } = await client.createProject();
  const call = async (method: string, route: string, body: object) => {
    expect((await client.api(method, path + route, { key, body })).status).toBeLessThan(300);
  };
  const postSessionWebhook = { url: receiver.url, events: ['session.ended', 'session.finalized'] };
  await call('PATCH', '/agent', { postSessionWebhook });
  const ids = Array.from({ length: SESSIONS }, (_, index) => `session-${index}`);
  for (const id of ids) await call('POST', '/sessions', { session_id: id });

  for (let kill = 0; kill < KILLS; kill += 1) {
    const before = receiver.begun();
    // Each kill has sessions of its own, since a slow start leaves time to send all of the last one.
    for (const id of ids.filter((_, index) => index % KILLS === kill))
      await call('DELETE', '/sessions', { session_id: id });
    await vi.waitFor(() => expect(receiver.begun()).toBeGreaterThan(before), WAIT);
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 3 * ACCEPT_MS));
    await service.kill();
    service = await start();
    client = await createClient(service.url, token);
  }
  await vi.waitFor(async () => expect(await unfinished(database.url)).toBe(0), WAIT);

  const finalized = receiver.times('session.finalized');
  const ended = receiver.times('session.ended');
  const twice = [...finalized.values()].filter((times) => times > 1).length;
  const lost = SESSIONS - finalized.size;
  const endedTwice = [...ended.values()].filter((times) => times > 1).length;
  report({
    what: 'A node is killed again and again while it sends webhooks over slow connections',
    done: `${KILLS} times kill -9 at random moments while ${SESSIONS} ended chats were told of`,
    seen: `session.finalized twice for ${twice}, lost for ${lost}; session.ended lost for ${SESSIONS - ended.size}, twice for ${endedTwice}`,
  });
  expect({ twice, ended: ended.size }).toEqual({ twice: 0, ended: SESSIONS });
});

/** How many sessions still have webhooks to send. */
async function unfinished(url: string): Promise<number> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    return (await client.query('SELECT 1 FROM webhook_outbox')).rows.length;
  } finally {
    await client.end();
  }
}
