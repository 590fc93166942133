import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';

import { startSimulator } from '../../../src/app/simulator/simulator.ts';
import { createClient } from '../../support/gateway.ts';
import { type ServiceProcess, startService } from '../../support/processes.ts';
import { type Client, makeLine, newNumber, SLOW } from './support/line.ts';
import { receiveWebhooks, type WebhookReceiver } from './support/webhooks.ts';

const TIMEOUT = 180_000;
const [STOPPED_MS, RUNNING_MS] = [300, 100];
const [TICK_MS, LATE_MS] = [20, 100];
const ADMIN_TOKEN = randomBytes(24).toString('hex');

let service: ServiceProcess;
let client: Client;
let webhooks: WebhookReceiver;
const carrier = await startSimulator({ logger: pino({ level: 'silent' }) });
beforeAll(async () => {
  webhooks = await receiveWebhooks();
  service = await startService({
    env: {
      CALLWAY_ADMIN_TOKEN: ADMIN_TOKEN,
      ALLOW_INSECURE_WEBHOOKS: 'true',
      MEDIA_WORKERS: '1',
      OVERLOAD_RTP_MS: '40',
    },
  });
  client = await createClient(service.url, ADMIN_TOKEN);
}, TIMEOUT);
afterAll(async () => {
  await service?.close();
  await Promise.all([webhooks?.close(), carrier.close()]);
});

/** Ticks of calls: all, and those that were more than `LATE_MS` late. */
async function ticks(): Promise<{ all: number; late: number }> {
  const text = await (await fetch(`${service.url}/metrics`)).text();
  const read = (name: string) =>
    Number(new RegExp(`^callway_playout_lateness_seconds_${name} (\\d+)$`, 'm').exec(text)?.[1]);
  const all = read('count');
  return { all, late: all - read('bucket\\{le="0.1"\\}') };
}

describe('a process that is stopped three quarters of the time', { timeout: TIMEOUT }, () => {
  test('refuses calls, counts the packets that it did not send as late, and loses none of the caller’s', async () => {
    const line = await makeLine(client, webhooks, { trunks: [{ port: carrier.sipPort }] });
    const toNumber = newNumber();
    carrier.phones.set(toNumber, { kind: 'answers', afterMs: 0, script: [{ do: 'wait', ms: TIMEOUT }] });
    const call = await line.call({ toNumber });
    await line.waitForStatus(call, 'in_progress');
    await expect.poll(async () => (await ticks()).all, SLOW).toBeGreaterThan(50);
    const before = await ticks();
    let isStalling = true;
    let ticksLate = 0;
    const stalls = (async () => {
      while (isStalling) {
        service.suspend();
        const stoppedAt = performance.now();
        await sleep(STOPPED_MS);
        ticksLate += (performance.now() - stoppedAt - LATE_MS) / TICK_MS;
        service.resume();
        await sleep(RUNNING_MS);
      }
    })();
    try {
      await vi.waitFor(async () => {
        const { status, headers, body } = await line.requestCall();
        expect([status, body.code]).toEqual([503, 'node_overloaded']);
        expect(headers.get('retry-after')).toBe('5');
      }, SLOW);
    } finally {
      isStalling = false;
      await stalls;
    }
    const after = await ticks();
    expect(after.late - before.late).toBeGreaterThan(0.8 * ticksLate);
    await vi.waitFor(async () => expect((await line.requestCall()).status).toBe(202), SLOW);
    const { status, mediaFigures } = await line.readCall(call);
    expect(status).toBe('in_progress');
    expect(mediaFigures.packetsReceived).toBeGreaterThan(100);
    expect(mediaFigures.packetsLost / mediaFigures.packetsReceived).toBeLessThan(0.1);
    expect(mediaFigures.jitterBufferMs).toBeLessThan(200);
    await line.api('POST', `/calls/${call.callId}/hangup`);
    expect(await line.waitForEnd(call)).toMatchObject({ status: 'completed', endReason: 'api_hangup' });
  });
});
