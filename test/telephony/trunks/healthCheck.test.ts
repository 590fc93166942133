import { expect, test } from 'vitest';
import { type HealthState, TrunkHealthCheck } from '../../../src/telephony/trunks/healthCheck.ts';
import { createFakeControl } from '../../support/fakeControl.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';
import { trunkOf } from '../../support/telephonyRig.ts';

function start(fields: { optionsIntervalSeconds?: number } = {}) {
  const control = createFakeControl();
  const clock = createSimulatedClock();
  const states: HealthState[] = [];
  const check = new TrunkHealthCheck(trunkOf({ host: 'carrier.example', ...fields }), {
    control,
    clock,
    random: () => 0,
    makeToken: () => 't',
    onChange: (state) => states.push(state),
  });
  clock.advance(0);
  return { control, clock, states, stop: () => check.stop() };
}

test.each([200, 404, 405, 401, 503])(
  'an answer of any kind (%i) shows that it lives, and how far it is',
  (status) => {
    const { control, clock, states } = start();
    expect(control.sent[0]).toMatchObject({ method: 'OPTIONS', uri: 'sip:carrier.example' });
    clock.advance(42);
    control.sent[0]?.answer(status);
    expect(states).toEqual([{ isReachable: true, lastOptionsMs: 42, error: null }]);
  },
);

test('one miss is none, two make it unreachable, and an answer makes it good again', () => {
  const { control, clock, states } = start();
  control.sent[0]?.answer(200);
  clock.advance(30_000);
  clock.advance(5000);
  expect(states.at(-1)).toMatchObject({ isReachable: true, error: 'OPTIONS was not answered in time' });
  clock.advance(25_000);
  clock.advance(5000);
  expect(states.at(-1)).toMatchObject({ isReachable: false });
  clock.advance(25_000);
  expect(control.sent).toHaveLength(4);
  control.sent[3]?.answer(200);
  expect(states.at(-1)).toEqual({ isReachable: true, lastOptionsMs: 0, error: null });
});

test('a check whose time is over when the next one begins is missed all the same', () => {
  const { control, clock, states } = start({ optionsIntervalSeconds: 1 });
  clock.advance(1000);
  clock.advance(1000);
  expect(control.sent).toHaveLength(3);
  expect(states.map(({ isReachable }) => isReachable)).toEqual([null, false]);
});

test('what the SIP server makes up is a miss, and counted once', () => {
  const { control, clock, states } = start();
  control.sent[0]?.answer(503, [], false);
  clock.advance(5000);
  expect(states).toEqual([{ isReachable: null, lastOptionsMs: null, error: 'the host cannot be reached' }]);
});

test('a late answer counts as life', () => {
  const { control, clock, states } = start();
  clock.advance(5000);
  control.sent[0]?.answer(200);
  expect(states.at(-1)).toMatchObject({ isReachable: true, error: null });
});

test('while our own SIP server is away, no trunk is blamed', () => {
  const { control, clock, states } = start();
  control.sent[0]?.answer(200);
  control.setConnected(false);
  clock.advance(120_000);
  expect(states).toHaveLength(1);
  expect(control.sent).toHaveLength(1);
});

test('stopping leaves no timer and says nothing more', () => {
  const { control, clock, states, stop } = start();
  stop();
  control.sent[0]?.answer(200);
  expect(states).toEqual([]);
  expect(clock.pendingTimers()).toBe(0);
});
