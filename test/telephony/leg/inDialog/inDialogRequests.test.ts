import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import type { TrunkInput } from '../../../../src/calls/trunks/trunk.ts';
import { header, SDP } from '../../../sip/support/phone.ts';
import { NO_STATE, waitUntilDrained } from '../../../sip/support/rig.ts';
import { detectLeaks } from '../../../support/leaks.ts';
import { type RecordedLeg, startTelephonyRig, type TelephonyRig } from '../../../support/telephonyRig.ts';

const EVENTS_SDP = SDP.replace('AVP 0', 'AVP 0 101').concat('a=rtpmap:101 telephone-event/8000\r\n');
let assertNoLeaks: () => Promise<void>;
let rig: TelephonyRig;
let call: RecordedLeg;
let invite: string;
let accepted: string;

beforeAll(async () => {
  assertNoLeaks = detectLeaks();
  rig = await startTelephonyRig();
});

beforeEach(() => answerCall());

afterEach(async () => {
  const { leg, events } = call;
  if (!events.includes('ended')) {
    leg.hangup();
    answer(await rig.next(leg, 'BYE'), '200 OK');
  }
  await call.ended;
  expect(rig.media.sessions).toBe(0);
});

afterAll(async () => {
  expect(await waitUntilDrained(rig.server)).toEqual(NO_STATE);
  await rig.close();
  await assertNoLeaks();
});

async function answerCall(
  changes: Partial<TrunkInput> = {},
  body = SDP,
  extra: string[] = [],
): Promise<void> {
  call = rig.dial(changes);
  invite = await rig.next(call.leg, 'INVITE');
  accepted = rig.phone.answer(invite, '200 OK', { body, extra });
  rig.phone.send(accepted, rig.port);
  await rig.next(call.leg, 'ACK');
  await vi.waitFor(() => expect(call.events).toContain('answered'));
}

/** Establishes a call over a changed trunk. */
async function talkInstead(changes: Partial<TrunkInput>, body = SDP): Promise<void> {
  call.leg.hangup();
  answer(await rig.next(call.leg, 'BYE'), '200 OK');
  await call.ended;
  await answerCall(changes, body);
}

function answer(request: string, status: string, extra: string[] = []): void {
  rig.phone.send(rig.phone.answer(request, status, { extra }), rig.port);
}

/** Sends a request of the callee. @returns Its final response. */
async function ask(method: string, extra: string[] = [], body = ''): Promise<string> {
  const request = rig.calleeRequest(method, invite, accepted, extra, body);
  rig.phone.send(request, rig.port);
  const cseq = header(request, 'CSeq');
  const reply = await rig.phone.next(new RegExp(`^SIP/2.0 [2-6].*^CSeq: ${cseq}\\r$`, 'ms'));
  if (method === 'INVITE') {
    const ack = rig
      .calleeRequest('ACK', invite, accepted)
      .replace(/^CSeq: .*$/m, `CSeq: ${cseq.replace('INVITE', 'ACK')}`);
    // The ACK to a non-2xx belongs to the same transaction. RFC 3261 section 17.1.1.3
    const isRefused = !reply.startsWith('SIP/2.0 2');
    rig.phone.send(isRefused ? ack.replace(/^Via: .*$/m, `Via: ${header(request, 'Via')}`) : ack, rig.port);
  }
  return reply;
}

/** Retransmissions of earlier calls are skipped. */
const ofThis = (method: string) => new RegExp(`^${method} .*^Call-ID: ${call.leg.sipCallId}\\r$`, 'ms');

const TYPED = ['Content-Type: application/sdp'];
const connections = () => rig.media.all.at(-1)?.connected ?? [];

test('A peer holds and resumes the call', async () => {
  const hold = await ask('INVITE', TYPED, SDP.replace('sendrecv', 'sendonly'));
  expect(hold).toContain('a=recvonly');
  const resumed = await ask('INVITE', TYPED, SDP);
  expect(resumed).toContain('a=sendrecv');
  expect(call.events.slice(1)).toEqual(['held', 'resumed']);
  expect(connections().map(({ direction }) => direction)).toEqual(['sendrecv', 'recvonly', 'sendrecv']);
  const versions = [invite, hold, resumed].map((text) => /^o=- \d+ (\d+)/m.exec(text)?.[1]);
  expect(versions).toEqual(['1', '2', '3']);
});

test('A hold by the address 0.0.0.0 keeps the last address', async () => {
  await ask('INVITE', TYPED, SDP.replace('c=IN IP4 127.0.0.1', 'c=IN IP4 0.0.0.0'));
  expect(call.events).toContain('held');
  expect(connections().at(-1)).toMatchObject({ remote: { address: '127.0.0.1' }, direction: 'recvonly' });
});

test('A peer moves its audio to another address', async () => {
  await ask('INVITE', TYPED, SDP.replace('40000', '45000'));
  expect(connections().at(-1)?.remote.port).toBe(45_000);
});

test('An UPDATE with an offer is answered, one without it only refreshes', async () => {
  expect(await ask('UPDATE', TYPED, SDP.replace('40000', '46000'))).toContain('m=audio');
  expect(connections().at(-1)?.remote.port).toBe(46_000);
  const refreshed = await ask('UPDATE');
  expect(refreshed).toMatch(/^SIP\/2\.0 200/);
  expect(refreshed).not.toContain('m=audio');
});

test('An unusable offer gets 488, the call continues unchanged, and the next offer is accepted', async () => {
  const refused = await ask('INVITE', TYPED, SDP.replace('RTP/AVP 0', 'RTP/AVP 18'));
  expect(refused).toMatch(/^SIP\/2\.0 488/);
  expect(header(refused, 'Warning')).toContain('none of the trunk');
  expect(connections()).toHaveLength(1);
  expect(await ask('INVITE', TYPED, SDP.replace('40000', '47000'))).toMatch(/^SIP\/2\.0 200/);
  expect(connections()).toHaveLength(2);
});

test('A re-INVITE without an offer gets ours, and its ACK the answer', async () => {
  const request = rig.calleeRequest('INVITE', invite, accepted);
  rig.phone.send(request, rig.port);
  const cseq = header(request, 'CSeq');
  const reply = await rig.phone.next(new RegExp(`^SIP/2.0 200.*^CSeq: ${cseq}\\r$`, 'ms'));
  expect(reply).toContain('m=audio 4');
  expect(reply).toContain('RTP/AVP 0 8 101');
  const ack = rig.calleeRequest('ACK', invite, accepted, TYPED, SDP.replace('40000', '48000'));
  rig.phone.send(ack.replace(/^CSeq: .*$/m, `CSeq: ${cseq.replace('INVITE', 'ACK')}`), rig.port);
  await vi.waitFor(() => expect(connections().at(-1)?.remote.port).toBe(48_000));
});

test.each([
  ['application/dtmf-relay', 'Signal=5\r\nDuration=160\r\n', 'digit 5'],
  ['application/dtmf-relay', 'Signal= 11\r\n', 'digit #'],
  ['application/dtmf', '*', 'digit *'],
  ['Application/DTMF; charset=x', 'd\r\n', 'digit D'],
  ['application/dtmf', '10', 'digit *'],
  ['application/dtmf', 'Signal=3', 'digit 3'],
  ['application/dtmf-relay', 'Signal=star\r\nDuration=160\r\n', 'digit *'],
  ['application/dtmf', 'Pound', 'digit #'],
  ['application/dtmf-relay', 'Duration = 100\r\nSIGNAL = "7"\n', 'digit 7'],
  ['application/dtmf-relay', '8\r\n', 'digit 8'],
  ['application/dtmf-relay', 'Signal=2;Duration=90', 'digit 2'],
  ['audio/telephone-event', 'signal=4\rduration=90', 'digit 4'],
  ['application/vnd.nortelnetworks.digits', 'p=Digit-Collection\r\ny=Digits\r\ns=success\r\nd=9', 'digit 9'],
])('A DTMF digit by INFO, %s %j', async (type, body, event) => {
  expect(await ask('INFO', [`Content-Type: ${type}`], body)).toMatch(/^SIP\/2\.0 200/);
  expect(call.events).toContain(event);
});

test.each([
  ['INFO', ['Content-Type: text/plain'], 'x', 415],
  ['INFO', ['Content-Type: application/dtmf'], '99', 415],
  ['INFO', ['Content-Type: application/dtmf-relay'], 'Duration=5', 415],
  ['INFO', [], '', 200],
  ['OPTIONS', [], '', 200],
  ['MESSAGE', ['Content-Type: text/plain'], 'hello', 405],
  ['NOTIFY', ['Event: presence', 'Subscription-State: active'], '', 489],
  ['NOTIFY', ['Event: keep-alive'], '', 200],
  ['NOTIFY', ['Subscription-State: active'], '', 200],
  ['REFER', [], '', 400],
  ['REFER', ['Refer-To: <mailto:a@b>'], '', 400],
  ['REFER', ['Refer-To: <sip:a@b?Replaces=x>'], '', 603],
])('%s %j %j gets %i', async (method, extra, body, status) => {
  expect(await ask(method, extra, body)).toMatch(new RegExp(`^SIP/2\\.0 ${status}`));
});

test('A REFER is accepted, and the peer is notified of its progress', async () => {
  expect(await ask('REFER', ['Refer-To: <sip:0912000111@pbx.example>'])).toMatch(/^SIP\/2\.0 202/);
  const notify = await rig.next(call.leg, 'NOTIFY');
  expect(header(notify, 'Event')).toBe('refer');
  expect(header(notify, 'Subscription-State')).toBe('active;expires=60');
  expect(notify).toContain('SIP/2.0 100 Trying');
  answer(notify, '200 OK');
  await vi.waitFor(() => expect(call.events).toContain('transfer to +886912000111'));
});

test('The peer is notified once when its transfer fails', async () => {
  await ask('REFER', ['Refer-To: <sip:0912000111@pbx.example>']);
  const first = await rig.next(call.leg, 'NOTIFY');
  answer(first, '200 OK');
  const numbers = [header(first, 'CSeq')];
  for (const attempt of [1, 2]) {
    const refused = expect(call.leg.refer('+886912000111')).rejects.toMatchObject({
      code: 'transfer_unsupported',
    });
    answer(await rig.next(call.leg, 'REFER'), '603 Decline');
    await refused;
    if (attempt === 2) continue;
    const last = await rig.next(call.leg, 'NOTIFY');
    expect(header(last, 'Subscription-State')).toBe('terminated;reason=noresource');
    expect(last).toContain('SIP/2.0 503 Service Unavailable');
    answer(last, '200 OK');
    numbers.push(header(last, 'CSeq'));
  }
  // What was answered late comes once more.
  const known = `^CSeq: (?:${numbers.join('|')})\\r$`;
  const another = new RegExp(`^NOTIFY (?!.*${known}).*^Call-ID: ${call.leg.sipCallId}\\r$`, 'ms');
  expect(await rig.phone.receivesNone(another, 50)).toBe(true);
  expect(call.events).not.toContain('ended');
});

test('A REFER with Refer-Sub: false gets no NOTIFY', async () => {
  const reply = await ask('REFER', ['Refer-To: <sip:desk@pbx.example>', 'Refer-Sub: false']);
  expect(header(reply, 'Refer-Sub')).toBe('false');
  await vi.waitFor(() => expect(call.events).toContain('transfer to sip:desk@pbx.example'));
  expect(await rig.phone.receivesNone(ofThis('NOTIFY'), 50)).toBe(true);
});

async function report(state: string, progress: string): Promise<string> {
  return await ask(
    'NOTIFY',
    ['Event: refer', `Subscription-State: ${state}`, 'Content-Type: message/sipfrag'],
    `${progress}\r\n`,
  );
}

test('A transfer succeeds by NOTIFY, and we hang up afterwards', async () => {
  const transferred = call.leg.refer('+886911222333');
  const refer = await rig.next(call.leg, 'REFER');
  expect(header(refer, 'Refer-To')).toBe(`<sip:+886911222333@127.0.0.1:${rig.phone.port}>`);
  expect(header(refer, 'Referred-By')).toBe('<sip:+886223456789@127.0.0.1>');
  answer(refer, '202 Accepted');
  await report('active', 'SIP/2.0 180 Ringing');
  await report('terminated;reason=noresource', 'SIP/2.0 200 OK');
  await transferred;
  answer(await rig.next(call.leg, 'BYE', 5000), '200 OK');
  expect(await call.ended).toMatchObject({ outcome: 'local_hangup' });
});

test('A failed transfer leaves the call unchanged, and another can follow', async () => {
  const failing = expect(call.leg.refer('+886911222333')).rejects.toMatchObject({
    code: 'transfer_failed',
    message: expect.stringContaining('486 Busy Here'),
  });
  answer(await rig.next(call.leg, 'REFER'), '202 Accepted');
  await expect(call.leg.refer('+886911222334')).rejects.toMatchObject({ code: 'transfer_in_progress' });
  await report('terminated', 'SIP/2.0 486 Busy Here');
  await failing;
  const refused = expect(call.leg.refer('+886911222333')).rejects.toThrow('481 Gone');
  answer(await rig.next(call.leg, 'REFER'), '481 Gone');
  await refused;
  expect(call.events).not.toContain('ended');
});

test.each(['405 Method Not Allowed', '501 Not Implemented', '603 Decline'])(
  'A %s to REFER is transfer_unsupported',
  async (status) => {
    const refused = expect(call.leg.refer('+886911222333')).rejects.toMatchObject({
      code: 'transfer_unsupported',
      message: expect.stringContaining(status),
    });
    answer(await rig.next(call.leg, 'REFER'), status);
    await refused;
    expect(call.events).not.toContain('ended');
  },
);

test.each<[string, Partial<TrunkInput>, string[]]>([
  ['allows no REFER', {}, ['Allow: INVITE, ACK, BYE', 'Allow: OPTIONS']],
  ['is on a trunk that wants none', { transfer: 'second_leg' }, []],
])('A peer that %s gets no REFER', async (_what, changes, allow) => {
  call.leg.hangup();
  answer(await rig.next(call.leg, 'BYE'), '200 OK');
  await call.ended;
  await answerCall(changes, SDP, allow);
  await expect(call.leg.refer('+886911222333')).rejects.toMatchObject({ code: 'transfer_unsupported' });
  expect(await rig.phone.receivesNone(ofThis('REFER'), 30)).toBe(true);
});

test.each(['a b', 'sip:x@y>;evil', 'tel:', 'sip:a@b\r\nX: y'])('%j is no transfer target', async (to) => {
  await expect(call.leg.refer(to)).rejects.toMatchObject({ code: 'transfer_target_invalid' });
});

test('A challenge inside a dialog is answered', async () => {
  await talkInstead({ username: 'u', password: 'p', dtmf: 'info' });
  const sent = call.leg.sendDtmf('7');
  const first = await rig.next(call.leg, 'INFO');
  answer(first, '401 Unauthorized', ['WWW-Authenticate: Digest realm="r",nonce="n"']);
  const second = await rig.next(call.leg, 'INFO');
  const uri = /^INFO (\S+)/.exec(second)?.[1];
  expect(header(second, 'Authorization')).toContain(`uri="${uri}"`);
  expect(second).toContain('Signal=7\r\nDuration=160\r\n');
  answer(second, '200 OK');
  await sent;
});

test('Digits are sent as RFC 4733 events, else by INFO, whose rejection throws', async () => {
  await talkInstead({}, EVENTS_SDP);
  await call.leg.sendDtmf('12#');
  expect(rig.media.all.at(-1)?.digits).toEqual(['12#']);
  await talkInstead({}, SDP);
  const refused = expect(call.leg.sendDtmf('1')).rejects.toMatchObject({ code: 'dtmf_refused' });
  answer(await rig.next(call.leg, 'INFO'), '415 Unsupported');
  await refused;
  await expect(call.leg.sendDtmf('x')).rejects.toMatchObject({ code: 'dtmf_invalid' });
});

test('Digits by INFO are sent one after the other, and no more than 256 wait', async () => {
  await talkInstead({ dtmf: 'info' });
  const sent = [call.leg.sendDtmf('12'), call.leg.sendDtmf('34')];
  await expect(Promise.all(['5', '6'].map((d) => call.leg.sendDtmf(d.repeat(127))))).rejects.toMatchObject({
    code: 'dtmf_too_many_digits',
  });
  for (const digit of '1234') {
    const request = await rig.next(call.leg, 'INFO');
    expect(request).toContain(`Signal=${digit}\r\n`);
    answer(request, '200 OK');
  }
  await Promise.all(sent);
});

test('A leg ends when BYE is not answered in time', async () => {
  await call.leg.hangup();
  expect(await call.ended).toMatchObject({ outcome: 'local_hangup' });
  answer(await rig.next(call.leg, 'BYE', 5000), '200 OK');
});

test.each([
  ['UPDATE', ['Allow: INVITE, ACK, BYE, UPDATE']],
  ['INVITE', []],
])('A challenged session refresh by %s is repeated with credentials', async (method, allow) => {
  call.leg.hangup();
  answer(await rig.next(call.leg, 'BYE'), '200 OK');
  await call.ended;
  await answerCall({ username: 'u', password: 'p' }, SDP, [...allow, 'Session-Expires: 1;refresher=uac']);
  // On a busy machine the SIP server may refresh too, without credentials.
  let refresh = await rig.next(call.leg, method);
  while (header(refresh, 'Proxy-Authorization') === '') {
    answer(refresh, '407 Proxy Authentication Required', ['Proxy-Authenticate: Digest realm="r",nonce="n"']);
    refresh = await rig.next(call.leg, method);
  }
  expect(header(refresh, 'Proxy-Authorization')).toContain(`uri="${refresh.split(' ')[1]}"`);
  expect(header(refresh, 'Session-Expires')).toBe('1;refresher=uac');
  const body = method === 'INVITE' ? SDP : '';
  const extra = ['Session-Expires: 1800;refresher=uac'];
  rig.phone.send(rig.phone.answer(refresh, '200 OK', { extra, body }), rig.port);
  if (method === 'INVITE') await rig.phone.next(/^ACK .*^Proxy-Authorization: .*nonce="n"/ms);
  expect(call.events).not.toContain('ended');
});
