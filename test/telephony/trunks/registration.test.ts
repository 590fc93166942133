import { expect, test } from 'vitest';
import { type RegistrationState, TrunkRegistration } from '../../../src/telephony/trunks/registration.ts';
import { TRUNK_ERRORS, trunkError } from '../../../src/telephony/trunks/trunkError.ts';
import { createFakeControl } from '../../support/fakeControl.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';
import { trunkOf } from '../../support/telephonyRig.ts';

const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

function start(changes: Parameters<typeof trunkOf>[0] = { host: 'carrier.example' }) {
  const control = createFakeControl();
  const clock = createSimulatedClock();
  const states: RegistrationState[] = [];
  let token = 0;
  const trunk = trunkOf({
    register: true,
    username: 'user',
    password: 'secret',
    registerExpires: 600,
    ...changes,
  });
  const registration = new TrunkRegistration(trunk, {
    control,
    clock,
    random: () => 0,
    makeToken: () => `t${++token}`,
    onChange: (state) => states.push(state),
  });
  const last = () => {
    const request = control.sent.at(-1);
    if (!request) throw new Error('nothing was sent');
    return request;
  };
  return { control, clock, states, registration, last };
}

const REGISTERED = { isRegistered: true, error: null, serviceRoute: [] };

test('A trunk registers and refreshes before the expiry', async () => {
  const { control, clock, states, last } = start();
  expect(last()).toMatchObject({
    method: 'REGISTER',
    uri: 'sip:carrier.example',
    headers: {
      From: '<sip:user@carrier.example>;tag=t2',
      To: '<sip:user@carrier.example>',
      Contact: '<sip:user@localhost>',
      CSeq: '1 REGISTER',
      Expires: '600',
    },
  });
  last().answer(200, ['Contact: <sip:other@x>;expires=30, <sip:user@192.0.2.9>;expires=100']);
  await settle();
  expect(states).toEqual([REGISTERED]);
  clock.advance(69_999);
  expect(control.sent).toHaveLength(1);
  clock.advance(1);
  expect(last().headers).toMatchObject({ CSeq: '2 REGISTER', 'Call-ID': 't1' });
});

test.each([
  ['the Expires header', ['Expires: 200'], 140_000],
  ['what was asked for', [], 420_000],
])('Without an expiry of our Contact, %s is used', async (_what, headers, delayMs) => {
  const { control, clock, last } = start();
  last().answer(200, headers);
  await settle();
  clock.advance(delayMs - 1);
  expect(control.sent).toHaveLength(1);
  clock.advance(1);
  expect(control.sent).toHaveLength(2);
});

test.each([
  ['a quoted expiry', ['Contact: <sip:user@localhost>;expires="100"']],
  ['a rewritten host', ['Contact: <sip:user@192.0.2.9:1>;expires=100;+sip.instance="<urn:uuid:1>"']],
  [
    'another device of the account',
    ['Contact: <sip:user@h2>;expires=7,<sip:user@localhost>;expires=100', 'Expires: 5'],
  ],
  ['a rewritten user', ['Contact: <sip:x1@192.0.2.9>;expires=100']],
  ['the Expires header alone', ['Contact: <sip:user@localhost>, <sip:other@x>;expires=3', 'Expires: 100']],
])('The registration is refreshed in time with %s', async (_what, headers) => {
  const { control, clock, last } = start();
  last().answer(200, headers);
  await settle();
  clock.advance(69_999);
  expect(control.sent).toHaveLength(1);
  clock.advance(1);
  expect(control.sent).toHaveLength(2);
});

test('An expiry beyond what timers take is a day', async () => {
  const { control, clock, last } = start();
  last().answer(200, ['Contact: <sip:user@localhost>;expires=4294967295']);
  await settle();
  clock.advance(60_000_000);
  expect(control.sent).toHaveLength(1);
});

test('A 200 that does not keep our Contact is a failure', async () => {
  const { control, clock, states, last } = start();
  last().answer(200, ['Contact: <sip:user@localhost>;expires=0', 'Expires: 600']);
  await settle();
  expect(states).toMatchObject([{ isRegistered: false, error: trunkError(TRUNK_ERRORS.notKept) }]);
  clock.advance(4000);
  expect(control.sent).toHaveLength(2);
});

test('Each 200 replaces the service route', async () => {
  const { clock, states, last } = start();
  const route = [
    'Service-Route: <sip:p1.example;lr>, <sip:p2.example;lr>',
    'Service-Route: <sip:p3.example;lr>',
  ];
  for (const headers of [route, ['Service-Route: <sip:p4.example;lr>'], []]) {
    last().answer(200, headers);
    await settle();
    clock.advance(420_000);
  }
  expect(states.map(({ serviceRoute }) => serviceRoute)).toEqual([
    ['sip:p1.example;lr', 'sip:p2.example;lr', 'sip:p3.example;lr'],
    ['sip:p4.example;lr'],
    [],
  ]);
});

test('A challenge is answered once; a wrong password is reported and retried with backoff', async () => {
  const { control, clock, states, last } = start();
  const challenge = ['WWW-Authenticate: Digest realm="r",nonce="n"'];
  last().answer(401, challenge);
  await settle();
  expect(last().headers?.Authorization).toContain('uri="sip:carrier.example"');
  last().answer(401, challenge);
  await settle();
  expect(states).toEqual([
    { isRegistered: false, error: trunkError(`${TRUNK_ERRORS.loginRefused}: 401 Text`), serviceRoute: [] },
  ]);
  clock.advance(4000);
  expect(control.sent).toHaveLength(3);
  last().answer(403);
  await settle();
  clock.advance(7999);
  expect(control.sent).toHaveLength(3);
  clock.advance(1);
  expect(control.sent).toHaveLength(4);
});

test('A 423 extends the expiry', async () => {
  const { states, last } = start();
  last().answer(423, ['Min-Expires: 1200']);
  await settle();
  expect(last().headers?.Expires).toBe('1200');
  last().answer(200);
  await settle();
  expect(states).toEqual([REGISTERED]);
});

test('A 423 with an invalid Min-Expires is an error', async () => {
  const { states, last } = start();
  last().answer(423, ['Min-Expires: 99999999']);
  await settle();
  expect(states).toEqual([
    {
      isRegistered: false,
      error: trunkError(`${TRUNK_ERRORS.registrationFailed}: 423 Text`),
      serviceRoute: [],
    },
  ]);
});

test('Retry-After is respected, and a missing response is reported', async () => {
  const { control, clock, states, last } = start();
  last().answer(503, ['Retry-After: 60']);
  await settle();
  clock.advance(59_999);
  expect(control.sent).toHaveLength(1);
  clock.advance(1);
  last().answer(408, [], false);
  await settle();
  expect(states.at(-1)).toEqual({
    isRegistered: false,
    error: trunkError(TRUNK_ERRORS.unanswered),
    serviceRoute: [],
  });
});

test('A trunk registers again when the SIP server reconnects', async () => {
  const { control, clock, last } = start();
  last().answer(200);
  await settle();
  control.setConnected(false);
  control.setConnected(true);
  clock.advance(0);
  expect(control.sent).toHaveLength(2);
});

test('Closing unregisters and leaves no timer', async () => {
  const { clock, registration, last, control } = start();
  last().answer(200);
  await settle();
  const closing = registration.close();
  await settle();
  expect(last().headers).toMatchObject({ Expires: '0', CSeq: '2 REGISTER' });
  last().answer(200);
  await closing;
  await registration.close();
  clock.advance(1_000_000);
  expect(control.sent).toHaveLength(2);
  expect(clock.pendingTimers()).toBe(0);
});

test('Closing without a registration sends nothing', async () => {
  const { registration, control } = start();
  await registration.close();
  expect(control.sent).toHaveLength(1);
});
