import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import WebSocket from 'ws';
import { Phone, SDP } from '../sip/support/phone.ts';
import { sharedGateway, type TestProject } from '../support/gateway.ts';
import { reservePort } from '../support/ports.ts';

const SIP_PORT = await reservePort();
const gateway = sharedGateway({
  env: { ROLES: 'api,worker,voice,media', SIP_PORT: String(SIP_PORT), MEDIA_WORKERS: '1' },
});
const FROM = '+886223456789';
let carrier: Phone;
let project: TestProject;

beforeAll(async () => {
  carrier = await Phone.open();
  project = await gateway().createProject();
  const trunk = {
    name: 'C',
    host: '127.0.0.1',
    port: carrier.port,
    username: 'account',
    password: 'secret',
    headers: { 'X-Contract': '4711' },
    optionsIntervalSeconds: 0,
    followRedirects: true,
  };
  await api('POST', '/trunks', trunk);
  await api('POST', '/phone-numbers', { number: FROM });
});
afterAll(() => carrier.close());

const api = (method: string, path: string, body?: object) =>
  gateway().api(method, project.path + path, { key: project.developerKey, ...(body ? { body } : {}) });
const call = (toNumber: string) =>
  gateway().api('POST', '/v1/calls/outbound', {
    key: project.developerKey,
    body: { projectId: project.id, fromNumber: FROM, toNumber },
  });
const limit = (callLimits: object) => gateway().api('PATCH', project.path, { body: { callLimits } });
const untilEnded = (callId: string) =>
  vi.waitFor(
    async () => {
      const { body } = await api('GET', `/calls/${callId}`);
      expect(['completed', 'failed', 'canceled', 'busy', 'no_answer']).toContain(body.status);
      return body;
    },
    { timeout: 15_000, interval: 100 },
  );

describe('A new project', () => {
  test('follows a redirect only to where it may call', async () => {
    const { body } = await call('+886912000001');
    const invite = await carrier.next(/^INVITE .*886912000001/s);
    const contacts = [`<sip:+886204123456@127.0.0.1:${carrier.port}>`, `<sip:+441234567890@127.0.0.1>;q=0.5`];
    const extra = contacts.map((contact) => `Contact: ${contact}`);
    const moved = carrier.answer(invite, '302 Moved Temporarily').replace(/^Contact: .*\r\n/m, '');
    carrier.send(moved.replace('Content-Length', `${extra.join('\r\n')}\r\nContent-Length`), SIP_PORT);
    expect(await untilEnded(body.callId)).toMatchObject({ status: 'failed', sip: { code: 302 } });
    expect(carrier.received.filter((text) => /^INVITE .*(204123456|441234567890)/.test(text))).toEqual([]);
  });

  test('transfers to a host that the operator allows, which gets nothing of the carrier’s', async () => {
    const desk = await Phone.open();
    onTestFinished(() => desk.close());
    const { body } = await call('+886912000003');
    const invite = await carrier.next(/^INVITE .*886912000003/s);
    carrier.send(carrier.answer(invite, '200 OK', { body: SDP }), SIP_PORT);
    await carrier.next(/^ACK /);
    const to = `sip:desk@127.0.0.1:${desk.port}`;
    const transfer = () => api('POST', `/calls/${body.callId}/transfer`, { to });
    await vi.waitFor(async () => expect((await transfer()).status).toBe(422));
    await limit({ allowedSipDomains: ['127.0.0.1'] });
    expect((await transfer()).status).toBe(202);
    const asked = await desk.next(/^INVITE /);
    expect(asked).toMatch(new RegExp(`^INVITE ${to} `));
    expect(asked).not.toMatch(/account|X-Contract/);
    const challenge = 'Proxy-Authenticate: Digest realm="carrier", nonce="n1"';
    desk.send(desk.answer(asked, '407 Proxy Authentication Required', { extra: [challenge] }), SIP_PORT);
    await vi.waitFor(async () => {
      const { transfer: seen, status } = (await api('GET', `/calls/${body.callId}`)).body;
      expect([seen?.outcome, status]).toEqual(['failed', 'in_progress']);
    });
    expect(desk.received.filter((text) => text.startsWith('INVITE '))).toHaveLength(1);
    await api('POST', `/calls/${body.callId}/hangup`);
    const bye = await carrier.next(/^BYE /);
    carrier.send(carrier.answer(bye, '200 OK'), SIP_PORT);
    await untilEnded(body.callId);
  });
});

test('Realtime connections with a key leave a project’s other requests alone', async () => {
  const other = await gateway().createProject();
  const headers = { authorization: `Bearer ${other.developerKey}` };
  const address = `${gateway().url.replace('http', 'ws')}${other.path}/realtime`;
  const sockets = Array.from({ length: 9 }, () => new WebSocket(address, { headers }));
  await Promise.all(sockets.map((socket) => new Promise((resolve) => socket.once('open', resolve))));
  const { status } = await gateway().api('GET', `${other.path}/agent`, { key: other.developerKey });
  expect(status).toBe(200);
  for (const socket of sockets) socket.terminate();
});
