import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { afterEach, expect, test, vi } from 'vitest';
import { reservePort } from '../support/ports.ts';
import { type Authority, makeAuthority } from './support/authority.ts';
import { header, Phone, SDP } from './support/phone.ts';
import { type Rig, startRig } from './support/rig.ts';

/** Far longer than a shutdown takes. */
const LONG_HANDSHAKE_MS = 60_000;
const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

async function rigOf(...args: Parameters<typeof startRig>): Promise<Rig> {
  const rig = await startRig(...args);
  closers.push(() => rig.close());
  return rig;
}

const portOf = (rig: Rig, transport: string) =>
  rig.server.sipPorts.find((one) => one.transport === transport)?.port ?? 0;

let made: Promise<Authority> | undefined;
const authority = () => {
  made ??= makeAuthority('sip.example.test');
  return made;
};

async function silentConnections(port: number, count: number): Promise<Socket[]> {
  const sockets = Array.from({ length: count }, () => connect(port, '127.0.0.1'));
  for (const socket of sockets) socket.on('error', () => undefined);
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  return sockets;
}

test('TLS handshakes count as connections, time out and do not delay the shutdown', async () => {
  const rig = await rigOf({
    tlsPort: 0,
    tls: await authority(),
    maxConnectionsPerSource: 3,
    trusted: [],
    // A busy machine's own handshake, below, ends within it.
    connectionTimes: { handshakeMs: 1500 },
  });
  const stats = () => rig.server.stats();
  const sockets = await silentConnections(portOf(rig, 'tls'), 5);
  await vi.waitFor(() => expect(stats()['connections.refused']).toBe(2));
  expect(stats()['now.connections']).toBe(3);
  await vi.waitFor(() => expect(stats()['now.connections']).toBe(0), 10_000);
  // The three, and possibly refused ones that had sent bytes.
  expect(stats()['connections.failed']).toBeGreaterThanOrEqual(3);
  // TLS connections are accepted again.
  const client = connectTls({ port: portOf(rig, 'tls'), host: '127.0.0.1', rejectUnauthorized: false });
  await once(client, 'secureConnect');
  await vi.waitFor(() => expect(stats()['now.connections']).toBe(1));
  client.destroy();
  for (const socket of sockets) socket.destroy();

  const other = await rigOf({
    tlsPort: 0,
    tls: await authority(),
    connectionTimes: { handshakeMs: LONG_HANDSHAKE_MS },
  });
  const last = await silentConnections(portOf(other, 'tls'), 2);
  await vi.waitFor(() => expect(other.server.stats()['now.connections']).toBe(2));
  const startedMs = performance.now();
  await other.server.close();
  expect(performance.now() - startedMs).toBeLessThan(LONG_HANDSHAKE_MS / 2);
  for (const socket of last) socket.destroy();
});

test('Plain bytes on the TLS port are disconnected and counted', async () => {
  const rig = await rigOf({ tlsPort: 0, tls: await authority() });
  const [socket] = await silentConnections(portOf(rig, 'tls'), 1);
  socket?.write('OPTIONS sip:x SIP/2.0\r\n\r\n');
  socket?.resume();
  if (socket) await once(socket, 'close');
  expect(rig.server.stats()).toMatchObject({ 'connections.failed': 1, 'now.connections': 0 });
});

const TORN = (line: string, length: string | undefined) =>
  [
    line,
    'Via: SIP/2.0/TCP 127.0.0.1:9;rport;branch=z9hG4bKtorn',
    'From: <sip:phone@127.0.0.1>;tag=1',
    'To: <sip:app@127.0.0.1>',
    'Call-ID: torn',
    'CSeq: 1 OPTIONS',
    ...(length === undefined ? [] : [`Content-Length: ${length}`]),
    '',
    '',
  ].join('\r\n');

test.each([
  ['a negative length', TORN('OPTIONS sip:app@127.0.0.1 SIP/2.0', '-1'), '400', 'content_length'],
  ['no length', TORN('OPTIONS sip:app@127.0.0.1 SIP/2.0', undefined), '400', 'content_length'],
  ['a length beyond all bounds', TORN('OPTIONS sip:app@127.0.0.1 SIP/2.0', '70000'), '513', 'too_large'],
  ['blanks in the Request-URI', TORN('OPTIONS sip:app@127.0.0.1; lr SIP/2.0', '0'), '400', 'start_line'],
  ['another version', TORN('OPTIONS sip:app@127.0.0.1 SIP/3.0', '0'), '505', 'version'],
  ['another protocol', 'GET / HTTP/1.1\r\nHost: here\r\n\r\n', undefined, 'start_line'],
])('A TCP request with %s gets a response if possible, and the connection is closed', async (...given) => {
  const [, text, status, counter] = given;
  const rig = await rigOf();
  const [socket] = await silentConnections(portOf(rig, 'tcp'), 1);
  let heard = '';
  socket?.on('data', (bytes) => {
    heard += bytes.toString('latin1');
  });
  // Bytes after a malformed message cannot be framed.
  socket?.write(`${text}${TORN('OPTIONS sip:app@127.0.0.1 SIP/2.0', '0')}`);
  if (socket) await once(socket, 'end');
  expect(heard.match(/^SIP\/2.0 \d{3}/gm) ?? []).toEqual(status === undefined ? [] : [`SIP/2.0 ${status}`]);
  expect(rig.server.stats()).toMatchObject({ [`dropped.${counter}`]: 1 });
  socket?.destroy();
  await vi.waitFor(() => expect(rig.server.stats()['now.connections']).toBe(0));
});

test('A known peer can connect when all other connections are in use', async () => {
  const rig = await rigOf({ trusted: [], maxConnections: 2 });
  const others = await silentConnections(portOf(rig, 'tcp'), 3);
  await vi.waitFor(() => expect(rig.server.stats()['connections.refused']).toBe(1));
  rig.server.setKnownPeers([{ name: 'trunk', sources: ['127.0.0.1'] }]);
  const [trunk] = await silentConnections(portOf(rig, 'tcp'), 1);
  await vi.waitFor(() => expect(rig.server.stats()['now.connections']).toBe(3));
  for (const socket of [...others, ...(trunk ? [trunk] : [])]) socket.destroy();
});

test('A request to a closed UDP port fails at once', async () => {
  const rig = await rigOf();
  const placing = rig.srf.createUAC(`sip:unreachable@127.0.0.1:${await reservePort()}`, { localSdp: SDP });
  // A silent one gets 408 after 64·T1.
  expect(await placing.catch((error: { status: number }) => error.status)).toBe(503);
  expect(rig.server.stats()['now.clientTransactions']).toBe(0);
});

test('A slow UDP peer is waited for', async () => {
  const rig = await rigOf();
  const placing = rig.srf.createUAC(rig.phone.uri, { localSdp: SDP });
  const invite = await rig.phone.next(/^INVITE /);
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(rig.phone.received.filter((text) => text === '\r\n\r\n')).toHaveLength(1);
  rig.phone.send(rig.phone.answer(invite, '486 Busy Here'), rig.port);
  expect(await placing.catch((error: { status: number }) => error.status)).toBe(486);
});

test('A flood of calls gets stateless 503, and existing calls continue', async () => {
  const rig = await rigOf({ trusted: [], guard: { callsPerSecond: 0.001, callBurst: 5 } });
  rig.srf.invite((req, res) => void rig.srf.createUAS(req, res, { localSdp: SDP }));
  const { phone, port, server } = rig;
  phone.send(phone.request('INVITE', port, { callId: 'good', body: SDP }), port);
  const accepted = await phone.next(/^SIP\/2.0 200 .*Call-ID: good/s);
  const to = header(accepted, 'To');
  phone.send(phone.request('ACK', port, { callId: 'good', to }), port);

  const flood = Array.from({ length: 50 }, (_, call) =>
    phone.request('INVITE', port, { callId: `flood${call}` }),
  );
  for (const invite of flood) phone.send(invite, port);
  const refused = await phone.next(/^SIP\/2.0 503 .*Call-ID: flood49\r/s);
  expect(header(refused, 'Retry-After')).toBe('5');
  // A retransmission gets the same To tag, another request another one.
  phone.send(flood[49] ?? '', port);
  const again = await phone.next(/^SIP\/2.0 503 .*Call-ID: flood49\r/s);
  expect(header(again, 'To')).toBe(header(refused, 'To'));
  expect(header(again, 'To')).toMatch(/;tag=[0-9a-f]{16}$/);
  const other = await phone.next(/^SIP\/2.0 503 .*Call-ID: flood48\r/s);
  expect(header(other, 'To')).not.toBe(header(refused, 'To'));
  await vi.waitFor(() => expect(server.stats()['refused.flood']).toBeGreaterThanOrEqual(44));
  expect(server.stats()['now.serverTransactions']).toBeLessThanOrEqual(6);

  phone.send(phone.request('INVITE', port, { callId: 'good', to, cseq: 2, body: SDP }), port);
  await phone.next(/^SIP\/2.0 200 .*CSeq: 2 INVITE/s);
});

test('A call beyond the limit of waiting calls gets 503, also from a trusted source', async () => {
  const rig = await rigOf({ maxWaitingCalls: 2 });
  rig.srf.invite(() => undefined);
  const { phone, port } = rig;
  for (const callId of ['first', 'second', 'third'])
    phone.send(phone.request('INVITE', port, { callId, body: SDP }), port);
  await phone.next(/^SIP\/2.0 503 .*Call-ID: third/s);
  expect(rig.server.stats()['now.pendingRequests']).toBe(2);
});

test('Strangers fill half of the calls that wait, and a known peer has the rest', async () => {
  const rig = await rigOf({ trusted: [], maxWaitingCalls: 4 });
  const trunk = await Phone.open();
  closers.push(() => trunk.close());
  rig.server.setKnownPeers([{ name: 'trunk', sources: [`127.0.0.1:${trunk.port}`] }]);
  rig.srf.invite((req, res) => (req.get('Call-ID') === 'known' ? res.send(486) : undefined));
  const { phone, port } = rig;
  for (const callId of ['first', 'second', 'third'])
    phone.send(phone.request('INVITE', port, { callId, body: SDP }), port);
  await phone.next(/^SIP\/2.0 503 .*Call-ID: third/s);
  trunk.send(trunk.request('INVITE', port, { callId: 'known', body: SDP }), port);
  await trunk.next(/^SIP\/2.0 486 .*Call-ID: known/s);
});

test.each([
  ['a stranger', [], 603],
  ['a trunk', ['127.0.0.1'], 486],
])('The User-Agent of a scanner from %s', async (_, trusted, status) => {
  const rig = await rigOf({ trusted });
  rig.srf.invite((_req, res) => res.send(486));
  const extra = ['User-Agent: friendly-scanner'];
  rig.phone.send(rig.phone.request('INVITE', rig.port, { callId: 'scan', extra, body: SDP }), rig.port);
  await rig.phone.next(new RegExp(`^SIP/2.0 ${status} `));
});

test('The ban of a scanner does not affect a trunk at the same address', async () => {
  const trunk = await Phone.open();
  closers.push(() => trunk.close());
  const rig = await rigOf({ trusted: [`127.0.0.1:${trunk.port}`] });
  rig.srf.invite((_req, res) => res.send(486));
  for (let count = 0; count < 30; count += 1)
    rig.phone.sendBytes(Buffer.from('GET / HTTP/1.1\r\nHost: rubbish\r\n\r\n'), rig.port);
  await vi.waitFor(() => expect(rig.server.stats()['sources.banned']).toBe(1));
  rig.phone.send(rig.phone.request('INVITE', rig.port, { callId: 'banned', body: SDP }), rig.port);
  await vi.waitFor(() => expect(rig.server.stats()['dropped.banned']).toBeGreaterThan(0));
  trunk.send(trunk.request('INVITE', rig.port, { callId: 'trunk', body: SDP }), rig.port);
  await trunk.next(/^SIP\/2.0 486 /);
});

test('The latest provisional response is repeated until the final one', async () => {
  const rig = await rigOf({ controlTimes: { provisionalMs: 100 } });
  const { phone, port } = rig;
  const heard = (status: number) =>
    phone.received.filter((text) => text.startsWith(`SIP/2.0 ${status}`)).length;
  const heardTwice = (status: number) => vi.waitFor(() => expect(heard(status)).toBeGreaterThanOrEqual(2));
  rig.srf.invite(async (_req, res) => {
    res.send(180);
    await heardTwice(180);
    res.send(183, { body: SDP });
    await heardTwice(183);
    res.send(486);
  });
  phone.send(phone.request('INVITE', port, { callId: 'rings', body: SDP }), port);
  await phone.next(/^SIP\/2.0 486 /);
  const before = phone.received.map((text) => text.slice(8, 11));
  expect(before.indexOf('183')).toBeGreaterThan(before.lastIndexOf('180'));
  expect(before.indexOf('486')).toBeGreaterThan(before.lastIndexOf('183'));
  const count = heard(180) + heard(183);
  await new Promise((resolve) => setTimeout(resolve, 250));
  expect(heard(180) + heard(183)).toBe(count);
});
