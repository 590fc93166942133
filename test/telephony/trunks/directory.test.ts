import { expect, test } from 'vitest';
import type { Trunk } from '../../../src/calls/trunks/trunk.ts';
import { TrunkDirectory } from '../../../src/telephony/trunks/directory.ts';
import { createFakeNodeBus } from '../../support/fakeCoordination.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';
import { trunkOf } from '../../support/telephonyRig.ts';

const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

function open(trunks: Trunk[], names: Record<string, string[]> = {}) {
  const clock = createSimulatedClock();
  const bus = createFakeNodeBus();
  const errors: string[] = [];
  const world = { trunks, names, reads: 0 };
  const directory = new TrunkDirectory({
    store: {
      async active() {
        world.reads += 1;
        return world.trunks;
      },
    },
    bus,
    async resolve(host) {
      const found = world.names[host];
      if (!found) throw new Error(`${host} is unknown`);
      return found;
    },
    clock,
    onError: (_error, what) => errors.push(what),
  });
  return { directory, clock, bus, errors, world };
}

const idsFrom = (trunks: readonly Trunk[]) => trunks.map(({ id }) => id);
const trunk = (id: string, changes: Parameters<typeof trunkOf>[0]) => ({ ...trunkOf(changes), id });

test.each([
  ['192.0.2.7', ['range', 'host']],
  ['::ffff:192.0.2.7', ['range', 'host']],
  ['192.0.3.7', []],
  ['198.51.100.9', ['single']],
  ['2001:db8::1', ['six']],
  ['2001:db8:0:0::1', ['six']],
  ['203.0.113.5', ['named']],
  ['203.0.113.6', ['proxied']],
  ['not an address', []],
])('A call from %s belongs to %j', async (address, expected) => {
  const { directory } = open(
    [
      trunk('range', { host: '10.0.0.1', inboundCidrs: ['192.0.2.0/24'] }),
      trunk('single', { host: '10.0.0.2', inboundCidrs: ['198.51.100.9'] }),
      trunk('six', { host: '[2001:db8::1]' }),
      trunk('host', { host: '192.0.2.7' }),
      trunk('named', { host: 'carrier.example' }),
      trunk('proxied', { host: '10.0.0.3', outboundProxy: 'sip:proxy.example:5070;lr' }),
    ],
    { 'carrier.example': ['203.0.113.5'], 'proxy.example': ['203.0.113.6'] },
  );
  await directory.start();
  expect(idsFrom(directory.bySource(address, 5060))).toEqual(expected);
  await directory.close();
});

test('Of several trunks at an address, networks come first, then the very port, registrars before other hosts', async () => {
  const { directory } = open([
    trunk('elsewhere', { host: '192.0.2.7', port: 5070 }),
    trunk('host', { host: '192.0.2.7' }),
    trunk('registrar', { host: '192.0.2.7', register: true }),
    trunk('range', { host: '10.0.0.1', inboundCidrs: ['192.0.2.0/24'] }),
  ]);
  await directory.start();
  expect(idsFrom(directory.bySource('192.0.2.7', 5060))).toEqual(['range', 'registrar', 'host', 'elsewhere']);
  expect(idsFrom(directory.bySource('192.0.2.7', 5070))[1]).toBe('elsewhere');
  await directory.close();
});

test('The known peers are the trunks with their hosts and ports, and their networks unless they are wide', async () => {
  const { directory } = open(
    [
      trunk('plain', {
        host: '10.0.0.1',
        port: 5080,
        inboundCidrs: ['192.0.2.0/24', '0.0.0.0/0', '::ffff:198.51.100.0/120'],
      }),
      trunk('six', { host: '[2001:db8::1]' }),
      trunk('proxied', { host: 'carrier.example', outboundProxy: 'sip:10.0.0.1:5070;lr' }),
    ],
    { 'carrier.example': ['203.0.113.5', '203.0.113.6'] },
  );
  await directory.start();
  expect(directory.peers).toEqual([
    { name: 'plain', sources: ['192.0.2.0/24', '198.51.100.0/24', '10.0.0.1:5080'], mayBePrivate: false },
    { name: 'six', sources: ['[2001:db8::1]:5060'], mayBePrivate: false },
    {
      name: 'proxied',
      sources: ['203.0.113.5:5060', '203.0.113.6:5060', '10.0.0.1:5070'],
      mayBePrivate: false,
    },
  ]);
  await directory.close();
});

test('A change is read on a bus message, and otherwise within 30 s', async () => {
  const { directory, clock, bus, world } = open([]);
  const seen: number[] = [];
  directory.onChange((trunks) => seen.push(trunks.length));
  await directory.start();
  world.trunks = [trunkOf({ host: '10.0.0.1' })];
  await bus.publish({ kind: 'hangup', callId: 'x' });
  await settle();
  expect(seen).toEqual([]);
  await bus.publish({ kind: 'trunks' });
  await settle();
  expect(seen).toEqual([1]);
  world.trunks = [];
  clock.advance(30_000);
  await settle();
  expect(seen).toEqual([1, 0]);
  clock.advance(30_000);
  await settle();
  expect(seen).toEqual([1, 0]);
  await directory.close();
  expect(clock.pendingTimers()).toBe(0);
});

test('A DNS failure keeps the previous addresses', async () => {
  const { directory, clock, errors, world } = open([trunkOf({ host: 'carrier.example' })], {
    'carrier.example': ['203.0.113.5'],
  });
  await directory.start();
  world.names = {};
  clock.advance(30_000);
  await settle();
  expect(directory.bySource('203.0.113.5', 5060)).toHaveLength(1);
  expect(errors).toEqual(['resolving the trunk host carrier.example failed']);
  expect(directory.peers[0]?.sources).toEqual(['203.0.113.5:5060']);
  const changes: (readonly string[])[] = [];
  directory.onChange(() => changes.push(directory.peers.flatMap(({ sources }) => sources)));
  world.names = { 'carrier.example': ['203.0.113.6', 'fe80::1%eth0'] };
  clock.advance(30_000);
  await settle();
  expect(changes).toEqual([['203.0.113.6:5060']]);
  await directory.close();
});
