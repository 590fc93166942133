import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { header, OTHER_SDP, Phone, SDP } from '../../support/phone.ts';
import { NO_STATE, type Rig, startRig, waitUntilDrained } from '../../support/rig.ts';
import type { SrfDialog } from '../../support/srf.ts';

let rig: Rig;
beforeEach(async () => {
  rig = await startRig();
});
afterEach(async () => rig.close());

/** Calls the application up to its 200. @returns The To of the 200. */
async function call(callId: string, extra: string[] = []): Promise<string> {
  const { phone, port } = rig;
  phone.send(phone.request('INVITE', port, { callId, extra, body: SDP }), port);
  const ok = await phone.next(/^SIP\/2.0 200 .*CSeq: 1 INVITE/s);
  phone.send(phone.request('ACK', port, { callId, to: header(ok, 'To') }), port);
  return header(ok, 'To');
}

function answering(onDialog: (dialog: SrfDialog) => void = () => undefined): void {
  rig.srf.invite(async (req, res) => {
    const dialog = await rig.srf.createUAS(req, res, { localSdp: SDP });
    onDialog(dialog);
  });
}

test('An incoming call gets 100, 180 and 200, is ended by the caller, and nothing remains', async () => {
  const { phone, port, srf, server } = rig;
  const destroyed = vi.fn();
  srf.invite(async (req, res) => {
    res.send(180);
    const dialog = await srf.createUAS(req, res, { localSdp: SDP });
    dialog.on('destroy', (_bye, reason) => destroyed(reason));
  });
  phone.send(phone.request('INVITE', port, { callId: 'basic', body: SDP }), port);
  expect(await phone.next(/^SIP\/2.0 100 /)).not.toMatch(/^To:.*tag=/m);
  const ringing = await phone.next(/^SIP\/2.0 180 /);
  const ok = await phone.next(/^SIP\/2.0 200 /);
  expect(header(ok, 'To')).toBe(header(ringing, 'To'));
  expect(header(ok, 'Contact')).toBe(`<sip:127.0.0.1:${port}>`);
  expect(header(ok, 'Content-Type')).toBe('application/sdp');
  expect(ok.endsWith(SDP)).toBe(true);
  phone.send(phone.request('ACK', port, { callId: 'basic', to: header(ok, 'To') }), port);
  phone.send(phone.request('BYE', port, { callId: 'basic', cseq: 2, to: header(ok, 'To') }), port);
  await phone.next(/^SIP\/2.0 200 .*CSeq: 2 BYE/s);
  await vi.waitFor(() => expect(destroyed).toHaveBeenCalledWith('normal release'));
  expect(await waitUntilDrained(server)).toEqual(NO_STATE);
});

test('A call without an ACK gets a BYE, and the application the reason', async () => {
  const { phone, port, server } = rig;
  const reasons: string[] = [];
  answering((dialog) => dialog.on('destroy', (_bye, reason) => reasons.push(reason)));
  phone.send(phone.request('INVITE', port, { callId: 'no-ack', body: SDP }), port);
  const bye = await phone.next(/^BYE /, 5000);
  expect(header(bye, 'Reason')).toBe('SIP;cause=200;text="ACK timeout"');
  phone.send(phone.answer(bye, '200 OK'), port);
  await vi.waitFor(() => expect(reasons).toEqual(['ACK timeout']));
  expect(await waitUntilDrained(server)).toEqual(NO_STATE);
});

test('A CANCEL gets 200, its INVITE 487, and the application an event', async () => {
  const { phone, port, srf, server } = rig;
  const canceled = vi.fn();
  const late = vi.fn();
  srf.invite((req, res) => {
    res.send(180);
    req.on('cancel', () => {
      canceled();
      res.send(200, { body: SDP }, late);
    });
  });
  const branch = 'z9hG4bK-cancelled';
  phone.send(phone.request('INVITE', port, { callId: 'cancelled', branch, body: SDP }), port);
  await phone.next(/^SIP\/2.0 180 /);
  phone.send(phone.request('CANCEL', port, { callId: 'cancelled', branch }), port);
  await phone.next(/^SIP\/2.0 200 .*CSeq: 1 CANCEL/s);
  const ended = await phone.next(/^SIP\/2.0 487 .*CSeq: 1 INVITE/s);
  phone.send(phone.request('ACK', port, { callId: 'cancelled', branch, to: header(ended, 'To') }), port);
  await vi.waitFor(() => expect(canceled).toHaveBeenCalledOnce());
  await vi.waitFor(() =>
    expect(late.mock.calls[0]?.[0]).toBe('Response not sent due to unknown transaction'),
  );
  expect(await waitUntilDrained(server)).toEqual(NO_STATE);
});

test('A CANCEL after the 200 gets the tag of the 200 and has no effect', async () => {
  const { phone, port, srf } = rig;
  srf.invite((req, res) => void srf.createUAS(req, res, { localSdp: SDP }));
  const branch = 'z9hG4bK-late';
  phone.send(phone.request('INVITE', port, { callId: 'late', branch, body: SDP }), port);
  const accepted = await phone.next(/^SIP\/2.0 200 .*CSeq: 1 INVITE/s);
  phone.send(phone.request('CANCEL', port, { callId: 'late', branch }), port);
  const canceled = await phone.next(/^SIP\/2.0 200 .*CSeq: 1 CANCEL/s);
  const to = header(accepted, 'To');
  expect(header(canceled, 'To')).toBe(to);
  phone.send(phone.request('ACK', port, { callId: 'late', to }), port);
  phone.send(phone.request('BYE', port, { callId: 'late', to, cseq: 2 }), port);
  await phone.next(/^SIP\/2.0 200 .*CSeq: 2 BYE/s);
});

test('A CANCEL without an INVITE gets 481', async () => {
  const { phone, port } = rig;
  phone.send(phone.request('CANCEL', port, { callId: 'nothing' }), port);
  await phone.next(/^SIP\/2.0 481 /);
});

test('A re-INVITE that crosses another gets 491, one with an old CSeq 500', async () => {
  const { phone, port } = rig;
  let dialog: SrfDialog | undefined;
  answering((made) => {
    dialog = made;
  });
  const to = await call('glare');
  await vi.waitFor(() => expect(dialog).toBeDefined());
  void dialog?.modify(OTHER_SDP).catch(() => undefined);
  await phone.next(/^INVITE /);
  phone.send(phone.request('INVITE', port, { callId: 'glare', cseq: 2, to, body: SDP }), port);
  await phone.next(/^SIP\/2.0 491 /);
  phone.send(phone.request('INFO', port, { callId: 'glare', cseq: 1, to }), port);
  await phone.next(/^SIP\/2.0 500 .*Retry-After/s);
});

test.each(['INFO', 'REFER', 'NOTIFY', 'MESSAGE', 'UPDATE', 'OPTIONS'])(
  '%s is delivered both ways inside a call',
  async (method) => {
    const { phone, port } = rig;
    const got: string[] = [];
    let dialog: SrfDialog | undefined;
    answering((made) => {
      dialog = made;
      made.on(method.toLowerCase(), (req, res) => {
        got.push(req.method);
        res.send(202);
      });
    });
    const to = await call(`verb-${method}`);
    const extra = method === 'REFER' ? ['Refer-To: <sip:else@127.0.0.1>'] : [];
    phone.send(phone.request(method, port, { callId: `verb-${method}`, cseq: 2, to, extra }), port);
    await phone.next(new RegExp(`^SIP/2.0 202 .*CSeq: 2 ${method}`, 's'));
    expect(got).toEqual([method]);
    const asking = dialog?.request({ method, headers: { 'X-Test': 'é' } });
    const request = await phone.next(new RegExp(`^${method} `));
    expect(header(request, 'X-Test')).toBe('é');
    phone.send(phone.answer(request, '200 OK'), port);
    expect((await asking)?.status).toBe(200);
  },
);

test('Requests in an unknown dialog, and BYE and UPDATE outside a dialog, get 481', async () => {
  const { phone, port } = rig;
  phone.send(phone.request('INFO', port, { callId: 'ghost', to: '<sip:app@127.0.0.1>;tag=none' }), port);
  await phone.next(/^SIP\/2.0 481 /);
  phone.send(phone.request('BYE', port, { callId: 'ghost' }), port);
  await phone.next(/^SIP\/2.0 481 /);
});

test('A reliable provisional response is retransmitted until its PRACK, which is delivered', async () => {
  const { phone, port, srf } = rig;
  const pracked = vi.fn();
  srf.invite((req, res) => {
    res.send(
      183,
      { headers: { Require: '100rel' }, body: SDP },
      () => undefined,
      () => {
        pracked();
        void srf.createUAS(req, res, { localSdp: SDP });
      },
    );
  });
  phone.send(
    phone.request('INVITE', port, { callId: 'prack', extra: ['Supported: 100rel'], body: SDP }),
    port,
  );
  const first = await phone.next(/^SIP\/2.0 183 /);
  const again = await phone.next(/^SIP\/2.0 183 /);
  expect(header(again, 'RSeq')).toBe(header(first, 'RSeq'));
  const to = header(first, 'To');
  const wrong = ['RAck: 1 9 INVITE'];
  phone.send(phone.request('PRACK', port, { callId: 'prack', cseq: 2, to, extra: wrong }), port);
  await phone.next(/^SIP\/2.0 481 .*CSeq: 2 PRACK/s);
  // What follows the method is ignored.
  const right = [`RAck: ${header(first, 'RSeq')} 1 INVITE 7`];
  phone.send(phone.request('PRACK', port, { callId: 'prack', cseq: 3, to, extra: right }), port);
  await phone.next(/^SIP\/2.0 200 .*CSeq: 3 PRACK/s);
  await phone.next(/^SIP\/2.0 200 .*CSeq: 1 INVITE/s);
  expect(pracked).toHaveBeenCalledOnce();
});

test('A reliable response is refused to the application when the caller does not support 100rel', async () => {
  const { phone, port, srf } = rig;
  const refused = vi.fn();
  srf.invite((_req, res) => res.send(183, { headers: { Require: '100rel' } }, refused));
  phone.send(phone.request('INVITE', port, { callId: 'no100rel', body: SDP }), port);
  await vi.waitFor(() => expect(refused.mock.calls[0]?.[0]).toBe('Remote endpoint does not support 100rel'));
});

test('An UPDATE with a short session interval gets 422 with Min-SE', async () => {
  const { phone, port } = rig;
  answering();
  const to = await call('short');
  const extra = ['Supported: timer', 'Session-Expires: 60;refresher=uac'];
  phone.send(phone.request('UPDATE', port, { callId: 'short', cseq: 2, to, extra }), port);
  const refused = await phone.next(/^SIP\/2.0 [2-6].*CSeq: 2 UPDATE/s);
  expect([refused.split('\r\n')[0], header(refused, 'Min-SE')]).toEqual([
    'SIP/2.0 422 Session Interval Too Small',
    '90',
  ]);
});

test.each([
  ['a method that no application wants', 'OPTIONS', [], 405],
  ['an extension that we lack', 'INVITE', ['Require: fantasy'], 420],
  ['a session that is too short', 'INVITE', ['Supported: timer', 'Session-Expires: 60'], 422],
] as const)('%s gets an immediate response', async (_case, method, extra, status) => {
  const { phone, port } = rig;
  answering();
  phone.send(phone.request(method, port, { callId: `refusal-${status}`, extra: [...extra] }), port);
  await phone.next(new RegExp(`^SIP/2.0 ${status} `));
});

test('An unknown method gets 501 with Allow; one that had a route gets 503 with Retry-After', async () => {
  const { phone, port, srf } = rig;
  srf.invite((_req, res) => res.send(486));
  const ask = async (method: string) => {
    phone.send(phone.request(method, port, { callId: method }), port);
    return await phone.next(new RegExp(`^SIP/2.0 [2-6].*^CSeq: 1 ${method}`, 'ms'));
  };
  const refused = await vi.waitFor(() => ask('DANCE'));
  expect(refused).toMatch(/^SIP\/2.0 501 /);
  expect(header(refused, 'Allow')).toBe('INVITE, ACK, BYE, CANCEL, PRACK, UPDATE');
  rig.disconnect();
  await vi.waitFor(() => expect(rig.server.stats()['now.applications']).toBe(0));
  expect(header(await ask('INVITE'), 'Retry-After')).toBe('5');
});

test('An unsupported extension gets 420 inside a dialog too', async () => {
  const { phone, port } = rig;
  answering();
  phone.send(phone.request('INVITE', port, { callId: 'strange', body: SDP }), port);
  const to = header(await phone.next(/^SIP\/2.0 200 /), 'To');
  phone.send(phone.request('ACK', port, { callId: 'strange', to }), port);
  const extra = ['Require: timer, fantasy'];
  phone.send(phone.request('INFO', port, { callId: 'strange', cseq: 2, to, extra }), port);
  expect(header(await phone.next(/^SIP\/2.0 420 /), 'Unsupported')).toBe('fantasy');
});

test.each([
  'X-Broken header',
  'X Broken: 1',
  'Session-Expires: ',
  'Expires: Thu, 01 Dec 2026 16:00:00 GMT',
  'Date: Sat, 28 Nov 2026 17:00:00 +0800',
])('An INVITE with the malformed line %j is answered', async (line) => {
  const { phone, port } = rig;
  answering();
  const callId = `malformed ${line}`.replace(/\W/g, '-');
  phone.send(phone.request('INVITE', port, { callId, extra: [line], body: SDP }), port);
  const to = header(await phone.next(/^SIP\/2.0 200 /), 'To');
  phone.send(phone.request('ACK', port, { callId, to }), port);
  phone.send(phone.request('BYE', port, { callId, cseq: 2, to }), port);
  await phone.next(/^SIP\/2.0 200 .*BYE/s);
});

test.each([
  ['without', ''],
  ['with a wildcard for', 'Contact: *\r\n'],
])('An INVITE %s Contact gets 400', async (_case, contact) => {
  const { phone, port } = rig;
  answering();
  const invite = phone.request('INVITE', port, { callId: 'contactless' });
  phone.send(invite.replace(/Contact:.*\r\n/, contact), port);
  await phone.next(/^SIP\/2.0 400 /);
});

test('With a host name in Via the response goes to the port of the Via', async () => {
  const { port, phone } = rig;
  answering();
  const listening = await Phone.open();
  const invite = phone.request('OPTIONS', port, { callId: 'named' });
  phone.send(invite.replace(/(UDP )127.0.0.1:\d+/, `$1sbc.example:${listening.port}`), port);
  expect(header(await listening.next(/^SIP\/2.0 405 /), 'Via')).toContain(';received=127.0.0.1');
  await listening.close();
});

test('A merged INVITE is rejected while its call is pending and established', async () => {
  const { phone, port, srf } = rig;
  srf.invite((req, res) => {
    if (req.get('CSeq').startsWith('4')) return res.send(486);
    res.send(180);
    setTimeout(() => void srf.createUAS(req, res, { localSdp: SDP }), 100);
  });
  const again = (cseq: number, branch: string) =>
    phone.send(phone.request('INVITE', port, { callId: 'forked', cseq, branch, body: SDP }), port);
  again(3, 'z9hG4bK-one');
  await phone.next(/^SIP\/2.0 180 /);
  again(3, 'z9hG4bK-two');
  await phone.next(/^SIP\/2.0 482 .*z9hG4bK-two/s);
  await phone.next(/^SIP\/2.0 200 .*z9hG4bK-one/s);
  again(3, 'z9hG4bK-three');
  await phone.next(/^SIP\/2.0 482 .*z9hG4bK-three/s);
  // A second call of the same caller is not merged.
  again(4, 'z9hG4bK-four');
  await phone.next(/^SIP\/2.0 486 .*z9hG4bK-four/s);
});

test.each(['0', '00'])('An INVITE with Max-Forwards %s gets 483', async (hops) => {
  const { phone, port } = rig;
  answering();
  const text = phone.request('INVITE', port, { callId: 'tired', body: SDP });
  phone.send(text.replace('Max-Forwards: 70', `Max-Forwards: ${hops}`), port);
  await phone.next(/^SIP\/2.0 483 /);
});
