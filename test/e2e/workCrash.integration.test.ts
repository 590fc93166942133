import { randomBytes } from 'node:crypto';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';

import { Phone } from '../sip/support/phone.ts';
import { type ApiAnswer, createClient, type TestProject } from '../support/gateway.ts';
import { type LoopbackServer, serveOnLoopback } from '../support/loopbackServer.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { type ServiceProcess, startService } from '../support/processes.ts';
import { redisDatabase } from '../support/redis.ts';
import { makeTempDir } from '../support/tempDir.ts';

const TIMEOUT = 240_000;
/** Half a minute after a node was killed, its work is due again. */
const WAIT = { timeout: 120_000, interval: 250 };
const FROM = '+886223456789';
const CHANNELS = 2;
const CALLS = 16;
const SESSIONS = 8;
const EVENTS = ['session.started', 'turn.user', 'turn.agent', 'session.finalized'];
const CASES = 4;
const REPEAT = 20;
/** The time that the callee rings, and that the receiver takes. */
const BUSY_MS = 200;

const closers: (() => Promise<unknown>)[] = [];
/** What the carrier and the receiver have seen: the attempts by number, the events by session. */
const dialed = new Map<string, Set<string>>();
const delivered = new Map<string, { readonly id: string; readonly type: string }[]>();
/** Carrier and receiver answer nothing before. */
let open: () => void;
const opened = new Promise<void>((resolve) => {
  open = resolve;
});
let service: ServiceProcess;
let project: TestProject;
let api: (method: string, path: string, body?: object) => Promise<ApiAnswer>;
let started: { calls: string[]; runId: string };

beforeAll(async () => {
  const folder = makeTempDir();
  const [database, redis, carrier, receiver] = await Promise.all([
    createTestDatabase('newest'),
    redisDatabase(),
    busyCarrier(),
    slowReceiver(),
  ]);
  closers.push(async () => folder.remove(), database.drop, redis.drop);
  closers.push(
    async () => {
      carrier.onMessage = () => undefined;
      await delay(BUSY_MS);
      await carrier.close();
    },
    () => receiver.close(),
  );
  const token = randomBytes(24).toString('hex');
  const env = {
    DATABASE_URL: database.url,
    REDIS_URL: redis.url,
    CALLWAY_ADMIN_TOKEN: token,
    ALLOW_INSECURE_WEBHOOKS: 'true',
    MEDIA_WORKERS: '1',
  };
  const start = async () => {
    service = await startService({ env, dataDir: folder.path });
    closers.push(service.close);
    return await createClient(service.url, token);
  };
  let client = await start();
  project = await client.createProject();
  api = async (method, path, body) => {
    const answer = await client.api(method, path, { key: project.developerKey, ...(body ? { body } : {}) });
    expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
    return answer;
  };
  started = await startWork(client.api, carrier.port, receiver.port);

  await vi.waitFor(async () => {
    expect(dialed.size).toBeGreaterThan(2);
    expect(delivered.size).toBeGreaterThan(2);
    expect((await playStatuses()).filter((status) => status === 'passed').length).toBeGreaterThan(5);
  }, WAIT);
  await delay(Math.random() * 2 * BUSY_MS);
  await service.kill();
  expect([dialed.size < CALLS, [...delivered.values()].flat().length < SESSIONS * EVENTS.length]).toEqual([
    true,
    true,
  ]);
  client = await start();
}, TIMEOUT);
afterAll(async () => {
  for (const close of closers.reverse()) await close();
});

/** A carrier that refuses each call after a moment, and notes its attempts. */
async function busyCarrier(): Promise<Phone> {
  const carrier = await Phone.open();
  carrier.onMessage = (message) => {
    const number = /^INVITE sip:(\+?\d+)@/.exec(message)?.[1];
    const callId = /^Call-ID: (.*)\r$/im.exec(message)?.[1];
    const port = Number(/^Via: .*?:(\d+)/im.exec(message)?.[1]);
    if (!number || !callId) return;
    dialed.set(number, (dialed.get(number) ?? new Set()).add(callId));
    const [ringing, busy] = ['180 Ringing', '486 Busy Here'].map((status) => carrier.answer(message, status));
    carrier.send(ringing ?? '', port);
    void opened.then(() => delay(BUSY_MS)).then(() => carrier.send(busy ?? '', port));
  };
  return carrier;
}

async function slowReceiver(): Promise<LoopbackServer> {
  return await serveOnLoopback(async (request, response) => {
    const { type, sessionId } = JSON.parse(await text(request));
    const events = delivered.get(sessionId) ?? [];
    delivered.set(sessionId, [...events, { id: String(request.headers['webhook-id']), type }]);
    await opened.then(() => delay(BUSY_MS));
    response.writeHead(204).end();
  });
}

/** Chats whose events are to be sent, a test run, and calls, half of which are due in two seconds. */
async function startWork(
  asAdmin: (method: string, path: string, request: object) => Promise<ApiAnswer>,
  carrierPort: number,
  receiverPort: number,
): Promise<typeof started> {
  const trunk = { host: '127.0.0.1', port: carrierPort, inboundCidrs: ['127.0.0.1/32'] };
  const limits = { maxChannels: CHANNELS, optionsIntervalSeconds: 0 };
  await asAdmin('POST', `${project.path}/trunks`, { body: { name: 'C', ...trunk, ...limits } });
  await api('POST', `${project.path}/phone-numbers`, { number: FROM });
  const eventWebhook = { url: `http://127.0.0.1:${receiverPort}/events`, events: EVENTS };
  await api('PUT', `${project.path}/agent`, { status: 'published', eventWebhook });
  const testCaseIds: string[] = [];
  for (let n = 0; n < CASES; n += 1) {
    const turns = [{ say: 'Hello' }, { say: 'Thanks' }];
    const assertions = [{ type: 'not_contains', value: '<never>' }];
    const { body } = await api('POST', `${project.path}/test-cases`, {
      name: `Case ${n}`,
      turns,
      assertions,
    });
    testCaseIds.push(body.id);
  }
  const suite = await api('POST', `${project.path}/test-suites`, { name: 'All', testCaseIds });
  const notBefore = new Date(Date.now() + 2_000).toISOString();
  const order = (n: number) =>
    api('POST', '/v1/calls/outbound', {
      ...{ projectId: project.id, fromNumber: FROM, toNumber: `+8869120000${10 + n}` },
      ...(n % 2 === 0 ? { notBefore } : {}),
    });
  const calls: string[] = [];
  for (let n = 0; n < CALLS; n += 1) calls.push((await order(n)).body.callId);
  for (let n = 0; n < SESSIONS; n += 1) {
    const session_id = `chat ${n}`;
    const messages = [{ role: 'user', content: 'Good morning' }];
    await api('POST', `${project.path}/chat/completions`, { session_id, messages });
    await api('DELETE', `${project.path}/sessions`, { session_id });
  }
  const run = await api('POST', `${project.path}/test-suites/${suite.body.data.id}/runs`, { repeat: REPEAT });
  open();
  return { calls, runId: run.body.data.id };
}

async function playStatuses(): Promise<string[]> {
  const { body } = await api('GET', `${project.path}/test-runs/${started.runId}`);
  return body.data.cases.flatMap((played: { runs: { status: string }[] }) =>
    played.runs.map(({ status }) => status),
  );
}

test('No number is dialed twice, and no waiting or scheduled call is lost, after kill -9', {
  timeout: TIMEOUT,
}, async () => {
  const ended = await vi.waitFor(async () => {
    const calls = await Promise.all(
      started.calls.map(async (id) => (await api('GET', `${project.path}/calls/${id}`)).body),
    );
    for (const { status } of calls) expect(['busy', 'failed']).toContain(status);
    return calls;
  }, WAIT);
  const lost = ended.filter(({ status }) => status === 'failed');
  for (const { endReason } of lost) expect(endReason).toBe('node_lost');
  // Those that held a channel at that moment.
  expect(lost.length).toBeLessThanOrEqual(CHANNELS);
  expect([...dialed.values()].map(({ size }) => size)).toEqual([...dialed].map(() => 1));
  expect(dialed.size).toBeGreaterThanOrEqual(CALLS - lost.length);
});

test('Every play of a test run is played after kill -9, once each', { timeout: TIMEOUT }, async () => {
  await vi.waitFor(
    async () => expect(await playStatuses()).toEqual(Array.from({ length: CASES * REPEAT }, () => 'passed')),
    WAIT,
  );
});

test('Every live event reaches its receiver after kill -9, in order, and twice only what was on its way', {
  timeout: TIMEOUT,
}, async () => {
  await vi.waitFor(() => {
    for (let n = 0; n < SESSIONS; n += 1) {
      const events = delivered.get(`chat ${n}`) ?? [];
      const first = events.filter(({ id }, at) => events.findIndex((one) => one.id === id) === at);
      expect(first.map(({ type }) => type)).toEqual(EVENTS);
      expect(events.length - first.length).toBeLessThanOrEqual(1);
    }
  }, WAIT);
});
