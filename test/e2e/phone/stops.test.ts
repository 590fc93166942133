import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';

import { parseWav } from '../../../src/media/wav/wav.ts';
import { callees } from '../../scenarios/callees.ts';
import { createClient } from '../../support/gateway.ts';
import { createTestDatabase } from '../../support/postgres.ts';
import { type ServiceProcess, startService } from '../../support/processes.ts';
import { redisDatabase } from '../../support/redis.ts';
import { makeTempDir } from '../../support/tempDir.ts';
import { startCallee } from './support/callee.ts';
import { makeLine, newNumber, SLOW } from './support/line.ts';
import { ALL_EVENTS, receiveWebhooks } from './support/webhooks.ts';

const TIMEOUT = 240_000;
const READY_TIMEOUT_MS = 90_000;
const skip = Boolean(process.env.TEST_WITHOUT_SIP_PEERS);

async function start(dataDir: string, env: Record<string, string>): Promise<ServiceProcess> {
  const settings = { ALLOW_INSECURE_WEBHOOKS: 'true', MEDIA_WORKERS: '1', ...env };
  const service = await startService({ dataDir, env: settings, readyTimeoutMs: READY_TIMEOUT_MS });
  onTestFinished(() => service.close());
  return service;
}
const clientOf = (service: ServiceProcess) =>
  createClient(service.url, readFileSync(join(service.dataDir, 'admin-token'), 'utf8').trim());

function dataFolder(): string {
  const { path, remove } = makeTempDir();
  onTestFinished(remove);
  return path;
}
async function webhookReceiver() {
  const webhooks = await receiveWebhooks();
  onTestFinished(() => webhooks.close());
  return webhooks;
}

describe.skipIf(skip)('a service that stops', { timeout: TIMEOUT }, () => {
  test('lets a running call end by itself, takes no new one, and exits 0', async () => {
    const [database, redis, webhooks] = [
      await createTestDatabase(),
      await redisDatabase(),
      await webhookReceiver(),
    ];
    onTestFinished(async () => {
      await redis.drop();
      await database.drop();
    });
    const service = await start(dataFolder(), { DATABASE_URL: database.url, REDIS_URL: redis.url });
    const callee = await startCallee(callees.hangsUpLater, { durationMs: 5000 });
    const line = await makeLine(await clientOf(service), webhooks, { trunks: [{ port: callee.port }] });
    const call = await line.call();
    await line.until(call, 'in_progress');
    const stopped = service.stop();
    await vi.waitFor(async () => {
      const refused = await fetch(`${service.url}/readyz`);
      await refused.arrayBuffer();
      expect(refused.status).toBe(503);
    }, SLOW);
    expect((await callee.ended).exitCode).toBe(0);
    expect((await stopped).code).toBe(0);

    // Whatever was still to be told is told by the next life.
    const next = await start(service.dataDir, { DATABASE_URL: database.url, REDIS_URL: redis.url });
    const events = () => webhooks.of(call.sessionId).map(({ event }) => event);
    await vi.waitFor(() => expect(events()).toEqual(ALL_EVENTS), SLOW);
    const seen = (
      await (await clientOf(next)).api('GET', `${line.path}/calls/${call.callId}`, { key: line.developerKey })
    ).body;
    expect([seen.status, seen.endReason]).toEqual(['completed', 'caller_hangup']);
    expect(seen.durationMs).toBeGreaterThan(4900);
    expect((await next.stop()).code).toBe(0);
  });
});

describe.skipIf(skip)('a service that is killed in the middle of a call', { timeout: TIMEOUT }, () => {
  test('ends it at its next start: what was recorded plays, the number is free, each event came once', async () => {
    const webhooks = await webhookReceiver();
    const dataDir = dataFolder();
    const first = await start(dataDir, {});
    const callee = await startCallee(callees.hangsUpLater, { durationMs: 20_000, timeoutSeconds: 25 });
    const line = await makeLine(await clientOf(first), webhooks, { trunks: [{ port: callee.port }] });
    const toNumber = newNumber();
    const call = await line.call({ toNumber });
    const { answeredAt } = await line.until(call, 'in_progress');
    await vi.waitFor(() => expect(Date.now() - Date.parse(answeredAt)).toBeGreaterThan(3000), SLOW);
    await first.kill9();

    const second = await start(dataDir, {});
    const client = await clientOf(second);
    const events = () => webhooks.of(call.sessionId).map(({ event }) => event);
    await vi.waitFor(() => expect(events()).toContain('session.finalized'), SLOW);
    expect(events()).toEqual(ALL_EVENTS);
    const seen = (await client.api('GET', `${line.path}/calls/${call.callId}`, { key: line.developerKey }))
      .body;
    expect(seen).toMatchObject({ status: 'failed', endReason: 'node_lost', recording: { status: 'ready' } });
    const wav = parseWav(new Uint8Array(await (await fetch(seen.recording.url)).arrayBuffer()));
    expect(wav.channels).toBe(2);
    expect(wav.samples.length / 2 / wav.sampleRateHz).toBeGreaterThan(1);
    const again = await client.api('POST', '/v1/calls/outbound', {
      key: line.developerKey,
      body: { projectId: line.id, fromNumber: line.number, toNumber },
    });
    expect(again.status).toBe(202);
    await client.api('POST', `${line.path}/calls/${again.body.callId}/hangup`, { key: line.developerKey });
    expect((await second.stop()).code).toBe(0);
  });
});
