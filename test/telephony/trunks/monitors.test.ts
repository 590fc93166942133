import { expect, test, vi } from 'vitest';
import type { Trunk } from '../../../src/calls/trunks/trunk.ts';
import { RequestRefusedError } from '../../../src/telephony/control/connection.ts';
import type { TrunkDirectory } from '../../../src/telephony/trunks/directory.ts';
import { TrunkMonitors } from '../../../src/telephony/trunks/monitors.ts';
import { TRUNK_ERRORS } from '../../../src/telephony/trunks/trunkError.ts';
import { createFakeControl } from '../../support/fakeControl.ts';
import { createFakeLeases, createFakeTrunkHealth } from '../../support/fakeCoordination.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';
import { TRUNK_ID, trunkOf } from '../../support/telephonyRig.ts';
import { unused } from '../../support/unused.ts';

const settle = () => new Promise<void>((resolve) => setImmediate(resolve));
const registering = trunkOf({ host: 'carrier.example', register: true, username: 'u', password: 'p' });

function createWorld(hidesPrivateHosts = false) {
  const told: string[] = [];
  const leases = createFakeLeases();
  const board = createFakeTrunkHealth();
  const clock = createSimulatedClock();
  const nodes = new Map<string, { control: ReturnType<typeof createFakeControl>; errors: unknown[] }>();
  let trunks: readonly Trunk[] = [registering];
  const listeners = new Set<(trunks: readonly Trunk[]) => void>();
  let areLeasesAway = false;
  const node = (name: string) => {
    const control = createFakeControl();
    const errors: unknown[] = [];
    nodes.set(name, { control, errors });
    const own = leases.of(name);
    const monitors = new TrunkMonitors({
      hidesPrivateHosts,
      onFailure: (_trunk, reason) => told.push(reason),
      onRegistered: () => told.push('registered'),
      directory: unused<TrunkDirectory>('directory', {
        get trunks() {
          return trunks;
        },
        onChange(listener) {
          listeners.add(listener);
          return () => listeners.delete(listener);
        },
      }),
      leases: {
        hold: (lease, leaseMs) =>
          areLeasesAway ? Promise.reject(new Error('away')) : own.hold(lease, leaseMs),
        release: own.release,
      },
      board,
      control,
      clock,
      random: () => 0,
      makeToken: () => 't',
      onError: (error) => errors.push(error),
    });
    monitors.start();
    return { monitors, control, errors };
  };
  return {
    told,
    leases,
    board,
    clock,
    node,
    setLeasesAway(isAway: boolean) {
      areLeasesAway = isAway;
    },
    async change(next: readonly Trunk[]) {
      trunks = next;
      for (const listener of listeners) listener(next);
      await settle();
    },
    async pass(ms: number) {
      await settle();
      clock.advance(ms);
      await settle();
      await settle();
    },
  };
}

const methods = (control: ReturnType<typeof createFakeControl>) => control.sent.map(({ method }) => method);

test('One of two nodes monitors a trunk; the other takes over after its failure', async () => {
  const world = createWorld();
  const one = world.node('one');
  const two = world.node('two');
  await world.pass(500);
  expect([one.monitors.count, two.monitors.count]).toEqual([1, 0]);
  expect(methods(one.control).sort()).toEqual(['OPTIONS', 'REGISTER']);
  expect(methods(two.control)).toEqual([]);
  world.leases.expire('one');
  // The failed node does not renew; here it is only slower.
  await two.monitors.close();
  const three = world.node('three');
  await world.pass(0);
  expect(three.monitors.count).toBe(1);
  await world.pass(5000);
  expect([one.monitors.count, three.monitors.count]).toEqual([0, 1]);
});

test('The observed state is published', async () => {
  const world = createWorld();
  const { control } = world.node('one');
  await world.pass(500);
  control.sent.find(({ method }) => method === 'OPTIONS')?.answer(200);
  control.sent.find(({ method }) => method === 'REGISTER')?.answer(200);
  await settle();
  expect(world.board.shown.get(TRUNK_ID)).toEqual({
    reachable: true,
    registered: true,
    lastOptionsMs: expect.any(Number),
    error: null,
    serviceRoute: [],
  });
});

test('A project is told the response of its registrar, and the operator each change once', async () => {
  const world = createWorld();
  const { control } = world.node('one');
  await world.pass(500);
  const register = () => control.sent.findLast(({ method }) => method === 'REGISTER');
  register()?.answer(403);
  await settle();
  const refused = `${TRUNK_ERRORS.loginRefused}: 403 Text`;
  expect(world.board.shown.get(TRUNK_ID)).toMatchObject({ registered: false, error: refused });
  for (const status of [403, 200, 200]) {
    await world.pass(3_600_000);
    register()?.answer(status);
    await settle();
  }
  expect(world.told.filter((text) => text !== TRUNK_ERRORS.unanswered)).toEqual([refused, 'registered']);
});

test.each([
  ['told', false, false, TRUNK_ERRORS.unresolved],
  ['hidden where private hosts are the operator’s', true, false, TRUNK_ERRORS.hidden],
  ['told of the operator’s own trunk', true, true, TRUNK_ERRORS.unresolved],
] as const)('A host without an address is %s', async (_what, hides, hasPrivateHost, error) => {
  const world = createWorld(hides);
  await world.change([{ ...registering, register: false, hasPrivateHost }]);
  const { control } = world.node('one');
  control.request = () => Promise.reject(new RequestRefusedError('carrier.example cannot be resolved'));
  await world.pass(500);
  expect(world.board.shown.get(TRUNK_ID)).toMatchObject({ error });
  expect(world.told).toEqual(['carrier.example cannot be resolved']);
});

test('A changed trunk is registered again, a removed one unregistered and released', async () => {
  const world = createWorld();
  const { control, monitors } = world.node('one');
  await world.pass(500);
  control.sent.find(({ method }) => method === 'REGISTER')?.answer(200);
  await settle();
  const changing = world.change([{ ...registering, username: 'v', updatedAt: '2026-01-02T00:00:00.000Z' }]);
  await changing;
  await settle();
  const goodbye = control.sent.findLast(({ method }) => method === 'REGISTER');
  expect(goodbye?.headers).toMatchObject({ Expires: '0', To: '<sip:u@carrier.example>' });
  goodbye?.answer(200);
  await vi.waitFor(() =>
    expect(control.sent.findLast(({ method }) => method === 'REGISTER')?.headers).toMatchObject({
      To: '<sip:v@carrier.example>',
      Expires: '3600',
    }),
  );
  control.sent.findLast(({ method }) => method === 'REGISTER')?.answer(200);
  await settle();
  await world.change([]);
  await settle();
  control.sent.findLast(({ method }) => method === 'REGISTER')?.answer(200);
  await vi.waitFor(() => expect(monitors.count).toBe(0));
  await vi.waitFor(() => expect(world.leases.holders.size).toBe(0));
});

test('While the lease store is down, held leases are kept', async () => {
  const world = createWorld();
  const { monitors, errors } = world.node('one');
  await world.pass(500);
  world.setLeasesAway(true);
  await world.pass(5000);
  expect(monitors.count).toBe(1);
  expect(errors).toHaveLength(1);
});

test('A trunk without a username publishes a registration error', async () => {
  const world = createWorld();
  await world.change([{ ...registering, username: null }]);
  world.node('one');
  await world.pass(0);
  expect(world.board.shown.get(TRUNK_ID)).toMatchObject({
    registered: false,
    error: TRUNK_ERRORS.noUsername,
  });
});

test('Closing releases the trunks and leaves no timer', async () => {
  const world = createWorld();
  const { monitors } = world.node('one');
  await world.pass(500);
  await monitors.close();
  await monitors.close();
  expect(world.leases.holders.size).toBe(0);
  expect(world.clock.pendingTimers()).toBe(0);
});
