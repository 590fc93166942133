import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { Phone, SDP } from '../sip/support/phone.ts';
import { sharedGateway, type TestProject } from '../support/gateway.ts';
import { reservePort } from '../support/ports.ts';
import { redisDatabase } from '../support/redis.ts';

const SIP_PORT = await reservePort();
const database = await redisDatabase();
const redis = new Redis(database.url);
const gateway = sharedGateway({
  env: {
    ROLES: 'api,worker,voice,media',
    MEDIA_WORKERS: '1',
    SIP_PORT: String(SIP_PORT),
    REDIS_URL: database.url,
  },
});
const FROM = '+886223456789';
let carrier: Phone;
let project: TestProject;

beforeAll(async () => {
  carrier = await Phone.open();
  project = await gateway().createProject();
  const address = { host: '127.0.0.1', port: carrier.port, inboundCidrs: ['127.0.0.1/32'] };
  await gateway().api('POST', `${project.path}/trunks`, {
    body: { name: 'C', ...address, maxChannels: 2, optionsIntervalSeconds: 0 },
  });
  await api('POST', '/phone-numbers', { number: FROM, inboundEnabled: true });
  await limit({ rates: [{ prefix: '+', perMinute: 1000 }] });
});
afterAll(async () => {
  await carrier.close();
  redis.disconnect();
  await database.drop();
});

const api = (method: string, path: string, body?: object) =>
  gateway().api(method, project.path + path, { key: project.developerKey, ...(body ? { body } : {}) });
const order = (toNumber: string) =>
  gateway().api('POST', '/v1/calls/outbound', {
    key: project.developerKey,
    body: { projectId: project.id, fromNumber: FROM, toNumber },
  });
const limit = (callLimits: object) => gateway().api('PATCH', project.path, { body: { callLimits } });

/** Answers an outbound call. */
async function connect(toNumber: string): Promise<string> {
  const { body } = await order(toNumber);
  const invite = await carrier.next(new RegExp(`^INVITE .*${toNumber.slice(1)}`, 's'));
  carrier.send(carrier.answer(invite, '200 OK', { body: SDP }), SIP_PORT);
  await carrier.next(/^ACK /);
  await vi.waitFor(async () =>
    expect((await api('GET', `/calls/${body.callId}`)).body.status).toBe('in_progress'),
  );
  return body.callId;
}
async function hangUp(callId: string): Promise<void> {
  await api('POST', `/calls/${callId}/hangup`);
  carrier.send(carrier.answer(await carrier.next(/^BYE /), '200 OK'), SIP_PORT);
  await vi.waitFor(async () => expect((await api('GET', `/calls/${callId}`)).body.status).toBe('completed'));
}
/** The final answer to an inbound call. */
async function call(callId: string): Promise<string> {
  const uri = `sip:${FROM}@127.0.0.1:${SIP_PORT}`;
  carrier.send(carrier.request('INVITE', SIP_PORT, { callId, uri, to: `<${uri}>`, body: SDP }), SIP_PORT);
  return (await carrier.next(new RegExp(`^SIP/2.0 [2-6].*Call-ID: ${callId}`, 's'))).slice(8, 11);
}

test('An emptied Redis frees no channel of live calls', async () => {
  const calls = [await connect('+886912000001'), await connect('+886912000002')];
  await redis.flushdb();
  expect(await call('beyond the channels')).toBe('486');
  await limit({ maxConcurrentCalls: 2 });
  await redis.flushdb();
  expect(await call('beyond the concurrent calls')).toBe('503');
  for (const one of calls) await hangUp(one);
});

test('An emptied Redis gives back no money and no sessions of the day', async () => {
  await limit({ maxSpendingPerDay: 0.001 });
  await redis.flushdb();
  const refused = await order('+886912000004');
  expect([refused.status, refused.body.code]).toEqual([429, 'call_spending_exhausted']);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);

  const sessions = async () => (await api('GET', '/usage')).body.quotas.sessionsPerDay.used;
  const used = await sessions();
  expect(used).toBeGreaterThanOrEqual(2);
  await redis.flushdb();
  await expect.poll(sessions, { timeout: 15_000 }).toBe(used);
});
