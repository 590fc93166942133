import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Worker } from 'node:worker_threads';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { startSipServer } from '../../sip/server.ts';
import { Lifecycle } from '../../src/app/lifecycle.ts';
import { openSipServer } from '../../src/app/media/sipServer.ts';
import { type BuiltTelephony, buildTelephony } from '../../src/app/media/telephony.ts';
import { loadConfig } from '../../src/app/settings/config.ts';
import { systemClock } from '../../src/base/values/clock.ts';
import type { SipTraceMessage } from '../../src/calls/sipTraceStore.ts';
import type { Trunk } from '../../src/calls/trunks/trunk.ts';
import { header, Phone, SDP } from '../sip/support/phone.ts';
import { serverOptions } from '../sip/support/rig.ts';
import { createFakeLeases, createFakeNodeBus, createFakeTrunkHealth } from '../support/fakeCoordination.ts';
import { createFakeMedia } from '../support/fakeMedia.ts';
import { detectLeaks } from '../support/leaks.ts';
import { PROJECT_ID, recordLegEvents, TRUNK_ID, trunkOf } from '../support/telephonyRig.ts';

let assertNoLeaks: () => Promise<void>;
beforeAll(() => {
  assertNoLeaks = detectLeaks();
});
afterAll(() => assertNoLeaks());

const fail = (error: unknown) => {
  throw error;
};

async function build(settings: Record<string, string>, trunks: (phone: Phone) => Trunk[]) {
  const phone = await Phone.open();
  const traced: SipTraceMessage[] = [];
  const board = createFakeTrunkHealth();
  const lines: Record<string, unknown>[] = [];
  const logger = pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const config = loadConfig({ SIP_PORT: '0', ...settings });
  const closePhone = async (error: unknown) => {
    await phone.close();
    throw error;
  };
  const server = await openSipServer({ config, logger }, new Lifecycle(fail)).catch(closePhone);
  const built = await buildTelephony({
    config,
    server,
    media: createFakeMedia(),
    stores: {
      trunks: { active: async () => trunks(phone) },
      phoneNumbers: { findHolder: async () => undefined },
      dialogs: { save: async () => undefined, remove: async () => undefined, takeLost: async () => [] },
      sipTraces: { append: async (_project, _call, messages) => void traced.push(...messages) },
    },
    leases: createFakeLeases().of('one'),
    board,
    bus: createFakeNodeBus(),
    clock: systemClock,
    logger,
  }).catch(closePhone);
  return { built, server, phone, traced, board, lines };
}

const dial = (built: BuiltTelephony, trunk: Trunk) =>
  recordLegEvents(
    built.telephony.dial({
      projectId: PROJECT_ID,
      callId: 'call-1',
      trunk,
      fromNumber: '+886223456789',
      toNumber: '+886912345678',
      ringTimeoutMs: 5000,
      mayRedirectTo: async () => true,
    }),
  );

test('Without settings the embedded SIP server takes calls, traces them completely, and checks the trunk', async () => {
  const trunkTo = (phone: Phone) => trunkOf({ host: '127.0.0.1', port: phone.port });
  const { built, server, phone, traced, board, lines } = await build({}, (phone) => [trunkTo(phone)]);
  await vi.waitFor(() => expect(built.dependency.isDown?.()).toBe(false));
  await built.dependency.check();
  const endpoints = lines.find(({ msg }) => msg === 'SIP server listening')?.endpoints as {
    transport: string;
    port: number;
  }[];
  const port = endpoints.find(({ transport }) => transport === 'udp')?.port ?? 0;
  // A check that comes before the connection is made again after the trunk's interval.
  const options = await phone.next(/^OPTIONS/, 45_000);
  phone.send(phone.answer(options, '200 OK'), port);
  await vi.waitFor(() => expect(board.shown.get(TRUNK_ID)?.reachable).toBe(true));

  const { events, ended, leg } = dial(built, trunkTo(phone));
  const invite = await phone.next(/^INVITE/);
  phone.send(phone.answer(invite, '100 Trying'), port);
  phone.send(phone.answer(invite, '200 OK', { body: SDP }), port);
  await phone.next(/^ACK/);
  await vi.waitFor(() => expect(events).toContain('answered'));
  leg.hangup();
  phone.send(phone.answer(await phone.next(/^BYE/), '200 OK'), port);
  await ended;
  await vi.waitFor(
    () => expect(traced.map(({ text }) => /^(SIP\/2\.0 \d+|\w+)/.exec(text)?.[1])).toContain('BYE'),
    5000,
  );
  expect(
    traced
      .map(({ direction, text }) => `${direction} ${/^(?:SIP\/2\.0 )?(\w+)/.exec(text)?.[1]}`)
      .slice(0, 4),
  ).toEqual(['out INVITE', 'in 100', 'in 200', 'out ACK']);
  expect(header(traced[0]?.text ?? '', 'Call-ID')).toBe(leg.sipCallId);
  // For /metrics: requests of unknown sources are counted and answered.
  phone.send(phone.request('DANCE', port, { callId: 'stranger' }), port);
  await phone.next(/^SIP\/2.0 501 /);
  expect(await server.stats()).toMatchObject({ 'answered.501': 1, 'now.applications': 1, 'now.dialogs': 0 });
  await built.close();
  await built.close();
  expect(await server.stats()).toBeUndefined();
  await phone.close();
});

test('When the embedded SIP server dies, its calls end, and new calls use the restarted one', async () => {
  const workers: Worker[] = [];
  const onWorker = (message: unknown) => workers.push((message as { worker: Worker }).worker);
  subscribe('worker_threads', onWorker);
  const { built, phone, lines } = await build({}, () => []);
  unsubscribe('worker_threads', onWorker);
  await vi.waitFor(() => expect(built.dependency.isDown?.()).toBe(false));
  const endpoints = lines.find(({ msg }) => msg === 'SIP server listening')?.endpoints as {
    port: number;
  }[];
  const port = endpoints[0]?.port ?? 0;
  const trunk = trunkOf({ host: '127.0.0.1', port: phone.port });
  const before = dial(built, trunk);
  phone.send(phone.answer(await phone.next(/^INVITE/), '200 OK', { body: SDP }), port);
  await vi.waitFor(() => expect(before.events).toContain('answered'));
  await workers[0]?.terminate();
  expect(await before.ended).toMatchObject({ outcome: 'lost' });
  await vi.waitFor(() => expect(built.dependency.isDown?.()).toBe(false));
  const after = dial(built, trunk);
  const invite = await phone.next(new RegExp(`^INVITE .*${after.leg.sipCallId}`, 's'));
  phone.send(phone.answer(invite, '486 Busy Here'), port);
  expect(await after.ended).toMatchObject({ outcome: 'busy' });
  await built.close();
  await phone.close();
});

test('A configured drachtio-server is used instead', async () => {
  const server = await startSipServer(serverOptions());
  const url = `drachtio://:cymru@127.0.0.1:${server.controlPort}`;
  const { built, phone, lines } = await build({ DRACHTIO_URL: url }, () => []);
  await vi.waitFor(() => expect(built.dependency.isDown?.()).toBe(false));
  expect(lines.map(({ msg }) => msg)).not.toContain('SIP server listening');
  const { ended } = dial(built, trunkOf({ host: '127.0.0.1', port: phone.port }));
  const invite = await phone.next(/^INVITE/);
  phone.send(phone.answer(invite, '486 Busy Here'), server.sipPorts[0]?.port ?? 0);
  expect(await ended).toMatchObject({ outcome: 'busy' });
  await server.close();
  await vi.waitFor(() => expect(built.dependency.isDown?.()).toBe(true));
  await expect(built.dependency.check()).rejects.toThrow('no connection');
  await built.close();
  await phone.close();
});

test('A port in use stops the start', async () => {
  const server = await startSipServer(serverOptions());
  const taken = server.sipPorts[0]?.port ?? 0;
  await expect(build({ SIP_PORT: String(taken) }, () => [])).rejects.toThrow(/^SIP_PORT: port \d+ is in use/);
  await server.close();
});
