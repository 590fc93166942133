import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { systemClock } from '../../src/base/values/clock.ts';
import { type RegistrationState, TrunkRegistration } from '../../src/telephony/trunks/registration.ts';
import { type Kamailio, startKamailio } from '../sip/support/kamailio.ts';
import { NO_STATE, waitUntilDrained } from '../sip/support/rig.ts';
import { requiresSipPeers } from '../support/skips.ts';
import { recordLegEvents, startTelephonyRig, type TelephonyRig, trunkOf } from '../support/telephonyRig.ts';

let carrier: Kamailio;
let caller: TelephonyRig;
let callee: TelephonyRig;

beforeAll(async () => {
  [carrier, caller, callee] = await Promise.all([
    startKamailio('carrier'),
    startTelephonyRig(),
    startTelephonyRig({ inbound: { inboundCidrs: ['127.0.0.1'], username: 'bob', dtmf: 'info' } }),
  ]);
});
afterAll(async () => {
  await Promise.all([carrier?.close(), caller?.close(), callee?.close()]);
});

function register(password: string) {
  const states: RegistrationState[] = [];
  const trunk = trunkOf({
    host: '127.0.0.1',
    port: carrier.port,
    register: true,
    username: 'bob',
    password,
    realm: 'carrier.test',
  });
  const registration = new TrunkRegistration(trunk, {
    control: callee.control,
    clock: systemClock,
    random: Math.random,
    makeToken: () => Math.random().toString(16).slice(2),
    onChange: (state) => states.push(state),
  });
  return { registration, states };
}

const dial = (password = 'secret') =>
  caller.dial(
    { port: carrier.port, username: 'alice', password, realm: 'carrier.test' },
    { fromNumber: 'alice', toNumber: 'bob' },
  );

describe('through Kamailio', requiresSipPeers, () => {
  test('A registered trunk is called with digest and Record-Route, and is unreachable after unregistering', async () => {
    const { registration, states } = register('secret');
    await vi.waitFor(() => expect(states).toMatchObject([{ isRegistered: true, error: null }]));
    const outbound = dial();
    const incoming = await callee.nextInboundCall();
    expect(incoming.trunk.username).toBe('bob');
    incoming.ring();
    const inbound = recordLegEvents(await incoming.answer('call-2'));
    await vi.waitFor(() =>
      expect([outbound.events, inbound.events]).toEqual([['ringing', 'answered'], ['answered']]),
    );
    inbound.leg.hangup({ q850Cause: 31, text: 'done' });
    expect(await outbound.ended).toEqual({
      outcome: 'remote_hangup',
      sip: { code: 200, reason: 'OK' },
      q850Cause: 31,
    });
    expect(await inbound.ended).toMatchObject({ outcome: 'local_hangup' });
    await registration.close();
    expect(await dial().ended).toMatchObject({ outcome: 'invalid_number' });
  });

  test('No transaction or dialog remains', async () => {
    expect(await waitUntilDrained(callee.server)).toEqual(NO_STATE);
  });
});
