import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { afterEach, expect, test, vi } from 'vitest';
import { header, Phone, SDP } from '../support/phone.ts';
import { connectApp, NO_STATE, type Rig, startRig, waitUntilDrained } from '../support/rig.ts';

let rig: Rig;
afterEach(async () => rig.close());

async function callUp(callId: string, extra: string[] = []): Promise<string> {
  const { phone, port, srf } = rig;
  srf.invite((req, res) => void srf.createUAS(req, res, { localSdp: SDP }));
  phone.send(phone.request('INVITE', port, { callId, extra, body: SDP }), port);
  const ok = await phone.next(/^SIP\/2.0 200 /);
  phone.send(phone.request('ACK', port, { callId, to: header(ok, 'To') }), port);
  await new Promise((resolve) => setTimeout(resolve, 50));
  return ok;
}

test('A call gets 480 when the application never responds', async () => {
  rig = await startRig({ controlTimes: { firstAnswerMs: 200 } });
  rig.srf.invite(() => undefined);
  const invite = rig.phone.request('INVITE', rig.port, { callId: 'mute', body: SDP });
  rig.phone.send(invite, rig.port);
  await rig.phone.next(/^SIP\/2.0 480 /);
  expect(await waitUntilDrained(rig.server)).toEqual(NO_STATE);
});

test('Waiting callers get 503 when the application disconnects', async () => {
  rig = await startRig();
  rig.srf.invite((_req, res) => res.send(180));
  rig.phone.send(rig.phone.request('INVITE', rig.port, { callId: 'left', body: SDP }), rig.port);
  await rig.phone.next(/^SIP\/2.0 180 /);
  rig.disconnect();
  await rig.phone.next(/^SIP\/2.0 503 /);
});

test('A shutdown sends BYE to established calls, 503 to waiting callers and CANCEL to ringing callees', async () => {
  rig = await startRig();
  const { phone, port, srf, server } = rig;
  srf.invite((req, res) => {
    if (req.get('Call-ID') === 'waits') res.send(180);
    else void srf.createUAS(req, res, { localSdp: SDP });
  });
  phone.send(phone.request('INVITE', port, { callId: 'in-dialog', body: SDP }), port);
  const ok = await phone.next(/^SIP\/2.0 200 /);
  phone.send(phone.request('ACK', port, { callId: 'in-dialog', to: header(ok, 'To') }), port);
  phone.send(phone.request('INVITE', port, { callId: 'waits', body: SDP }), port);
  await phone.next(/^SIP\/2.0 180 .*Call-ID: waits/s);
  const callee = await Phone.open();
  const placed = srf
    .createUAC(callee.uri, { localSdp: SDP })
    .catch((error: { status: number }) => error.status);
  callee.send(callee.answer(await callee.next(/^INVITE /), '180 Ringing'), port);
  await vi.waitFor(() => expect(server.stats()['now.dialogs']).toBe(3));

  const closing = server.close();
  const bye = await phone.next(/^BYE /);
  expect(header(bye, 'Reason')).toBe('SIP;cause=503;text="the SIP server ends"');
  phone.send(phone.answer(bye, '200 OK'), port);
  await phone.next(/^SIP\/2.0 503 .*Call-ID: waits/s);
  callee.send(callee.answer(await callee.next(/^CANCEL /), '200 OK'), port);
  phone.send(phone.request('INVITE', port, { callId: 'late', body: SDP }), port);
  await phone.next(/^SIP\/2.0 503 .*Call-ID: late/s);
  await closing;
  await callee.close();
  expect(await Promise.race([placed, 'nothing'])).toBe('nothing');
});

test('An application that reconnects keeps its calls and gets the frames it missed', async () => {
  rig = await startRig();
  rig.disconnect();
  const relay = await openRelay(rig.server.controlPort);
  const srf = await connectApp(rig.server, relay.port);
  const { phone, port, server } = rig;
  const infos: string[] = [];
  srf.invite(async (req, res) => {
    const dialog = await srf.createUAS(req, res, { localSdp: SDP });
    dialog.on('info', (info, answer) => {
      infos.push(info.get('CSeq'));
      answer.send(200);
    });
  });
  await vi.waitFor(() => expect(server.stats()['now.applications']).toBe(1));
  await new Promise((resolve) => setTimeout(resolve, 50));
  phone.send(phone.request('INVITE', port, { callId: 'kept', body: SDP }), port);
  const ok = await phone.next(/^SIP\/2.0 200 /);
  phone.send(phone.request('ACK', port, { callId: 'kept', to: header(ok, 'To') }), port);
  await new Promise((resolve) => setTimeout(resolve, 50));

  const returnedBefore = server.stats()['apps.returned'] ?? 0;
  relay.cut();
  await vi.waitFor(() => expect(server.stats()['now.applications']).toBe(0));
  phone.send(phone.request('INFO', port, { callId: 'kept', cseq: 2, to: header(ok, 'To') }), port);
  await phone.next(/^SIP\/2.0 200 .*CSeq: 2 INFO/s);
  expect(infos).toEqual(['2 INFO']);
  expect(server.stats()['now.dialogs']).toBe(1);
  expect(server.stats()['apps.returned']).toBe(returnedBefore + 1);
  srf.disconnect();
  await relay.close();
});

test('The calls of an application that does not reconnect end with a BYE and its Reason', async () => {
  rig = await startRig({ controlTimes: { graceMs: 100 } });
  await callUp('orphan');
  rig.disconnect();
  const bye = await rig.phone.next(/^BYE /);
  expect(header(bye, 'Reason')).toContain('application gone');
  rig.phone.send(rig.phone.answer(bye, '200 OK'), rig.port);
  expect(await waitUntilDrained(rig.server)).toEqual(NO_STATE);
});

test('A session that the caller does not refresh is ended', async () => {
  rig = await startRig({ controlTimes: { minSessionSeconds: 1 } });
  const ok = await callUp('expires', ['Supported: timer', 'Session-Expires: 1;refresher=uac']);
  expect(header(ok, 'Session-Expires')).toBe('1;refresher=uac');
  expect(header(ok, 'Require')).toBe('timer');
  const bye = await rig.phone.next(/^BYE /);
  expect(header(bye, 'Reason')).toContain('Session timer expired');
});

test('The server refreshes a session without the application', async () => {
  rig = await startRig({ controlTimes: { minSessionSeconds: 1 } });
  const { phone, port } = rig;
  await callUp('refreshed', ['Supported: timer', 'Session-Expires: 1;refresher=uas']);
  for (let round = 1; round <= 2; round += 1) {
    const refresh = await phone.next(/^INVITE /);
    expect(header(refresh, 'CSeq')).toBe(`${round} INVITE`);
    expect(header(refresh, 'Session-Expires')).toBe('1;refresher=uac');
    expect(refresh.endsWith(SDP)).toBe(true);
    phone.send(
      phone.answer(refresh, '200 OK', {
        tag: 'phone1',
        body: SDP,
        extra: ['Session-Expires: 1;refresher=uac'],
      }),
      port,
    );
    await phone.next(/^ACK /);
  }
});

test('A refresh answered 422 is repeated with the Min-SE of the peer', async () => {
  rig = await startRig({ controlTimes: { minSessionSeconds: 1 } });
  const { phone, port } = rig;
  await callUp('longer', ['Supported: timer', 'Session-Expires: 1;refresher=uas']);
  const refused = await phone.next(/^INVITE /);
  expect(header(refused, 'Min-SE')).toBe('');
  phone.send(phone.answer(refused, '422 Session Interval Too Small', { extra: ['Min-SE: 90'] }), port);
  const refresh = await phone.next(/^INVITE .*^CSeq: 2 /ms);
  expect([header(refresh, 'Session-Expires'), header(refresh, 'Min-SE')]).toEqual(['90;refresher=uac', '90']);
  phone.send(phone.answer(refresh, '200 OK', { body: SDP }), port);
  await phone.next(/^ACK .*^CSeq: 2 /ms);
});

test('Requests follow a peer that moves to another port', async () => {
  rig = await startRig();
  const { phone, port, srf } = rig;
  let ended: Promise<unknown> | undefined;
  srf.invite(async (req, res) => {
    const dialog = await srf.createUAS(req, res, { localSdp: SDP });
    dialog.on('info', (_info, answer) => {
      answer.send(200);
      ended = dialog.destroy();
    });
  });
  phone.send(phone.request('INVITE', port, { callId: 'moved', body: SDP }), port);
  const ok = await phone.next(/^SIP\/2.0 200 /);
  phone.send(phone.request('ACK', port, { callId: 'moved', to: header(ok, 'To') }), port);
  const moved = await Phone.open();
  // As through a NAT with a new binding: the message still names the old port.
  moved.send(
    phone
      .request('INFO', port, { callId: 'moved', cseq: 2, to: header(ok, 'To'), extra: [] })
      .replace(/;branch/, ';rport;branch'),
    port,
  );
  await moved.next(/^SIP\/2.0 200 /);
  const bye = await moved.next(/^BYE /);
  moved.send(moved.answer(bye, '200 OK'), port);
  await ended;
  await moved.close();
});

/** A relay before the control port; when it disconnects, drachtio-srf reconnects. */
async function openRelay(to: number): Promise<{ port: number; cut(): void; close(): Promise<void> }> {
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(to, '127.0.0.1');
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('error', () => socket.destroy());
      socket.on('close', () => sockets.delete(socket));
    }
    near.pipe(far).pipe(near);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    cut,
    close: () => {
      cut();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

/** Sends frames on a plain connection. @returns All bytes received until the server closes it. */
function exchangeFrames(...frames: string[]): Promise<string> {
  return new Promise((resolve) => {
    let got = '';
    const socket = connect(rig.server.controlPort, '127.0.0.1');
    socket.on('data', (bytes) => (got += bytes.toString()));
    socket.on('close', () => resolve(got));
    for (const frame of frames) socket.write(frame);
  });
}

test.each([
  ['a wrong secret', ['23#1|authenticate|wrong|tag'], 'NO|incorrect secret'],
  ['a command before authentication', ['14#1|route|invite'], 'NO|not authenticated'],
  ['a type unknown', ['22#1|authenticate|cymru|a\n'.slice(0, 25), '7#2|dance'], 'NO|Unknown message type'],
  ['one field only', ['22#1|authenticate|cymru|a', '4#what'], 'NO|Invalid message format'],
  ['no length', ['hello'], ''],
  ['a length of six digits', ['100000#'], ''],
])('The control connection is closed after %s', async (_case, frames, expected) => {
  rig = await startRig();
  const exact = frames.map((frame) => {
    const [, payload] = /^\d+#(.+)$/s.exec(frame.trim()) ?? [];
    return payload === undefined ? frame : `${payload.length}#${payload}`;
  });
  expect(await exchangeFrames(...exact)).toContain(expected);
});
