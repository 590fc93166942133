import { expect, test } from 'vitest';
import type { CallMetrics } from '../../../src/calls/callMetrics.ts';
import type { ReportedRejection, SipRejectionStore } from '../../../src/calls/trunks/sipRejection.ts';
import type { Trunk } from '../../../src/calls/trunks/trunk.ts';
import type { RefusedInvite } from '../../../src/telephony/control/sipServer.ts';
import type { TrunkDirectory } from '../../../src/telephony/trunks/directory.ts';
import { InboundRejections } from '../../../src/telephony/trunks/inboundRejections.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';
import { trunkOf } from '../../support/telephonyRig.ts';
import { unused } from '../../support/unused.ts';

const NUMBER = '+886223456789';
const refused: RefusedInvite = {
  status: 404,
  address: '192.0.2.1',
  port: 5060,
  uri: `sip:${NUMBER}@callway.example`,
  from: '"Ada" <sip:+886912345678@192.0.2.1>;tag=1',
  to: `<sip:${NUMBER}@callway.example>`,
  callId: 'a@b',
  count: 1,
};
const trunk = (id: string, projectId: string): Trunk => ({
  ...trunkOf({ host: '192.0.2.1' }),
  id,
  projectId,
});
const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

function setUp(sources: readonly Trunk[] = [], isVerified = true) {
  const clock = createSimulatedClock();
  const stored: ReportedRejection[] = [];
  const lines: Record<string, unknown>[] = [];
  const counts = new Map<string, number>();
  const held = { projectId: 'holder', number: NUMBER, verified: isVerified };
  const rejections = new InboundRejections({
    directory: unused<TrunkDirectory>('directory', { bySource: () => [...sources] }),
    numbers: { findHolder: async (number) => (number === NUMBER ? (held as never) : undefined) },
    takesPendingClaims: false,
    store: unused<SipRejectionStore>('store', { add: async (added) => void stored.push(...added) }),
    metrics: unused<CallMetrics>('metrics', {
      inboundRejected: (reason, count) => void counts.set(reason, (counts.get(reason) ?? 0) + count),
    }),
    clock,
    log: (fields, message) => void lines.push({ ...fields, message }),
    onError: () => expect.unreachable(),
  });
  return { rejections, clock, stored, lines, counts };
}

test('A refused call is logged, counted and kept at once, with masked numbers in the log', async () => {
  const { rejections, stored, lines, counts } = setUp([trunk('t', 'p')]);
  rejections.report(refused, 'unknown_number');
  await settle();
  const told = { reason: 'unknown_number', status: 404, source: '192.0.2.1:5060', trunkId: 't' };
  expect(stored).toEqual([
    {
      ...told,
      at: expect.any(String),
      from: '+886*******78',
      to: NUMBER,
      callId: 'a@b',
      projectId: 'p',
    },
  ]);
  expect(lines).toEqual([
    {
      ...told,
      from: '+886*******78',
      to: '+886*******89',
      sipCallId: 'a@b',
      projectId: 'p',
      message: 'inbound call refused',
    },
  ]);
  expect([...counts]).toEqual([['unknown_number', 1]]);
});

test.each([
  ['trunks of several projects', [trunk('t', 'p'), trunk('u', 'q')], 'unknown_number', true, undefined],
  ['no trunk, to a project’s number', [], 'unknown_source', true, 'holder'],
  ['no trunk, to a number with a pending claim', [], 'unknown_source', false, undefined],
] as const)('A call from the address of %s', async (_what, sources, reason, isVerified, projectId) => {
  const { rejections, stored } = setUp(sources, isVerified);
  rejections.report(refused, reason);
  await settle();
  expect(stored.map((one) => [one.projectId, one.trunkId])).toEqual([[projectId, undefined]]);
});

test('A flood is counted whole, logged once a second and leaves room for a trunk’s calls', async () => {
  const { rejections, clock, stored, lines, counts } = setUp();
  for (let index = 0; index < 1000; index += 1) rejections.report(refused, 'unknown_source', []);
  rejections.report(refused, 'unknown_number', [trunk('t', 'p')]);
  rejections.reportFromServer([
    { ...refused, status: 503, count: 500 },
    { ...refused, status: 482 },
    { ...refused, status: 400 },
  ]);
  clock.advance(1000);
  clock.advance(1000);
  await settle();
  expect(stored).toHaveLength(1 + 5 + 1);
  expect(lines.map(({ trunkId, more }) => [trunkId, more])).toEqual([
    [undefined, undefined],
    ['t', 999 + 501],
  ]);
  expect(Object.fromEntries(counts)).toEqual({
    unknown_source: 1000,
    unknown_number: 1,
    overloaded: 500,
    bad_request: 1,
  });
  rejections.close();
  expect(clock.pendingTimers()).toBe(0);
});
