import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { parseWav } from '../../../src/media/wav.ts';
import { callees } from '../../scenarios/callees.ts';
import { callers } from '../../scenarios/callers.ts';
import { runSipp, type SippRun } from '../../sip/support/sipp.ts';
import { createClient } from '../../support/gateway.ts';
import { reservePort } from '../../support/ports.ts';
import { createTestDatabase } from '../../support/postgres.ts';
import { type ServiceProcess, startService } from '../../support/processes.ts';
import { redisDatabase } from '../../support/redis.ts';
import { requiresSipPeers } from '../../support/skips.ts';
import { makeTempDir } from '../../support/tempDir.ts';
import { type Callee, startCallee } from './support/callee.ts';
import { type Client, type Line, makeLine, newNumber, type PlacedCall, SLOW } from './support/line.ts';
import { ALL_EVENTS, receiveWebhooks, type WebhookReceiver } from './support/webhooks.ts';

const TIMEOUT = 240_000;

/** Of all tests, which run side by side; newest first. */
const closers: (() => unknown)[] = [];
afterAll(async () => {
  for (const close of closers.reverse()) await close();
});
async function start(dataDir: string, env: Record<string, string>): Promise<ServiceProcess> {
  const settings = { ALLOW_INSECURE_WEBHOOKS: 'true', MEDIA_WORKERS: '1', ...env };
  const service = await startService({ dataDir, env: settings });
  closers.push(() => service.close());
  return service;
}
const clientOf = (service: ServiceProcess) =>
  createClient(service.url, readFileSync(join(service.dataDir, 'admin-token'), 'utf8').trim());

function dataFolder(): string {
  const { path, remove } = makeTempDir();
  closers.push(remove);
  return path;
}
/** The test run's servers, which make a start quick. */
async function ownStores(): Promise<Record<string, string>> {
  const [database, redis] = [await createTestDatabase('newest'), await redisDatabase()];
  closers.push(database.drop, redis.drop);
  return { DATABASE_URL: database.url, REDIS_URL: redis.url };
}
async function webhookReceiver() {
  const webhooks = await receiveWebhooks();
  closers.push(() => webhooks.close());
  return webhooks;
}

const lineTo = (client: Client, webhooks: WebhookReceiver, { port }: Callee) =>
  makeLine(client, webhooks, { trunks: [{ port }] });

/** The restarted service ended the call: events once and in order, and the recording plays. */
async function expectLost(client: Client, line: Line, call: PlacedCall, webhooks: WebhookReceiver) {
  const events = () => webhooks.forSession(call.sessionId).map(({ event }) => event);
  await vi.waitFor(() => expect(events()).toContain('session.finalized'), SLOW);
  expect(events()).toEqual(ALL_EVENTS);
  const { body } = await client.api('GET', `${line.path}/calls/${call.callId}`, { key: line.developerKey });
  expect(body).toMatchObject({ status: 'failed', endReason: 'node_lost', recording: { status: 'ready' } });
  const wav = parseWav(new Uint8Array(await (await fetch(body.recording.url)).arrayBuffer()));
  expect(wav.channels).toBe(2);
  expect(wav.samples.length / 2 / wav.sampleRateHz).toBeGreaterThanOrEqual(1);
}

describe.concurrent('SIGTERM', { ...requiresSipPeers, timeout: TIMEOUT }, () => {
  test('refuses new calls with 503 and Retry-After, serves running ones to their end, and exits with 0', async () => {
    const [stores, webhooks] = [await ownStores(), await webhookReceiver()];
    const service = await start(dataFolder(), stores);
    const client = await clientOf(service);
    const [leaving, staying] = [
      await startCallee(callees.hangsUpLater, { durationMs: 5000 }),
      await startCallee(callees.hangsUpLater, { durationMs: 60_000, timeoutSeconds: 70 }),
    ];
    const [line, other] = [await lineTo(client, webhooks, leaving), await lineTo(client, webhooks, staying)];
    const { key: legacyKey } = await client.createKey(other, { kind: 'secret' });
    const [call, lasting] = [await line.call(), await other.call()];
    await line.waitForStatus(call, 'in_progress');
    await other.waitForStatus(lasting, 'in_progress');
    const stopped = service.stop();
    // A launcher forwards the signal that its child has received as well.
    await sleep(10);
    process.kill(service.pid, 'SIGTERM');
    await vi.waitFor(async () => {
      const refused = await fetch(`${service.url}/readyz`);
      await refused.arrayBuffer();
      expect(refused.status).toBe(503);
    }, SLOW);

    const legacyPath = `/project/${other.id}/integration/phone/call/outbound`;
    const body = { fromNumber: other.number, toNumber: newNumber() };
    const refused = [
      await other.requestCall(),
      await client.api('POST', legacyPath, { key: legacyKey, body }),
      await other.api('POST', '/media-streams', { dialect: 'callway' }),
    ];
    const node_draining = { status: 503, retryAfter: '5', code: 'node_draining' };
    expect(
      refused.map(({ status, headers, body }) => ({
        status,
        retryAfter: headers.get('retry-after'),
        code: body.code,
      })),
    ).toEqual([node_draining, node_draining, node_draining]);

    expect((await other.readCall(lasting)).status).toBe('in_progress');
    const transfer = await other.api('POST', `/calls/${lasting.callId}/transfer`, { to: 'nowhere' });
    expect([transfer.status, transfer.body.code]).toEqual([400, 'invalid_transfer_target']);
    expect((await other.api('POST', `/calls/${lasting.callId}/hangup`)).status).toBe(200);
    expect((await leaving.ended).exitCode).toBe(0);
    expect((await stopped).code).toBe(0);

    // The restarted service sends the remaining events.
    const next = await start(service.dataDir, stores);
    const events = () => webhooks.forSession(call.sessionId).map(({ event }) => event);
    await vi.waitFor(() => expect(events()).toEqual(ALL_EVENTS), SLOW);
    const seen = (
      await (await clientOf(next)).api('GET', `${line.path}/calls/${call.callId}`, { key: line.developerKey })
    ).body;
    expect([seen.status, seen.endReason]).toEqual(['completed', 'caller_hangup']);
    // Five seconds but for the time that the answer took; the shutdown began in the first one.
    expect(seen.durationMs).toBeGreaterThan(3000);
    expect((await next.stop()).code).toBe(0);
  });
});

describe.concurrent('a service killed during calls', { ...requiresSipPeers, timeout: TIMEOUT }, () => {
  test('ends them at its next start: recordings play, numbers are free, each event is sent once', async () => {
    const [stores, webhooks, dataDir] = [await ownStores(), await webhookReceiver(), dataFolder()];
    const [sipPort, nextSipPort] = [await reservePort(), await reservePort()];
    const first = await start(dataDir, { ...stores, SIP_PORT: String(sipPort) });
    const callee = await startCallee(callees.hangsUpLater, { durationMs: 20_000, timeoutSeconds: 25 });
    const line = await makeLine(await clientOf(first), webhooks, {
      trunks: [{ port: callee.port, inboundCidrs: ['127.0.0.1/32'] }],
      number: { inboundEnabled: true },
    });
    const ring = async (port: number, more: Partial<SippRun>) => {
      const own = { localPort: await reservePort(), user: line.number, calls: 1, ...more };
      return await runSipp({ scenario: callers.answered, remote: `127.0.0.1:${port}`, ...own });
    };
    const toNumber = newNumber();
    const placed = await line.call({ toNumber });
    void ring(sipPort, { durationMs: 20_000, timeoutSeconds: 25 });
    const came = await vi.waitFor(async () => {
      const { data } = (await line.api('GET', '/calls?direction=inbound&status=in_progress')).body;
      expect(data).toHaveLength(1);
      return data[0];
    }, SLOW);
    const { answeredAt } = await line.waitForStatus(placed, 'in_progress');
    for (const at of [answeredAt, came.answeredAt])
      await vi.waitFor(() => expect(Date.now() - Date.parse(at)).toBeGreaterThan(3000), SLOW);
    await first.kill();

    const second = await start(dataDir, { ...stores, SIP_PORT: String(nextSipPort) });
    const client = await clientOf(second);
    const calls = [placed, { callId: came.id, sessionId: came.sessionId }];
    for (const call of calls) await expectLost(client, line, call, webhooks);
    const again = await client.api('POST', '/v1/calls/outbound', {
      key: line.developerKey,
      body: { projectId: line.id, fromNumber: line.number, toNumber },
    });
    expect(again.status).toBe(202);
    await client.api('POST', `${line.path}/calls/${again.body.callId}/hangup`, { key: line.developerKey });
    expect((await ring(nextSipPort, { durationMs: 300 })).exitCode).toBe(0);
    expect((await second.stop()).code).toBe(0);
    for (const { sessionId } of calls) expect(webhooks.forSession(sessionId)).toHaveLength(ALL_EVENTS.length);
  });
});
