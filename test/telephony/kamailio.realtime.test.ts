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
  test('A wrong password fails the registration and the call', async () => {
    const { registration, states } = register('wrong');
    await vi.waitFor(() => expect(states).toHaveLength(1));
    expect(states).toMatchObject([
      {
        isRegistered: false,
        error: { shown: expect.stringMatching(/username, password .*401 Unauthorized/) },
      },
    ]);
    await registration.close();
    expect(await dial('wrong').ended).toMatchObject({ outcome: 'trunk_error', sip: { code: 407 } });
    expect(await dial().ended).toMatchObject({ outcome: 'invalid_number', sip: { code: 404 } });
  });

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

  test.each(['caller', 'callee'] as const)(
    'a call to our own number: both sides send audio, the %s hangs up',
    async (ender) => {
      const { registration, states } = register('secret');
      await vi.waitFor(() => expect(states).toHaveLength(1));
      const trunk = { port: carrier.port, username: 'alice', password: 'secret', realm: 'carrier.test' };
      const outbound = callee.dial({ ...trunk, dtmf: 'info' }, { fromNumber: 'alice', toNumber: 'bob' });
      const incoming = await callee.nextInboundCall();
      expect(incoming.sipCallId).toBe(outbound.leg.sipCallId);
      incoming.ring();
      const inbound = recordLegEvents(await incoming.answer('call-3'));
      const ends = { caller: outbound, callee: inbound };
      await vi.waitFor(() =>
        expect([outbound.events, inbound.events]).toEqual([['ringing', 'answered'], ['answered']]),
      );
      await outbound.leg.sendDtmf('1');
      await inbound.leg.sendDtmf('2');
      expect([outbound.events.at(-1), inbound.events.at(-1)]).toEqual(['digit 2', 'digit 1']);
      ends[ender].leg.hangup();
      const [first, second] = await Promise.all([ends.caller.ended, ends.callee.ended]);
      const outcomes = [first.outcome, second.outcome];
      expect(ender === 'caller' ? outcomes : outcomes.reverse()).toEqual(['local_hangup', 'remote_hangup']);
      await registration.close();
    },
  );

  test('No transaction or dialog remains', async () => {
    expect(await waitUntilDrained(callee.server)).toEqual(NO_STATE);
  });
});
