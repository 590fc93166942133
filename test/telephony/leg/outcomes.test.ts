import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import type { CallLeg, LegEnd } from '../../../src/calls/telephony.ts';
import type { Trunk } from '../../../src/calls/trunks/trunk.ts';
import { header, SDP } from '../../sip/support/phone.ts';
import { NO_STATE, waitUntilDrained } from '../../sip/support/rig.ts';
import { detectLeaks } from '../../support/leaks.ts';
import { startTelephonyRig, type TelephonyRig } from '../../support/telephonyRig.ts';

let assertNoLeaks: () => Promise<void>;
let rig: TelephonyRig;

beforeAll(async () => {
  assertNoLeaks = detectLeaks();
  rig = await startTelephonyRig();
});

afterEach(() => {
  expect(rig.media.sessions).toBe(0);
});

afterAll(async () => {
  expect(await waitUntilDrained(rig.server)).toEqual(NO_STATE);
  await rig.close();
  await assertNoLeaks();
});

/** Responds to the next INVITE of this call and receives its ACK. */
async function refuse(leg: CallLeg, status: string, extra: string[] = [], first?: string): Promise<void> {
  const invite = await rig.next(leg, 'INVITE');
  if (first) rig.phone.send(rig.phone.answer(invite, first), rig.port);
  rig.phone.send(rig.phone.answer(invite, status, { extra }), rig.port);
  await rig.next(leg, 'ACK');
}

const cases: [status: string, end: LegEnd, extra?: string[], first?: string][] = [
  ['486 Busy Here', { outcome: 'busy', sip: { code: 486, reason: 'Busy Here' }, q850Cause: 17 }],
  ['600 Busy Everywhere', { outcome: 'busy', sip: { code: 600, reason: 'Busy Everywhere' }, q850Cause: 17 }],
  ['603 Decline', { outcome: 'declined', sip: { code: 603, reason: 'Decline' }, q850Cause: 21 }],
  ['607 Unwanted', { outcome: 'declined', sip: { code: 607, reason: 'Unwanted' }, q850Cause: 21 }],
  ['608 Rejected', { outcome: 'declined', sip: { code: 608, reason: 'Rejected' }, q850Cause: 21 }],
  ['404 Not Found', { outcome: 'invalid_number', sip: { code: 404, reason: 'Not Found' }, q850Cause: 1 }],
  ['410 Gone', { outcome: 'invalid_number', sip: { code: 410, reason: 'Gone' }, q850Cause: 22 }],
  [
    '484 Address Incomplete',
    { outcome: 'invalid_number', sip: { code: 484, reason: 'Address Incomplete' }, q850Cause: 28 },
  ],
  ['604 Nowhere', { outcome: 'invalid_number', sip: { code: 604, reason: 'Nowhere' }, q850Cause: 1 }],
  [
    '480 Temporarily Unavailable',
    { outcome: 'no_answer', sip: { code: 480, reason: 'Temporarily Unavailable' }, q850Cause: 18 },
  ],
  [
    '408 Request Timeout',
    { outcome: 'no_answer', sip: { code: 408, reason: 'Request Timeout' }, q850Cause: 102 },
    [],
    '180 Ringing',
  ],
  [
    '408 Request Timeout',
    { outcome: 'unreachable', sip: { code: 408, reason: 'Request Timeout' }, q850Cause: 102 },
  ],
  ['403 Forbidden', { outcome: 'rejected', sip: { code: 403, reason: 'Forbidden' }, q850Cause: 21 }],
  ['488 Not Here', { outcome: 'rejected', sip: { code: 488, reason: 'Not Here' }, q850Cause: 127 }],
  ['302 Moved', { outcome: 'rejected', sip: { code: 302, reason: 'Moved' }, q850Cause: 127 }],
  ['401 Unauthorized', { outcome: 'trunk_error', sip: { code: 401, reason: 'Unauthorized' }, q850Cause: 21 }],
  ['500 Error', { outcome: 'trunk_error', sip: { code: 500, reason: 'Error' }, q850Cause: 41 }],
  [
    '503 Congestion',
    { outcome: 'trunk_error', sip: { code: 503, reason: 'Congestion' }, q850Cause: 42 },
    ['Reason: SIP;cause=503, Q.850;cause=42;text="congested"'],
  ],
];

test.each(cases)('A call answered %s ends as %o', async (status, end, extra, first) => {
  const { leg, ended, events } = rig.dial();
  await refuse(leg, status, extra, first);
  expect(await ended).toEqual(end);
  expect(events).toEqual(first ? ['ringing', 'ended'] : ['ended']);
});

test('An outbound call is answered and hung up by us with a Reason', async () => {
  const { leg, events, ended } = rig.dial();
  const invite = await rig.next(leg, 'INVITE');
  expect(invite).toMatch(/^INVITE sip:\+886912345678@127\.0\.0\.1:\d+ SIP\/2\.0/);
  expect(header(invite, 'From')).toMatch(/^<sip:\+886223456789@127\.0\.0\.1>;tag=[0-9a-f]{16}$/);
  expect(header(invite, 'P-Asserted-Identity')).toBe('<sip:+886223456789@127.0.0.1>');
  expect(header(invite, 'Contact')).toBe(`<sip:+886223456789@127.0.0.1:${rig.port}>`);
  rig.phone.send(rig.phone.answer(invite, '180 Ringing'), rig.port);
  rig.phone.send(rig.phone.answer(invite, '200 OK', { body: SDP }), rig.port);
  await rig.next(leg, 'ACK');
  await vi.waitFor(() => expect(events).toEqual(['ringing', 'answered']));
  expect(rig.media.all.at(-1)?.connected).toMatchObject([
    {
      remote: { address: '127.0.0.1', port: 40_000, rtcpPort: 40_001 },
      codec: { encodingName: 'PCMU', rtpClockRateHz: 8000, channels: 1, payloadType: 0 },
      dtmf: undefined,
      // By our offer.
      received: [{ payloadType: 0 }, { payloadType: 8 }, { payloadType: 101 }],
      packetDurationMs: 20,
      direction: 'sendrecv',
    },
  ]);
  const hungUp = leg.hangup({ q850Cause: 31, text: 'enough' });
  const bye = await rig.next(leg, 'BYE');
  expect(header(bye, 'Reason')).toBe('Q.850;cause=31;text="enough"');
  rig.phone.send(rig.phone.answer(bye, '200 OK'), rig.port);
  await hungUp;
  expect(await ended).toEqual({ outcome: 'local_hangup', sip: { code: 200, reason: 'OK' }, q850Cause: 31 });
  await leg.hangup();
});

test.each<[what: string, dtmf: Trunk['dtmf'], body: string, warnings: string[]]>([
  ['no telephone events', 'rfc4733', SDP, ['no_dtmf']],
  ['telephone events', 'rfc4733', SDP.replace('AVP 0', 'AVP 0 101\r\na=rtpmap:101 telephone-event/8000'), []],
  ['none, over a trunk whose digits go by INFO', 'info', SDP, []],
])('An answer with %s leads to these warnings', async (_what, dtmf, body, warnings) => {
  const { leg, ended, events } = rig.dial({ dtmf });
  const codes: string[] = [];
  leg.events.on('warning', ({ code }) => codes.push(code));
  const invite = await rig.next(leg, 'INVITE');
  rig.phone.send(rig.phone.answer(invite, '200 OK', { body }), rig.port);
  await rig.next(leg, 'ACK');
  await vi.waitFor(() => expect(events).toContain('answered'));
  expect(codes).toEqual(warnings);
  leg.hangup();
  rig.phone.send(rig.phone.answer(await rig.next(leg, 'BYE'), '200 OK'), rig.port);
  await ended;
});

test('The peer hangs up with a Reason', async () => {
  const { leg, ended, events } = rig.dial();
  const invite = await rig.next(leg, 'INVITE');
  const accepted = rig.phone.answer(invite, '200 OK', { body: SDP });
  rig.phone.send(accepted, rig.port);
  await rig.next(leg, 'ACK');
  await vi.waitFor(() => expect(events).toContain('answered'));
  rig.phone.send(rig.calleeRequest('BYE', invite, accepted, ['Reason: Q.850;cause=34']), rig.port);
  expect(await rig.phone.next(/^SIP\/2.0 200 .*CSeq: 77 BYE/s)).toMatch(/^SIP/);
  expect(await ended).toEqual({ outcome: 'remote_hangup', sip: { code: 200, reason: 'OK' }, q850Cause: 34 });
});

test('Early media is connected before the answer and replaced by its session description', async () => {
  const { ended, events, leg } = rig.dial();
  const invite = await rig.next(leg, 'INVITE');
  rig.phone.send(rig.phone.answer(invite, '180 Ringing'), rig.port);
  rig.phone.send(rig.phone.answer(invite, '183 Session Progress', { body: SDP }), rig.port);
  await vi.waitFor(() => expect(events).toEqual(['ringing', 'early media']));
  const media = rig.media.all.at(-1);
  expect(media?.connected.map(({ remote }) => remote.port)).toEqual([40_000]);
  const later = SDP.replace('40000', '41000');
  rig.phone.send(rig.phone.answer(invite, '200 OK', { body: later }), rig.port);
  await rig.next(leg, 'ACK');
  await vi.waitFor(() => expect(events).toContain('answered'));
  expect(media?.connected.map(({ remote }) => remote.port)).toEqual([40_000, 41_000]);
  leg.hangup();
  rig.phone.send(rig.phone.answer(await rig.next(leg, 'BYE'), '200 OK'), rig.port);
  await ended;
});

test('An unanswered call is canceled after the ring timeout', async () => {
  const { leg, ended } = rig.dial({}, { ringTimeoutMs: 150 });
  const invite = await rig.next(leg, 'INVITE');
  rig.phone.send(rig.phone.answer(invite, '180 Ringing'), rig.port);
  const cancel = await rig.next(leg, 'CANCEL');
  expect(header(cancel, 'Reason')).toContain('Q.850;cause=19');
  rig.phone.send(rig.phone.answer(cancel, '200 OK'), rig.port);
  rig.phone.send(rig.phone.answer(invite, '487 Request Terminated'), rig.port);
  await rig.next(leg, 'ACK');
  expect(await ended).toEqual({
    outcome: 'no_answer',
    sip: { code: 487, reason: 'Request Terminated' },
    q850Cause: 19,
  });
});

test('A ringing call that we hang up is canceled', async () => {
  const { leg, ended } = rig.dial();
  const invite = await rig.next(leg, 'INVITE');
  rig.phone.send(rig.phone.answer(invite, '180 Ringing'), rig.port);
  await rig.phone.receivesNone(/^CANCEL/, 50);
  leg.hangup();
  rig.phone.send(rig.phone.answer(await rig.next(leg, 'CANCEL'), '200 OK'), rig.port);
  rig.phone.send(rig.phone.answer(invite, '487 Request Terminated'), rig.port);
  await rig.next(leg, 'ACK');
  expect(await ended).toMatchObject({ outcome: 'canceled', sip: { code: 487 }, q850Cause: 16 });
});

test('A 200 that crosses our CANCEL gets ACK and BYE', async () => {
  const { leg, ended } = rig.dial();
  const invite = await rig.next(leg, 'INVITE');
  rig.phone.send(rig.phone.answer(invite, '180 Ringing'), rig.port);
  await rig.phone.receivesNone(/^CANCEL/, 50);
  leg.hangup();
  const cancel = await rig.next(leg, 'CANCEL');
  rig.phone.send(rig.phone.answer(invite, '200 OK', { body: SDP }), rig.port);
  rig.phone.send(rig.phone.answer(cancel, '200 OK'), rig.port);
  await rig.next(leg, 'ACK');
  rig.phone.send(rig.phone.answer(await rig.next(leg, 'BYE'), '200 OK'), rig.port);
  expect(await ended).toEqual({ outcome: 'canceled', sip: { code: 200, reason: 'OK' }, q850Cause: 16 });
});

test('A silent peer is unreachable after the response timeout, and canceled when it responds', async () => {
  const { leg, ended, events } = rig.dial({ responseTimeoutSeconds: 1 });
  const invite = await rig.next(leg, 'INVITE');
  expect(await ended).toEqual({ outcome: 'unreachable', sip: null, q850Cause: null });
  expect(events).toEqual(['ended']);
  rig.phone.send(rig.phone.answer(invite, '180 Ringing'), rig.port);
  rig.phone.send(rig.phone.answer(await rig.next(leg, 'CANCEL'), '200 OK'), rig.port);
  rig.phone.send(rig.phone.answer(invite, '487 Request Terminated'), rig.port);
  await rig.next(leg, 'ACK');
});

test('A 100 Trying stops the response timeout', async () => {
  const { leg, ended } = rig.dial({ responseTimeoutSeconds: 1 });
  const invite = await rig.next(leg, 'INVITE');
  rig.phone.send(rig.phone.answer(invite, '100 Trying'), rig.port);
  expect(await rig.phone.receivesNone(new RegExp(`^CANCEL .*${leg.sipCallId}`, 's'), 1200)).toBe(true);
  rig.phone.send(rig.phone.answer(invite, '486 Busy Here'), rig.port);
  await rig.next(leg, 'ACK');
  expect(await ended).toMatchObject({ outcome: 'busy' });
});

test('An unknown host is unreachable', async () => {
  const { ended } = rig.dial({ host: 'nowhere.invalid', port: 5062 });
  expect(await ended).toEqual({ outcome: 'unreachable', sip: null, q850Cause: null });
});

test('A 200 without a common codec gets ACK and BYE', async () => {
  const { leg, ended, events } = rig.dial({ codecs: ['G722'] });
  const invite = await rig.next(leg, 'INVITE');
  rig.phone.send(rig.phone.answer(invite, '200 OK', { body: SDP }), rig.port);
  await rig.next(leg, 'ACK');
  const bye = await rig.next(leg, 'BYE');
  const reason = 'the session description cannot be used: it has none of our codecs (G722)';
  expect(header(bye, 'Reason')).toBe(`Q.850;cause=88;text="${reason}"`);
  rig.phone.send(rig.phone.answer(bye, '200 OK'), rig.port);
  expect(await ended).toEqual({ outcome: 'trunk_error', sip: { code: 200, reason }, q850Cause: 88 });
  expect(events).toEqual(['ended']);
});
