import { expect, test, vi } from 'vitest';
import { header, SDP } from '../../sip/support/phone.ts';
import { startControlProxy } from '../../support/controlProxy.ts';
import { startTelephonyRig } from '../../support/telephonyRig.ts';

test('A call survives a lost control connection and is hung up over the next one', async () => {
  const breaker = await startControlProxy();
  const rig = await startTelephonyRig({ controlPort: breaker.portTo });
  const { leg, events, ended } = rig.dial();
  const invite = await rig.next(leg, 'INVITE');
  const accepted = rig.phone.answer(invite, '200 OK', { body: SDP });
  rig.phone.send(accepted, rig.port);
  await rig.next(leg, 'ACK');
  await vi.waitFor(() => expect(events).toContain('answered'));
  breaker.disconnect();
  // The leg asks whether the peer still knows the call.
  rig.phone.send(rig.phone.answer(await rig.next(leg, 'OPTIONS'), '200 OK'), rig.port);
  rig.phone.send(
    rig.calleeRequest('INFO', invite, accepted, ['Content-Type: application/dtmf'], '5'),
    rig.port,
  );
  await vi.waitFor(() => expect(events).toContain('digit 5'));
  leg.hangup();
  rig.phone.send(rig.phone.answer(await rig.next(leg, 'BYE'), '200 OK'), rig.port);
  expect(await ended).toMatchObject({ outcome: 'local_hangup' });
  await rig.close();
  await breaker.close();
});

test('A call that the peer no longer knows is lost', async () => {
  const breaker = await startControlProxy();
  const rig = await startTelephonyRig({ controlPort: breaker.portTo });
  const { leg, events, ended } = rig.dial();
  const invite = await rig.next(leg, 'INVITE');
  rig.phone.send(rig.phone.answer(invite, '200 OK', { body: SDP }), rig.port);
  await rig.next(leg, 'ACK');
  await vi.waitFor(() => expect(events).toContain('answered'));
  breaker.disconnect();
  const options = await rig.next(leg, 'OPTIONS');
  rig.phone.send(rig.phone.answer(options, '481 Call Does Not Exist'), rig.port);
  expect(await ended).toEqual({ outcome: 'lost', sip: { code: 200, reason: 'OK' }, q850Cause: null });
  expect(rig.media.sessions).toBe(0);
  await rig.close();
  await breaker.close();
});

test('A ringing call is lost with the control connection, and canceled after the reconnect', async () => {
  const breaker = await startControlProxy();
  const rig = await startTelephonyRig({ controlPort: breaker.portTo });
  const { leg, ended } = rig.dial();
  const invite = await rig.next(leg, 'INVITE');
  rig.phone.send(rig.phone.answer(invite, '180 Ringing'), rig.port);
  await rig.phone.receivesNone(/^CANCEL/, 50);
  breaker.disconnect();
  expect(await ended).toMatchObject({ outcome: 'lost', sip: null });
  const cancel = await rig.next(leg, 'CANCEL');
  expect(header(cancel, 'CSeq')).toBe('1 CANCEL');
  rig.phone.send(rig.phone.answer(cancel, '200 OK'), rig.port);
  rig.phone.send(rig.phone.answer(invite, '487 Request Terminated'), rig.port);
  await rig.next(leg, 'ACK');
  await rig.close();
  await breaker.close();
});

test('A hangup without a control connection is sent after the reconnect', async () => {
  const breaker = await startControlProxy();
  const rig = await startTelephonyRig({ controlPort: breaker.portTo });
  const { leg, events, ended } = rig.dial();
  const invite = await rig.next(leg, 'INVITE');
  rig.phone.send(rig.phone.answer(invite, '200 OK', { body: SDP }), rig.port);
  await rig.next(leg, 'ACK');
  await vi.waitFor(() => expect(events).toContain('answered'));
  breaker.refuseConnections();
  breaker.disconnect();
  await vi.waitFor(() => expect(rig.control.isConnected).toBe(false));
  await leg.hangup();
  expect(await ended).toMatchObject({ outcome: 'local_hangup' });
  breaker.acceptConnections();
  rig.phone.send(rig.phone.answer(await rig.next(leg, 'BYE'), '200 OK'), rig.port);
  await rig.close();
  await breaker.close();
});
