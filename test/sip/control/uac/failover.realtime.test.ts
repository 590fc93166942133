import { afterEach, beforeEach, expect, test } from 'vitest';
import { type SipServer, startSipServer } from '../../../../sip/server.ts';
import { Phone, SDP } from '../../support/phone.ts';
import { connectApp, NO_STATE, serverOptions, waitUntilDrained } from '../../support/rig.ts';
import type { SrfApp } from '../../support/srf.ts';

let server: SipServer;
let srf: SrfApp;
let first: Phone;
let second: Phone;

beforeEach(async () => {
  [first, second] = [await Phone.open(), await Phone.open()];
  const srv = [first, second].map((phone, priority) => ({
    name: 'host.test',
    port: phone.port,
    priority,
    weight: 0,
  }));
  server = await startSipServer(
    serverOptions({ controlTimes: { failoverMs: 200 } }),
    {},
    {
      dns: {
        naptr: async () => [],
        srv: async (name) => (name === '_sip._udp.trunk.test' ? srv : []),
        addresses: async () => ['127.0.0.1'],
      },
    },
  );
  srf = await connectApp(server);
});
afterEach(async () => {
  srf.disconnect();
  await Promise.all([first.close(), second.close()]);
  await server.close();
});

const port = () => server.sipPorts[0]?.port ?? 0;
const place = () =>
  srf
    .createUAC('sip:x@trunk.test', { localSdp: SDP })
    .then(() => 200)
    .catch((error: { status: number }) => error.status);

test('After 503 the next target is tried, and the application gets one call', async () => {
  const placing = place();
  first.send(first.answer(await first.next(/^INVITE /), '503 Service Unavailable'), port());
  second.send(second.answer(await second.next(/^INVITE /), '200 OK', { body: SDP }), port());
  expect(await placing).toBe(200);
  await second.next(/^ACK /);
});

test('A silent target is replaced by the next, and canceled when it responds', async () => {
  const placing = place();
  const late = await first.next(/^INVITE /);
  const invite = await second.next(/^INVITE /);
  first.send(first.answer(late, '180 Ringing'), port());
  await first.next(/^CANCEL /);
  first.send(first.answer(late, '200 OK', { tag: 'late', body: SDP }), port());
  await first.next(/^ACK .*tag=late/s);
  first.send(first.answer(await first.next(/^BYE .*tag=late/s), '200 OK'), port());
  second.send(second.answer(invite, '486 Busy Here'), port());
  expect(await placing).toBe(486);
  expect(await waitUntilDrained(server)).toEqual(NO_STATE);
});

test('After 603 the next target is not tried', async () => {
  const placing = place();
  first.send(first.answer(await first.next(/^INVITE /), '603 Decline'), port());
  expect(await placing).toBe(603);
  expect(await second.receivesNone(/^INVITE /, 300)).toBe(true);
});
