import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { header, Phone, SDP } from '../support/phone.ts';
import { NO_STATE, type Rig, startRig, waitUntilDrained } from '../support/rig.ts';
import type { ProxyResult } from '../support/srf.ts';

let rig: Rig;
let callee: Phone;
beforeEach(async () => {
  rig = await startRig();
  callee = await Phone.open();
});
afterEach(async () => {
  await callee.close();
  await rig.close();
});

function proxying(options: Record<string, unknown>): { result: ProxyResult | undefined } {
  const outcome: { result: ProxyResult | undefined } = { result: undefined };
  rig.srf.invite(async (req) => {
    outcome.result = await req.proxy(options);
  });
  return outcome;
}

test('A proxied call and its BYE are forwarded both ways, and nothing remains', async () => {
  const { phone, port, server } = rig;
  const outcome = proxying({ destination: [callee.uri], remainInDialog: true });
  phone.send(phone.request('INVITE', port, { callId: 'p1', body: SDP }), port);
  const invite = await callee.next(/^INVITE /);
  expect(header(invite, 'Max-Forwards')).toBe('69');
  expect(header(invite, 'Record-Route')).toContain(`127.0.0.1:${port};lr`);
  callee.send(callee.answer(invite, '180 Ringing'), port);
  const ringing = await phone.next(/^SIP\/2.0 180 /);
  expect([...ringing.matchAll(/^Via:/gim)]).toHaveLength(1);
  callee.send(callee.answer(invite, '200 OK', { body: SDP }), port);
  const ok = await phone.next(/^SIP\/2.0 200 /);
  const route = [`Route: ${header(ok, 'Record-Route')}`];
  const parts = { callId: 'p1', to: header(ok, 'To'), uri: callee.uri, extra: route };
  phone.send(phone.request('ACK', port, parts), port);
  const ack = await callee.next(/^ACK /);
  expect(ack).not.toMatch(/^Route:/m);
  await vi.waitFor(() => expect(outcome.result?.connected).toBe(true));
  phone.send(phone.request('BYE', port, { ...parts, cseq: 2 }), port);
  const bye = await callee.next(/^BYE /);
  callee.send(callee.answer(bye, '200 OK'), port);
  await phone.next(/^SIP\/2.0 200 .*CSeq: 2 BYE/s);
  expect(await waitUntilDrained(server)).toEqual(NO_STATE);
});

test('Serial targets are tried in turn, and each final response is reported', async () => {
  const { phone, port, server } = rig;
  const second = await Phone.open();
  const outcome = proxying({ destination: [callee.uri, second.uri] });
  phone.send(phone.request('INVITE', port, { callId: 'p2', branch: 'z9hG4bK-p2', body: SDP }), port);
  callee.send(callee.answer(await callee.next(/^INVITE /), '486 Busy Here'), port);
  await callee.next(/^ACK /);
  second.send(second.answer(await second.next(/^INVITE /), '404 Not Found'), port);
  const best = await phone.next(/^SIP\/2.0 404 /);
  phone.send(
    phone.request('ACK', port, { callId: 'p2', branch: 'z9hG4bK-p2', to: header(best, 'To') }),
    port,
  );
  await vi.waitFor(() => expect(statuses(outcome.result)).toEqual([486, 404]));
  expect(outcome.result?.connected).toBe(false);
  await second.close();
  expect(await waitUntilDrained(server)).toEqual(NO_STATE);
});

test('The first of parallel targets to accept wins, and the other is canceled', async () => {
  const { phone, port } = rig;
  const second = await Phone.open();
  proxying({ destination: [callee.uri, second.uri], forking: 'simultaneous' });
  phone.send(phone.request('INVITE', port, { callId: 'p3', body: SDP }), port);
  const [one, two] = await Promise.all([callee.next(/^INVITE /), second.next(/^INVITE /)]);
  second.send(second.answer(two, '180 Ringing'), port);
  await phone.next(/^SIP\/2.0 180 /);
  callee.send(callee.answer(one, '200 OK', { body: SDP }), port);
  await phone.next(/^SIP\/2.0 200 /);
  await second.next(/^CANCEL /);
  await second.close();
});

test('A CANCEL is forwarded to the target', async () => {
  const { phone, port, server } = rig;
  proxying({ destination: [callee.uri] });
  const branch = 'z9hG4bK-p4';
  phone.send(phone.request('INVITE', port, { callId: 'p4', branch, body: SDP }), port);
  const invite = await callee.next(/^INVITE /);
  callee.send(callee.answer(invite, '180 Ringing'), port);
  await phone.next(/^SIP\/2.0 180 /);
  phone.send(phone.request('CANCEL', port, { callId: 'p4', branch }), port);
  const cancel = await callee.next(/^CANCEL /);
  callee.send(callee.answer(cancel, '200 OK'), port);
  callee.send(callee.answer(invite, '487 Request Terminated'), port);
  const ended = await phone.next(/^SIP\/2.0 487 .*INVITE/s);
  phone.send(phone.request('ACK', port, { callId: 'p4', branch, to: header(ended, 'To') }), port);
  expect(await waitUntilDrained(server)).toEqual(NO_STATE);
});

test('A silent target gives the caller 408', async () => {
  const { phone, port } = rig;
  const outcome = proxying({ destination: [callee.uri], provisionalTimeout: '150ms' });
  phone.send(phone.request('INVITE', port, { callId: 'p5', body: SDP }), port);
  await phone.next(/^SIP\/2.0 408 /);
  await vi.waitFor(() => expect(outcome.result?.finalStatus).toBe(408));
});

/** The statuses of the targets, in order; drachtio-srf groups them by address. */
function statuses(result: ProxyResult | undefined): number[] {
  return (result?.responses ?? []).flatMap(({ msgs }) => msgs.map(({ status }) => status));
}
