import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { header, OTHER_SDP, SDP } from '../../support/phone.ts';
import { NO_STATE, type Rig, startRig, waitUntilDrained } from '../../support/rig.ts';
import type { SrfDialog, SrfRequest, SrfResponse } from '../../support/srf.ts';

let rig: Rig;
beforeEach(async () => {
  rig = await startRig();
});
afterEach(async () => rig.close());

/** Places a call that the phone answers. */
async function placed(extra: string[] = []): Promise<{ dialog: SrfDialog; invite: string }> {
  const { phone, port, srf } = rig;
  const placing = srf.createUAC(phone.uri, { localSdp: SDP });
  const invite = await phone.next(/^INVITE /);
  phone.send(phone.answer(invite, '200 OK', { body: OTHER_SDP, extra }), port);
  await phone.next(/^ACK /);
  return { dialog: await placing, invite };
}

test('An outgoing call rings, is answered, acknowledged and ended by us, and nothing remains', async () => {
  const { phone, port, srf, server } = rig;
  const provisional: number[] = [];
  const placing = srf.createUAC(
    phone.uri,
    { localSdp: SDP, headers: { From: '<sip:me@localhost>', 'x-tenant': 'a' } },
    { cbProvisional: (response) => provisional.push(response.status) },
  );
  const invite = await phone.next(/^INVITE /);
  expect(header(invite, 'From')).toMatch(new RegExp(`^<sip:me@127.0.0.1:${port}>;tag=[0-9a-f]{16}$`));
  expect(header(invite, 'Contact')).toContain(`127.0.0.1:${port}`);
  expect(header(invite, 'Max-Forwards')).toBe('70');
  expect(invite).toMatch(/^x-tenant: a\r$/m);
  phone.send(phone.answer(invite, '100 Trying'), port);
  phone.send(phone.answer(invite, '180 Ringing'), port);
  await vi.waitFor(() => expect(provisional).toEqual([180]));
  phone.send(phone.answer(invite, '200 OK', { body: OTHER_SDP }), port);
  const dialog = await placing;
  expect(dialog.remote.sdp).toBe(OTHER_SDP);
  const ack = await phone.next(/^ACK /);
  expect(header(ack, 'CSeq')).toBe(`${header(invite, 'CSeq').split(' ')[0]} ACK`);
  expect(header(ack, 'Via')).not.toBe(header(invite, 'Via'));
  const ending = dialog.destroy();
  phone.send(phone.answer(await phone.next(/^BYE /), '200 OK'), port);
  await ending;
  expect(await waitUntilDrained(server)).toEqual(NO_STATE);
});

test('Bare URIs in Contact, To and From are sent in angle brackets', async () => {
  const { phone, port, srf } = rig;
  const placing = srf.createUAC(phone.uri, {
    localSdp: SDP,
    headers: { Contact: 'sip:me@localhost', To: 'sip:you@localhost;x=1', From: 'sip:me@example.org' },
  });
  const invite = await phone.next(/^INVITE /);
  expect(header(invite, 'Contact')).toBe(`<sip:me@127.0.0.1:${port}>`);
  expect(header(invite, 'To')).toBe(`<sip:you@127.0.0.1:${port}>;x=1`);
  expect(header(invite, 'From')).toMatch(/^<sip:me@example\.org>;tag=[0-9a-f]{16}$/);
  phone.send(phone.answer(invite, '200 OK', { body: OTHER_SDP }), port);
  await phone.next(/^ACK /);
  await placing;
});

test('A bare URI in the Contact of a response is sent in angle brackets', async () => {
  const { phone, port, srf } = rig;
  srf.invite((_request, response) => response.send(302, { headers: { Contact: 'sip:you@example.org' } }));
  phone.send(phone.request('INVITE', port, { callId: 'moved', body: SDP }), port);
  expect(header(await phone.next(/^SIP\/2.0 302 /), 'Contact')).toBe('<sip:you@example.org>');
});

test('An INVITE is retransmitted until a response, and a retransmitted 200 gets the same ACK', async () => {
  const { phone, port, srf } = rig;
  const placing = srf.createUAC(phone.uri, { localSdp: SDP });
  await phone.next(/^INVITE /);
  const again = await phone.next(/^INVITE /);
  const ok = phone.answer(again, '200 OK', { body: SDP });
  phone.send(ok, port);
  await placing;
  const first = await phone.next(/^ACK /);
  phone.send(ok, port);
  // The identical ACK, which the peer recognizes.
  expect(await phone.next(/^ACK /)).toBe(first);
});

test('A refused TCP connection gives the application 503 at once', async () => {
  const { srf } = rig;
  const placing = srf.createUAC('sip:x@127.0.0.1:1;transport=tcp', { localSdp: SDP });
  expect(await placing.catch((error: { status: number }) => error.status)).toBe(503);
});

test('A CANCEL waits for the first provisional response', async () => {
  const { phone, port, srf, server } = rig;
  let request: SrfRequest | undefined;
  const placing = srf
    .createUAC(phone.uri, { localSdp: SDP }, { cbRequest: (_error, sent) => (request = sent) })
    .catch((error: { status: number }) => error.status);
  const invite = await phone.next(/^INVITE /);
  await vi.waitFor(() => expect(request).toBeDefined());
  request?.cancel();
  expect(await phone.receivesNone(/^CANCEL/, 100)).toBe(true);
  phone.send(phone.answer(invite, '180 Ringing'), port);
  const cancel = await phone.next(/^CANCEL /);
  expect(header(cancel, 'Via')).toBe(header(invite, 'Via'));
  expect(header(cancel, 'CSeq')).toBe('1 CANCEL');
  phone.send(phone.answer(cancel, '200 OK'), port);
  phone.send(phone.answer(invite, '487 Request Terminated'), port);
  expect(await placing).toBe(487);
  expect(await waitUntilDrained(server)).toEqual(NO_STATE);
});

test('A second 200 of a forked INVITE gets ACK and BYE', async () => {
  const { phone, port, srf } = rig;
  const placing = srf.createUAC(phone.uri, { localSdp: SDP });
  const invite = await phone.next(/^INVITE /);
  phone.send(phone.answer(invite, '200 OK', { tag: 'one', body: SDP }), port);
  await placing;
  await phone.next(/^ACK .*tag=one/s);
  phone.send(phone.answer(invite, '200 OK', { tag: 'two', body: SDP }), port);
  await phone.next(/^ACK .*tag=two/s);
  await phone.next(/^BYE .*tag=two/s);
  expect(await phone.receivesNone(/^BYE .*tag=one/s, 100)).toBe(true);
});

test('A reliable provisional response gets its PRACK, and its retransmission is not delivered', async () => {
  const { phone, port, srf } = rig;
  const shown = vi.fn();
  const placing = srf.createUAC(
    phone.uri,
    { localSdp: SDP, headers: { Supported: '100rel' } },
    { cbProvisional: (response: SrfResponse) => shown(response.status) },
  );
  const invite = await phone.next(/^INVITE /);
  const progress = phone.answer(invite, '183 Session Progress', {
    extra: ['Require: 100rel', 'RSeq: 7'],
    body: SDP,
  });
  phone.send(progress, port);
  const prack = await phone.next(/^PRACK /);
  expect(header(prack, 'RAck')).toBe('7 1 INVITE');
  expect(header(prack, 'CSeq')).toBe('2 PRACK');
  phone.send(progress, port);
  phone.send(phone.answer(prack, '200 OK'), port);
  phone.send(phone.answer(invite, '200 OK', { body: SDP }), port);
  const ack = await phone.next(/^ACK /);
  expect(header(ack, 'CSeq')).toBe('1 ACK');
  await placing;
  expect(shown).toHaveBeenCalledOnce();
});

test('In-dialog requests follow the route set', async () => {
  const { phone, port } = rig;
  const near = `<sip:127.0.0.1:${phone.port};lr;n=1>`;
  const far = '<sip:far.invalid;lr;n=2>';
  const { dialog } = await placed([`Record-Route: ${far}`, `Record-Route: ${near}`]);
  const ending = dialog.destroy();
  const bye = await phone.next(/^BYE /);
  expect([...bye.matchAll(/^Route: (.*)\r$/gm)].map((match) => match[1])).toEqual([near, far]);
  phone.send(phone.answer(bye, '200 OK'), port);
  await ending;
});

test.each([
  [
    'of an unknown host',
    ['Contact: <sip:pbx@no-such-host.invalid:5062>'],
    'sip:pbx@no-such-host.invalid:5062',
  ],
  ['that is *', ['Contact: *'], undefined],
  ['without a scheme', ['Contact: pbx@127.0.0.1'], undefined],
  ['that is a number', ['Contact: <tel:+886912345678>'], 'tel:+886912345678'],
  ['that we have no socket for', ['Contact: <sip:pbx@[::1]:5062>'], 'sip:pbx@[::1]:5062'],
  [
    'of a closed TCP port',
    ['Contact: <sip:pbx@127.0.0.1:1;transport=tcp>'],
    'sip:pbx@127.0.0.1:1;transport=tcp',
  ],
  [
    'behind an unknown proxy',
    ['Contact: <sip:pbx@h>', 'Record-Route: <sip:no-such-host.invalid;lr>'],
    'sip:pbx@h',
  ],
])('With a Contact %s in the 200, ACK and BYE go where it came from', async (_what, lines, target) => {
  const { phone, port, srf } = rig;
  const placing = srf.createUAC(phone.uri, { localSdp: SDP });
  const invite = await phone.next(/^INVITE /);
  const ok = phone.answer(invite, '200 OK', { body: OTHER_SDP });
  phone.send(ok.replace(/^Contact: .*\r\n/m, lines.map((line) => `${line}\r\n`).join('')), port);
  const uri = target ?? invite.split(' ')[1];
  expect(await phone.next(/^ACK /)).toContain(`ACK ${uri} SIP/2.0`);
  const ending = (await placing).destroy();
  const bye = await phone.next(/^BYE /);
  expect(bye).toContain(`BYE ${uri} SIP/2.0`);
  phone.send(phone.answer(bye, '200 OK'), port);
  await ending;
});

test('A request outside of calls takes the route that the application gives it', async () => {
  const { phone, port, srf } = rig;
  const route = `<sip:127.0.0.1:${phone.port};lr>, <sip:far.invalid;lr>`;
  const options = { method: 'OPTIONS', proxy: phone.uri, headers: { Route: route } };
  srf.request('sip:b@carrier.invalid', options, () => undefined);
  const sent = await phone.next(/^OPTIONS sip:b@carrier.invalid /);
  expect(header(sent, 'Route')).toBe(route);
  phone.send(phone.answer(sent, '200 OK'), port);
});

test('OPTIONS and REGISTER are sent, and their responses delivered', async () => {
  const { phone, port, srf } = rig;
  for (const method of ['OPTIONS', 'REGISTER']) {
    const answered = new Promise<number>((resolve, reject) => {
      srf.request(phone.uri, { method }, (error, request) => {
        if (error) reject(error);
        else request.on('response', (response: SrfResponse) => resolve(response.status));
      });
    });
    phone.send(phone.answer(await phone.next(new RegExp(`^${method} `)), '200 OK'), port);
    expect(await answered).toBe(200);
  }
});

test.each([
  ['to ourselves', () => `sip:me@127.0.0.1:${rig.port}`, {}, 'can not send request to myself'],
  ['a URI that is none', () => 'sip:@@', {}, 'invalid request-uri: OPTIONS sip:@@ SIP/2.0'],
  ['a body of no type', () => rig.phone.uri, { body: 'hello' }, 'missing content-type'],
  ['no TLS here', () => 'sips:x@127.0.0.1:9', {}, undefined],
])('A request that cannot be sent is refused: %s', async (_case, uri, options, message) => {
  const outcome = await new Promise<string | number>((resolve) => {
    rig.srf.request(uri(), { method: 'OPTIONS', ...options }, (error, request) => {
      if (error) resolve(error.message);
      else request.on('response', (response: SrfResponse) => resolve(response.status));
    });
  });
  expect(outcome).toBe(message ?? 503);
});
