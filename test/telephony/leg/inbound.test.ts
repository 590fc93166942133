import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import type { InboundCall } from '../../../src/calls/telephony.ts';
import { header, SDP } from '../../sip/support/phone.ts';
import { NO_STATE, waitUntilDrained } from '../../sip/support/rig.ts';
import { detectLeaks } from '../../support/leaks.ts';
import { recordLegEvents, startTelephonyRig, type TelephonyRig } from '../../support/telephonyRig.ts';

let assertNoLeaks: () => Promise<void>;
let rig: TelephonyRig;
let count = 0;

beforeAll(async () => {
  assertNoLeaks = detectLeaks();
  rig = await startTelephonyRig({ inbound: { inboundCidrs: ['127.0.0.1'], numberFormat: 'national' } });
});

afterEach(() => {
  expect(rig.media.sessions).toBe(0);
});

afterAll(async () => {
  expect(await waitUntilDrained(rig.server)).toEqual(NO_STATE);
  await rig.close();
  await assertNoLeaks();
});

interface Ringing {
  readonly callId: string;
  readonly invite: string;
  readonly call: InboundCall;
}

async function ring(body = SDP, extra: string[] = []): Promise<Ringing> {
  count += 1;
  const callId = `in-${count}`;
  const invite = rig.phone.request('INVITE', rig.port, {
    callId,
    branch: `z9hG4bK-${callId}`,
    uri: `sip:0223456789@127.0.0.1:${rig.port}`,
    to: `<sip:0223456789@127.0.0.1:${rig.port}>`,
    extra: ['P-Asserted-Identity: <sip:0912345678@carrier>', ...extra],
    body,
  });
  rig.phone.send(invite, rig.port);
  return { callId, invite, call: await rig.nextInboundCall() };
}

const reply = (callId: string, status: number) =>
  rig.phone.next(new RegExp(`^SIP/2.0 ${status} .*^Call-ID: ${callId}\\r$`, 'ms'));

const goodbyeTo = (callId: string, timeoutMs?: number) =>
  rig.phone.next(new RegExp(`^BYE .*^Call-ID: ${callId}\\r$`, 'ms'), timeoutMs);

function acknowledge({ callId }: Ringing, ok: string, body = ''): void {
  const parts = { callId, to: header(ok, 'To'), uri: header(ok, 'Contact').replace(/[<>]/g, ''), body };
  rig.phone.send(rig.phone.request('ACK', rig.port, parts), rig.port);
}

function bye({ callId }: Ringing, ok: string): void {
  const parts = { callId, cseq: 2, to: header(ok, 'To'), uri: header(ok, 'Contact').replace(/[<>]/g, '') };
  rig.phone.send(rig.phone.request('BYE', rig.port, parts), rig.port);
}

test('An inbound call rings, is answered and is hung up by the caller', async () => {
  const ringing = await ring();
  const { call, callId } = ringing;
  expect(call).toMatchObject({ sipCallId: callId, fromNumber: '+886912345678', toNumber: '+886223456789' });
  call.ring();
  await reply(callId, 180);
  const leg = await call.answer('call-9');
  const { events, ended } = recordLegEvents(leg);
  const ok = await reply(callId, 200);
  expect(ok).toContain('m=audio 4');
  expect(events).toEqual([]);
  acknowledge(ringing, ok);
  await vi.waitFor(() => expect(events).toEqual(['answered']));
  expect(rig.media.all.at(-1)).toMatchObject({
    callId: 'call-9',
    connected: [{ remote: { port: 40_000, signallingHost: '127.0.0.1' } }],
  });
  bye(ringing, ok);
  expect(await ended).toEqual({ outcome: 'remote_hangup', sip: { code: 200, reason: 'OK' }, q850Cause: 16 });
});

test('An INVITE without an offer gets ours, and its ACK the answer', async () => {
  const ringing = await ring('');
  const leg = await ringing.call.answer('call-10');
  const { events, ended } = recordLegEvents(leg);
  const ok = await reply(ringing.callId, 200);
  expect(ok).toContain('RTP/AVP 0 8 101');
  expect(rig.media.all.at(-1)?.connected).toEqual([]);
  acknowledge(ringing, ok, SDP);
  await vi.waitFor(() => expect(events).toEqual(['answered']));
  expect(rig.media.all.at(-1)?.connected).toHaveLength(1);
  bye(ringing, ok);
  await ended;
});

test('A caller that does not answer our offer is hung up', async () => {
  const ringing = await ring('');
  const { ended } = recordLegEvents(await ringing.call.answer('call-11'));
  acknowledge(ringing, await reply(ringing.callId, 200));
  const goodbye = await goodbyeTo(ringing.callId);
  rig.phone.send(rig.phone.answer(goodbye, '200 OK'), rig.port);
  expect(await ended).toMatchObject({ outcome: 'trunk_error', q850Cause: 88 });
});

test('A hangup before the ACK waits for it', async () => {
  const ringing = await ring();
  const leg = await ringing.call.answer('call-12');
  const { ended, events } = recordLegEvents(leg);
  leg.hangup();
  const ok = await reply(ringing.callId, 200);
  expect(await rig.phone.receivesNone(new RegExp(`^BYE .*${ringing.callId}`, 's'), 50)).toBe(true);
  acknowledge(ringing, ok);
  rig.phone.send(rig.phone.answer(await goodbyeTo(ringing.callId), '200 OK'), rig.port);
  expect(await ended).toMatchObject({ outcome: 'local_hangup' });
  expect(events).toEqual(['ended']);
});

test('A call without an ACK is lost', async () => {
  const ringing = await ring();
  const { ended } = recordLegEvents(await ringing.call.answer('call-13'));
  await reply(ringing.callId, 200);
  // After 64·T1 (T1 is 40 ms) the SIP server sends BYE.
  const goodbye = await goodbyeTo(ringing.callId, 6000);
  rig.phone.send(rig.phone.answer(goodbye, '200 OK'), rig.port);
  expect(await ended).toMatchObject({ outcome: 'lost' });
});

test('A canceled call cannot be answered', async () => {
  const ringing = await ring();
  ringing.call.ring();
  await reply(ringing.callId, 180);
  const gone = new Promise((resolve) => ringing.call.canceled.addEventListener('abort', resolve));
  const branch = `z9hG4bK-${ringing.callId}`;
  rig.phone.send(
    rig.phone.request('CANCEL', rig.port, {
      callId: ringing.callId,
      branch,
      uri: `sip:0223456789@127.0.0.1:${rig.port}`,
      to: `<sip:0223456789@127.0.0.1:${rig.port}>`,
    }),
    rig.port,
  );
  await gone;
  const refused = await reply(ringing.callId, 487);
  rig.phone.send(
    rig.phone.request('ACK', rig.port, { callId: ringing.callId, branch, to: header(refused, 'To') }),
    rig.port,
  );
  await expect(ringing.call.answer('call-14')).rejects.toMatchObject({ code: 'call_canceled' });
});

test('A CANCEL that crosses the 200 cancels the call, or has no effect', async () => {
  const seen = new Set<string>();
  for (let turns = 0; turns < 12; turns += 1) {
    const ringing = await ring();
    const { call, callId } = ringing;
    const uri = `sip:0223456789@127.0.0.1:${rig.port}`;
    const branch = `z9hG4bK-${callId}`;
    rig.phone.send(rig.phone.request('CANCEL', rig.port, { callId, branch, uri, to: `<${uri}>` }), rig.port);
    for (let turn = 0; turn < turns; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    const leg = await call.answer(`call-hasty-${turns}`).catch((error: { code: string }) => {
      seen.add(`${error.code}, ${call.canceled.aborted ? 'given up' : 'not given up'}`);
    });
    const final = await rig.phone.next(
      new RegExp(`^SIP/2.0 (?:200|487) .*^Call-ID: ${callId}\\r$.*^CSeq: 1 INVITE\\r$`, 'ms'),
    );
    if (leg) {
      seen.add('answered');
      const { ended } = recordLegEvents(leg);
      acknowledge(ringing, final);
      bye(ringing, final);
      await ended;
      await leg.media?.close();
    } else {
      const parts = { callId, branch, to: header(final, 'To') };
      rig.phone.send(rig.phone.request('ACK', rig.port, parts), rig.port);
    }
  }
  const right = ['answered', 'call_canceled, given up', 'call_not_answered, given up'];
  expect([...seen].filter((outcome) => !right.includes(outcome))).toEqual([]);
  expect(seen).toContain('call_not_answered, given up');
  await vi.waitFor(() => expect(rig.media.sessions).toBe(0));
});

test.each([
  [404, 404],
  [486, 486],
  [603, 603],
  [499, 400],
])('A call is rejected with %i', async (status, sent) => {
  const { call, callId } = await ring();
  call.reject(status, 'declined_by_agent');
  const refused = await reply(callId, sent);
  rig.phone.send(
    rig.phone.request('ACK', rig.port, { callId, branch: `z9hG4bK-${callId}`, to: header(refused, 'To') }),
    rig.port,
  );
  await expect(call.answer('x')).rejects.toMatchObject({ code: 'call_decided' });
});

test.each([
  ['refused', ({ call }: Ringing) => call.reject(404, 'unknown_number'), 404],
  [
    'taken back',
    ({ callId }: Ringing) => {
      const parts = { callId, branch: `z9hG4bK-${callId}`, uri: `sip:0223456789@127.0.0.1:${rig.port}` };
      rig.phone.send(rig.phone.request('CANCEL', rig.port, parts), rig.port);
    },
    487,
  ],
])('Prepared audio is closed when the call is %s', async (_case, end, status) => {
  const ringing = await ring();
  ringing.call.prepareMedia('call-ahead');
  await vi.waitFor(() => expect(rig.media.sessions).toBe(1));
  end(ringing);
  const refused = await reply(ringing.callId, status);
  const branch = `z9hG4bK-${ringing.callId}`;
  const parts = { callId: ringing.callId, branch, to: header(refused, 'To') };
  rig.phone.send(rig.phone.request('ACK', rig.port, parts), rig.port);
  await vi.waitFor(() => expect(rig.media.sessions).toBe(0));
  ringing.call.prepareMedia('call-ahead');
  expect(rig.media.all.at(-1)?.callId).toBe('call-ahead');
  expect(rig.media.sessions).toBe(0);
});

test('The answer uses the prepared audio', async () => {
  const before = rig.media.all.length;
  const ringing = await ring();
  ringing.call.prepareMedia('call-18');
  const { ended } = recordLegEvents(await ringing.call.answer('call-18'));
  const ok = await reply(ringing.callId, 200);
  acknowledge(ringing, ok);
  bye(ringing, ok);
  await ended;
  expect(rig.media.all.length - before).toBe(1);
});

test('A rejection can carry Retry-After', async () => {
  const { call, callId } = await ring();
  call.reject(503, 'overloaded', 5);
  const refused = await reply(callId, 503);
  expect(header(refused, 'Retry-After')).toBe('5');
  rig.phone.send(
    rig.phone.request('ACK', rig.port, { callId, branch: `z9hG4bK-${callId}`, to: header(refused, 'To') }),
    rig.port,
  );
});

test.each([
  ['AVP 0', 'AVP 18', /^305 callway "the session description cannot be used: it offers none /],
  ['c=IN IP4 127.0.0.1', 'c=IN IP6 ::1', /^300 callway .* IPv6 only"$/],
  ['c=IN IP4 127.0.0.1', 'c=IN IP4 no.invalid', /^399 callway .* 'no\.invalid' has no address"$/],
])(
  'An offer with %s replaced by %s gets 488 with the reason, and answer() throws',
  async (from, to, warning) => {
    const { call, callId } = await ring(SDP.replace(from, to));
    await expect(call.answer('call-15')).rejects.toMatchObject({ code: 'sdp_unusable' });
    const refused = await reply(callId, 488);
    expect(header(refused, 'Warning')).toMatch(warning);
    rig.phone.send(
      rig.phone.request('ACK', rig.port, { callId, branch: `z9hG4bK-${callId}`, to: header(refused, 'To') }),
      rig.port,
    );
  },
);

test.each([
  ['a body that is no description', 'Content-Type: text/plain', 415, 'Accept', 'application/sdp'],
  [
    'an extension that only its SIP server knows',
    'Require: 100rel, replaces',
    420,
    'Unsupported',
    'replaces',
  ],
])('%s is rejected before the call is offered', async (_case, line, status, name, value) => {
  count += 1;
  const callId = `refused-${count}`;
  const branch = `z9hG4bK-${callId}`;
  rig.phone.send(
    rig.phone.request('INVITE', rig.port, { callId, branch, extra: [line], body: SDP }),
    rig.port,
  );
  const refused = await reply(callId, status);
  expect(header(refused, name)).toBe(value);
  rig.phone.send(rig.phone.request('ACK', rig.port, { callId, branch, to: header(refused, 'To') }), rig.port);
});

test('A session description in a multipart body is answered', async () => {
  const body = `--b\r\nContent-Type: application/sdp\r\n\r\n${SDP}--b--\r\n`;
  const ringing = await ring(body, ['Content-Type: multipart/mixed;boundary=b']);
  const leg = await ringing.call.answer('call-17');
  const { ended } = recordLegEvents(leg);
  const ok = await reply(ringing.callId, 200);
  acknowledge(ringing, ok);
  bye(ringing, ok);
  await ended;
  expect(rig.media.all.at(-1)).toMatchObject({ connected: [{ remote: { port: 40_000 } }] });
});

test.each([
  ['nothing to change', '', 200],
  ['an offer', SDP, 500],
])('An UPDATE with %s while ringing gets %3$i', async (_case, body, status) => {
  const ringing = await ring();
  ringing.call.ring();
  const to = header(await reply(ringing.callId, 180), 'To');
  const { callId } = ringing;
  rig.phone.send(rig.phone.request('UPDATE', rig.port, { callId, cseq: 2, to, body }), rig.port);
  await rig.phone.next(new RegExp(`^SIP/2.0 ${status} .*^Call-ID: ${callId}\\r$.*UPDATE`, 'ms'));
  ringing.call.reject(486, 'overloaded');
  await reply(callId, 486);
  rig.phone.send(rig.phone.request('ACK', rig.port, { callId, branch: `z9hG4bK-${callId}`, to }), rig.port);
});

test('Digits that are sent before the answer are kept for the leg', async () => {
  const ringing = await ring();
  const { callId, call } = ringing;
  call.ring();
  const to = header(await reply(callId, 180), 'To');
  const extra = ['Content-Type: application/dtmf-relay'];
  rig.phone.send(
    rig.phone.request('INFO', rig.port, { callId, cseq: 2, to, extra, body: 'Signal=5' }),
    rig.port,
  );
  await reply(callId, 200);
  const { events, ended } = recordLegEvents(await call.answer('call-18'));
  const ok = await rig.phone.next(new RegExp(`^SIP/2.0 200 .*^Call-ID: ${callId}\\r$.*m=audio`, 'ms'));
  acknowledge(ringing, ok);
  await vi.waitFor(() => expect(events).toEqual(['digit 5', 'answered']));
  rig.phone.send(rig.phone.request('BYE', rig.port, { callId, cseq: 3, to }), rig.port);
  await ended;
});

test('A BYE before the answer cancels the call', async () => {
  const { callId, call } = await ring();
  call.ring();
  const to = header(await reply(callId, 180), 'To');
  rig.phone.send(rig.phone.request('BYE', rig.port, { callId, cseq: 2, to }), rig.port);
  await reply(callId, 200);
  await reply(callId, 487);
  expect(call.canceled.aborted).toBe(true);
  rig.phone.send(rig.phone.request('ACK', rig.port, { callId, branch: `z9hG4bK-${callId}`, to }), rig.port);
});

test.each([
  [['<sip:switch@carrier>, <tel:+886-912-345-678>'], '<sip:x@y>', '+886912345678'],
  [[], '<tel:0912345678>', '+886912345678'],
  [[], '"Anonymous" <sip:anonymous@anonymous.invalid>', 'anonymous'],
  [['<sip:+886912345678@carrier;user=phone>'], '<sip:anonymous@anonymous.invalid>', '+886912345678'],
  [[], 'Lin, Ada <sip:+886912345678@x>', '+886912345678'],
  [[], '"Lin <sip:+886912345678@x>', '+886912345678'],
  [[], '林 ☎ <tel:912345678;phone-context=+886>', '+886912345678'],
  [[], '"Ann" sip:0912345678@x;user=phone', '+886912345678'],
  [[], '<sip:@x>', ''],
  [[], '<sip:Ann Lee@x>', ''],
])('With the identities %j and %s the caller is %s', async (asserted, from, number) => {
  count += 1;
  const callId = `who-${count}`;
  const extra = asserted.map((value) => `P-Asserted-Identity: ${value}`);
  const branch = `z9hG4bK-${callId}`;
  const invite = rig.phone.request('INVITE', rig.port, { callId, branch, extra, body: SDP });
  rig.phone.send(invite.replace(/^From: <[^>]*>/m, `From: ${from}`), rig.port);
  const call = await rig.nextInboundCall();
  expect(call.fromNumber).toBe(number);
  call.reject(486, 'overloaded');
  const to = header(await reply(callId, 486), 'To');
  rig.phone.send(rig.phone.request('ACK', rig.port, { callId, branch, to }), rig.port);
});

test.each([
  ['MESSAGE', [], 405],
  ['NOTIFY', [], 481],
  ['NOTIFY', ['Event: keep-alive'], 200],
  ['REGISTER', [], 405],
])('%s %j outside a call gets %i', async (method, extra, status) => {
  const callId = `lone-${method}-${extra.length}`;
  rig.phone.send(rig.phone.request(method, rig.port, { callId, extra }), rig.port);
  const refused = await reply(callId, status);
  if (status === 405) expect(header(refused, 'Allow')).toContain('REFER');
});

test('Unknown sources get 403, and OPTIONS gets 200', async () => {
  const closed = await startTelephonyRig();
  closed.phone.send(
    closed.phone.request('INVITE', closed.port, { callId: 'stranger', body: SDP }),
    closed.port,
  );
  const refused = await closed.phone.next(/^SIP\/2.0 403/);
  closed.phone.send(
    closed.phone.request('ACK', closed.port, {
      callId: 'stranger',
      branch: /branch=([^;\r]+)/.exec(refused)?.[1] ?? '',
      to: header(refused, 'To'),
    }),
    closed.port,
  );
  closed.phone.send(closed.phone.request('OPTIONS', closed.port, { callId: 'o' }), closed.port);
  expect(header(await closed.phone.next(/^SIP\/2.0 200/), 'Allow')).toContain('REFER');
  await closed.close();
});

test('The trace of a call starts with the INVITE and has its credentials redacted', async () => {
  const ringing = await ring(SDP, ['Authorization: Digest response="5ecret"']);
  const leg = await ringing.call.answer('call-16');
  const { ended } = recordLegEvents(leg);
  const ok = await reply(ringing.callId, 200);
  acknowledge(ringing, ok);
  bye(ringing, ok);
  await ended;
  const own = () => rig.traced.filter(({ text }) => text.includes(`Call-ID: ${ringing.callId}\r\n`));
  await vi.waitFor(() => expect(own().map(({ text }) => text.split(' ')[0])).toContain('BYE'), 4000);
  expect(own()[0]).toMatchObject({ direction: 'in', remote: `127.0.0.1:${rig.phone.port}` });
  expect(own()[0]?.text).toContain('Authorization: Digest [redacted]');
  expect(JSON.stringify(rig.traced)).not.toContain('5ecret');
});
