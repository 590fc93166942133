import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { header, SDP } from '../../sip/support/phone.ts';
import { NO_STATE, waitUntilDrained } from '../../sip/support/rig.ts';
import { detectLeaks } from '../../support/leaks.ts';
import { recordLegEvents, startTelephonyRig, type TelephonyRig } from '../../support/telephonyRig.ts';

let assertNoLeaks: () => Promise<void>;
let rig: TelephonyRig;
let serviceRoute: readonly string[] = [];

beforeAll(async () => {
  assertNoLeaks = detectLeaks();
  rig = await startTelephonyRig({ serviceRoute: () => serviceRoute });
});

afterAll(async () => {
  expect(rig.media.sessions).toBe(0);
  expect(await waitUntilDrained(rig.server)).toEqual(NO_STATE);
  await rig.close();
  await assertNoLeaks();
});

const md5 = (text: string) => createHash('md5').update(text).digest('hex');
const CHALLENGE = 'Proxy-Authenticate: Digest realm="gw.test", nonce="n1", algorithm=MD5, qop="auth"';

test('A challenge is answered in the same dialog with a higher CSeq', async () => {
  const { leg, ended } = rig.dial({ username: 'trunk', password: 'secret', realm: 'gw.test' });
  const first = await rig.next(leg, 'INVITE');
  expect(header(first, 'Contact')).toBe(`<sip:trunk@127.0.0.1:${rig.port}>`);
  rig.phone.send(
    rig.phone.answer(first, '407 Proxy Authentication Required', { extra: [CHALLENGE] }),
    rig.port,
  );
  await rig.next(leg, 'ACK');
  const second = await rig.next(leg, 'INVITE');
  expect(header(second, 'CSeq')).toBe('2 INVITE');
  expect(header(second, 'From')).toBe(header(first, 'From'));
  const credentials = header(second, 'Proxy-Authorization');
  const cnonce = /cnonce="(\w+)"/.exec(credentials)?.[1];
  const uri = /^INVITE (\S+)/.exec(second)?.[1];
  const expected = md5(`${md5('trunk:gw.test:secret')}:n1:00000001:${cnonce}:auth:${md5(`INVITE:${uri}`)}`);
  expect(credentials).toContain(`response="${expected}"`);
  rig.phone.send(rig.phone.answer(second, '486 Busy Here'), rig.port);
  expect(await ended).toMatchObject({ outcome: 'busy' });
});

test('A URI is called through the trunk', async () => {
  const request = { targetUri: 'sip:desk@pbx.example', toNumber: 'sip:desk@pbx.example' };
  const { leg, ended } = rig.dial({}, request);
  const invite = await rig.next(leg, 'INVITE');
  expect(invite).toMatch(/^INVITE sip:desk@pbx\.example SIP/);
  expect(header(invite, 'To')).toBe('<sip:desk@pbx.example>');
  rig.phone.send(rig.phone.answer(invite, '486 Busy Here'), rig.port);
  expect(await ended).toMatchObject({ outcome: 'busy' });
});

test.each([
  ['a wrong password', { password: 'wrong' }, 2],
  ['another realm', { realm: 'elsewhere' }, 1],
  ['no password', { password: null }, 1],
])('%s is a trunk error', async (_what, changes, invites) => {
  const { leg, ended } = rig.dial({ username: 'trunk', password: 'secret', ...changes });
  for (let count = 0; count < invites; count += 1) {
    const invite = await rig.next(leg, 'INVITE');
    expect(header(invite, 'CSeq')).toBe(`${count + 1} INVITE`);
    rig.phone.send(
      rig.phone.answer(invite, '407 Proxy Authentication Required', { extra: [CHALLENGE] }),
      rig.port,
    );
    await rig.next(leg, 'ACK');
  }
  expect(await ended).toMatchObject({ outcome: 'trunk_error', sip: { code: 407 } });
});

test('A hangup between a challenge and its answer cancels the call', async () => {
  const { leg, ended } = rig.dial({ username: 'trunk', password: 'secret' });
  const first = await rig.next(leg, 'INVITE');
  rig.phone.send(
    rig.phone.answer(first, '407 Proxy Authentication Required', { extra: [CHALLENGE] }),
    rig.port,
  );
  const second = await rig.next(leg, 'INVITE');
  leg.hangup();
  rig.phone.send(rig.phone.answer(second, '100 Trying'), rig.port);
  rig.phone.send(rig.phone.answer(await rig.next(leg, 'CANCEL'), '200 OK'), rig.port);
  rig.phone.send(rig.phone.answer(second, '487 Request Terminated'), rig.port);
  expect(await ended).toMatchObject({ outcome: 'canceled' });
});

test('A redirect is followed to the preferred Contact, if the trunk allows it', async () => {
  const { leg, ended } = rig.dial({ followRedirects: true });
  const first = await rig.next(leg, 'INVITE');
  const contact = `Contact: <sip:worse@127.0.0.1:9>;q=0.1, <sip:better@127.0.0.1:${rig.phone.port}>;q=0.9`;
  const moved = rig.phone
    .answer(first, '302 Moved', { extra: [contact] })
    .replace(/Contact: <sip:phone.*\r\n/, '');
  rig.phone.send(moved, rig.port);
  const second = await rig.next(leg, 'INVITE sip:better@\\S+');
  expect(header(second, 'CSeq')).toBe('2 INVITE');
  rig.phone.send(rig.phone.answer(second, '603 Decline'), rig.port);
  expect(await ended).toMatchObject({ outcome: 'declined' });
});

test('Redirect loops end', async () => {
  const { leg, ended } = rig.dial({ followRedirects: true });
  for (let count = 0; count <= 5; count += 1) {
    const invite = await rig.next(leg, 'INVITE');
    rig.phone.send(rig.phone.answer(invite, '302 Moved'), rig.port);
    await rig.next(leg, 'ACK');
  }
  expect(await ended).toMatchObject({ outcome: 'rejected', sip: { code: 302 } });
});

test('A 422 extends the session interval', async () => {
  const { leg, ended } = rig.dial();
  const first = await rig.next(leg, 'INVITE');
  expect(header(first, 'Session-Expires')).toBe('300');
  rig.phone.send(
    rig.phone.answer(first, '422 Session Interval Too Small', { extra: ['Min-SE: 3600'] }),
    rig.port,
  );
  await rig.next(leg, 'ACK');
  const second = await rig.next(leg, 'INVITE');
  expect(header(second, 'Session-Expires')).toBe('3600');
  expect(header(second, 'Min-SE')).toBe('3600');
  rig.phone.send(rig.phone.answer(second, '486 Busy Here'), rig.port);
  await ended;
});

test.each([
  ['national', 'sip:0912345678@', '<sip:0223456789@carrier.example>'],
  ['e164_without_plus', 'sip:886912345678@', '<sip:886223456789@carrier.example>'],
] as const)('Numbers are written in the trunk’s format: %s', async (numberFormat, uri, from) => {
  const { leg, ended } = rig.dial({ numberFormat, fromDomain: 'carrier.example' });
  const invite = await rig.next(leg, 'INVITE');
  expect(invite).toContain(`INVITE ${uri}`);
  expect(header(invite, 'From')).toContain(from);
  rig.phone.send(rig.phone.answer(invite, '486 Busy Here'), rig.port);
  await ended;
});

test('The trunk’s headers are added', async () => {
  const headers = { 'X-Account': '42', 'User-Agent': 'PBX' };
  const { leg, ended } = rig.dial({ headers });
  const invite = await rig.next(leg, 'INVITE');
  expect(header(invite, 'X-Account')).toBe('42');
  expect(header(invite, 'User-Agent')).toBe('PBX');
  rig.phone.send(rig.phone.answer(invite, '486 Busy Here'), rig.port);
  await ended;
});

test('Requests go through the outbound proxy', async () => {
  const { leg, ended } = rig.dial({
    host: 'carrier.invalid',
    port: 5060,
    outboundProxy: `127.0.0.1:${rig.phone.port}`,
  });
  const invite = await rig.next(leg, 'INVITE');
  expect(invite).toContain('INVITE sip:+886912345678@carrier.invalid SIP/2.0');
  rig.phone.send(rig.phone.answer(invite, '486 Busy Here'), rig.port);
  await ended;
});

test('A 200 without Contact is acknowledged where it came from', async () => {
  const { leg, ended } = rig.dial();
  const invite = await rig.next(leg, 'INVITE');
  rig.phone.send(
    rig.phone.answer(invite, '200 OK', { body: SDP }).replace(/^Contact: .*\r\n/m, ''),
    rig.port,
  );
  await rig.next(leg, 'ACK');
  leg.hangup();
  rig.phone.send(rig.phone.answer(await rig.next(leg, 'BYE'), '200 OK'), rig.port);
  expect(await ended).toMatchObject({ outcome: 'local_hangup' });
});

test.each([
  ['the registration’s service route', {}],
  ['the outbound proxy and then the service route', { outboundProxy: 'sip:127.0.0.1:PORT' }],
])('A call over a registration goes by %s', async (_what, { outboundProxy }: { outboundProxy?: string }) => {
  const { phone } = rig;
  const hop = outboundProxy === undefined ? phone.port : 1;
  serviceRoute = [`sip:orig@127.0.0.1:${hop};lr`, 'sip:far.invalid;lr'];
  const { leg, ended } = rig.dial({
    host: 'carrier.invalid',
    port: 5060,
    register: true,
    outboundProxy: outboundProxy?.replace('PORT', String(phone.port)) ?? null,
  });
  const invite = await rig.next(leg, 'INVITE');
  expect(invite).toContain('INVITE sip:+886912345678@carrier.invalid SIP/2.0');
  expect(header(invite, 'Route')).toBe(`<sip:orig@127.0.0.1:${hop};lr>, <sip:far.invalid;lr>`);
  phone.send(phone.answer(invite, '486 Busy Here'), rig.port);
  await ended;
});

test('A reliable provisional response gets PRACK', async () => {
  const { leg, ended, events } = rig.dial();
  const invite = await rig.next(leg, 'INVITE');
  const extra = ['Require: 100rel', 'RSeq: 17'];
  rig.phone.send(rig.phone.answer(invite, '183 Session Progress', { extra, body: SDP }), rig.port);
  const prack = await rig.next(leg, 'PRACK');
  expect(header(prack, 'RAck')).toBe('17 1 INVITE');
  rig.phone.send(rig.phone.answer(prack, '200 OK'), rig.port);
  // The answer was in the reliable response; the 200 needs none. RFC 3262 section 5
  rig.phone.send(rig.phone.answer(invite, '200 OK'), rig.port);
  await rig.next(leg, 'ACK');
  await vi.waitFor(() => expect(events).toEqual(['early media', 'answered']));
  leg.hangup();
  rig.phone.send(rig.phone.answer(await rig.next(leg, 'BYE'), '200 OK'), rig.port);
  await ended;
});

test('A call without a free port fails before the INVITE, after its listeners are attached', async () => {
  const poor = await startTelephonyRig();
  poor.media.exhaust();
  async function* legs() {
    yield poor.dialUnrecorded();
  }
  for await (const leg of legs())
    expect(await recordLegEvents(leg).ended).toMatchObject({ outcome: 'trunk_error' });
  const { ended } = poor.dial();
  expect(await ended).toEqual({ outcome: 'trunk_error', sip: null, q850Cause: null });
  expect(poor.phone.received).toEqual([]);
  const refusal = { code: 'media_ports_exhausted' };
  expect(poor.errors.map(({ error }) => error)).toMatchObject([refusal, refusal]);
  await poor.close();
});
