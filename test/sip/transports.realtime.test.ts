import { readFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import fc from 'fast-check';
import { afterEach, expect, test, vi } from 'vitest';
import { startSipServer } from '../../sip/server.ts';
import { header, SDP } from './support/phone.ts';
import { NO_STATE, type Rig, SECRET, serverOptions, startRig, waitUntilDrained } from './support/rig.ts';
import { newApp } from './support/srf.ts';

const fixture = (name: string) => readFileSync(new URL(`../fixtures/sip/${name}`, import.meta.url), 'utf8');
const key = fixture('key.pem');
const cert = fixture('cert.pem');
const OVER_TLS = { tlsPort: 0, tls: { key, cert, ca: cert, verify: true } };

const rigs: Rig[] = [];
afterEach(async () => {
  for (const rig of rigs.splice(0)) await rig.close();
});

async function rigOf(...args: Parameters<typeof startRig>): Promise<Rig> {
  const rig = await startRig(...args);
  rigs.push(rig);
  return rig;
}

const portOf = (rig: Rig, transport: string) =>
  rig.server.sipPorts.find((one) => one.transport === transport)?.port ?? 0;

test.each([
  ['tcp', (port: number) => `sip:b@127.0.0.1:${port};transport=tcp`],
  ['tls', (port: number) => `sips:b@127.0.0.1:${port}`],
  ['tls', (port: number) => `sip:b@127.0.0.1:${port};transport=tls`],
])('A call over %s uses one connection', async (transport, uriOf) => {
  const [caller, callee] = [await rigOf(OVER_TLS), await rigOf(OVER_TLS)];
  const protocols: string[] = [];
  callee.srf.invite(async (req, res) => {
    protocols.push(req.protocol);
    const dialog = await callee.srf.createUAS(req, res, { localSdp: SDP });
    dialog.on('info', async (_info, answer) => {
      answer.send(200);
      await dialog.destroy();
    });
  });
  const dialog = await caller.srf.createUAC(uriOf(portOf(callee, transport)), { localSdp: SDP });
  const ended = new Promise((resolve) => dialog.on('destroy', resolve));
  expect((await dialog.request({ method: 'INFO' })).status).toBe(200);
  await ended;
  expect(protocols).toEqual([transport]);
  expect(callee.server.stats()['now.connections']).toBe(1);
  expect(await waitUntilDrained(caller.server)).toEqual(NO_STATE);
  expect(await waitUntilDrained(callee.server)).toEqual(NO_STATE);
});

test('A call to a peer with an untrusted certificate fails', async () => {
  const [caller, callee] = [await rigOf({ tls: { verify: true } }), await rigOf(OVER_TLS)];
  const placing = caller.srf.createUAC(`sips:b@127.0.0.1:${portOf(callee, 'tls')}`, { localSdp: SDP });
  expect(await placing.catch((error: { status: number }) => error.status)).toBe(503);
  const careless = await rigOf({ tls: { verify: false } });
  callee.srf.invite((_req, res) => res.send(486));
  const second = careless.srf.createUAC(`sips:b@127.0.0.1:${portOf(callee, 'tls')}`, { localSdp: SDP });
  expect(await second.catch((error: { status: number }) => error.status)).toBe(486);
});

test('Applications can connect over TLS', async () => {
  const server = await startSipServer(
    serverOptions({ control: { port: 0, secret: SECRET, tls: { key, cert } } }),
  );
  const srf = newApp();
  await new Promise<void>((resolve, reject) => {
    srf.on('connect', (error: Error | null) => (error ? reject(error) : resolve()));
    srf.connect({ host: '127.0.0.1', port: server.controlPort, secret: SECRET, tls: { ca: cert } });
  });
  expect(server.stats()['now.applications']).toBe(1);
  srf.disconnect();
  await server.close();
});

test('A request too large for UDP is sent over TCP', async () => {
  const [caller, callee] = [await rigOf(), await rigOf()];
  const protocols: string[] = [];
  callee.srf.invite((req, res) => {
    protocols.push(req.protocol);
    res.send(486);
  });
  for (const padding of [0, 1300]) {
    const headers = { 'X-Padding': 'x'.repeat(padding) };
    await caller.srf
      .createUAC(`sip:b@127.0.0.1:${callee.port}`, { localSdp: SDP, headers })
      .catch(() => undefined);
  }
  expect(protocols).toEqual(['udp', 'tcp']);
});

test('A large request falls back to UDP when TCP is refused', async () => {
  const rig = await rigOf();
  const headers = { 'X-Padding': 'x'.repeat(1300) };
  const placing = rig.srf
    .createUAC(rig.phone.uri, { localSdp: SDP, headers })
    .catch((error: { status: number }) => error.status);
  const invite = await rig.phone.next(/^INVITE /);
  expect(header(invite, 'Via')).toContain('SIP/2.0/UDP');
  rig.phone.send(rig.phone.answer(invite, '486 Busy Here'), rig.port);
  expect(await placing).toBe(486);
});

test('Malformed, silent and slow streams are closed', async () => {
  const rig = await rigOf({ connectionTimes: { messageMs: 150 } });
  const sendOverTcp = (text: string) =>
    new Promise<string>((resolve) => {
      let got = '';
      const socket = connect(portOf(rig, 'tcp'), '127.0.0.1', () => socket.write(text));
      socket.on('data', (bytes) => (got += bytes.toString()));
      socket.on('error', () => undefined);
      socket.on('close', () => resolve(got));
    });
  await Promise.all([
    sendOverTcp('GET / HTTP/1.1\r\n\r\n'),
    sendOverTcp(''),
    sendOverTcp('INVITE sip:x SIP/2.0\r\nCall-'),
  ]);
  await vi.waitFor(() => expect(rig.server.stats()['now.connections']).toBe(0));
});

test('A response after the connection was closed goes to the port of the Via', async () => {
  const rig = await rigOf();
  rig.srf.invite((_req, res) => {
    setTimeout(() => res.send(486), 150);
  });
  const listener = createServer();
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  const { port } = listener.address() as AddressInfo;
  const answer = new Promise<string>((resolve) => {
    listener.on('connection', (socket) => {
      socket.once('data', (bytes) => {
        resolve(bytes.toString());
        socket.destroy();
      });
    });
  });
  const invite = rig.phone.request('INVITE', rig.port, { callId: 'closed', body: SDP });
  const socket = connect(portOf(rig, 'tcp'), '127.0.0.1', () => {
    socket.write(invite.replace(/SIP\/2.0\/UDP 127.0.0.1:\d+/, `SIP/2.0/TCP 127.0.0.1:${port}`));
    socket.once('data', () => socket.destroy());
  });
  expect(await answer).toMatch(/^SIP\/2.0 486 /);
  await new Promise<void>((resolve) => listener.close(() => resolve()));
});

test('A keep-alive ping gets a pong', async () => {
  const rig = await rigOf();
  const pong = await new Promise<string>((resolve) => {
    const socket = connect(portOf(rig, 'tcp'), '127.0.0.1', () => socket.write('\r\n\r\n'));
    socket.once('data', (bytes) => {
      resolve(bytes.toString());
      socket.destroy();
    });
  });
  expect(pong).toBe('\r\n');
});

test('Connections beyond the limit are refused', async () => {
  const rig = await rigOf({ trusted: [], maxConnectionsPerSource: 2 });
  const sockets = [1, 2, 3].map(() => connect(portOf(rig, 'tcp'), '127.0.0.1'));
  await vi.waitFor(() => expect(rig.server.stats()['connections.refused']).toBe(1));
  expect(rig.server.stats()['now.connections']).toBe(2);
  for (const socket of sockets) socket.destroy();
});

test('No datagram crashes the server or leaves state behind', async () => {
  const rig = await rigOf();
  rig.srf.invite((_req, res) => res.send(486));
  const template = rig.phone.request('INVITE', rig.port, {
    callId: 'fuzz',
    body: SDP,
    extra: ['Require: 100rel', 'Route: <sip:127.0.0.1;lr>'],
  });
  const [at] = [fc.integer({ min: 0, max: template.length })];
  const mutated = fc
    .tuple(at, at, fc.uint8Array({ maxLength: 12 }))
    .map(([from, length, bytes]) =>
      Buffer.concat([
        Buffer.from(template.slice(0, from), 'latin1'),
        bytes,
        Buffer.from(template.slice(from + (length % 20)), 'latin1'),
      ]),
    );
  const emptyVia = Buffer.from(template.replace(/^Via: .*$/m, 'Via: '), 'latin1');
  for (const [count, bytes] of [emptyVia, ...fc.sample(mutated, 1500)].entries()) {
    rig.phone.sendBytes(bytes, rig.port);
    // The kernel's buffers hold a few hundred at once.
    if (count % 50 === 0) await new Promise((resolve) => setTimeout(resolve, 2));
  }
  const branch = 'z9hG4bK-after';
  rig.phone.send(rig.phone.request('INVITE', rig.port, { callId: 'after', branch, body: SDP }), rig.port);
  await rig.phone.next(/^SIP\/2.0 486 .*Call-ID: after/s);
  rig.phone.send(rig.phone.request('ACK', rig.port, { callId: 'after', branch }), rig.port);
  expect(rig.server.stats()['errors.internal']).toBeUndefined();
  expect(await waitUntilDrained(rig.server, 10_000)).toEqual(NO_STATE);
});

test('A server on all addresses uses IPv4 and IPv6 addresses as its peers do', async () => {
  const caller = await rigOf({ host: '::' });
  expect(caller.server.sipPorts.map(({ transport, address }) => `${transport} ${address}`)).toEqual([
    'udp ::',
    'udp 0.0.0.0',
    'tcp ::',
  ]);
  for (const [host, transport] of [
    ['127.0.0.1', 'udp'],
    ['::1', 'udp'],
    ['127.0.0.1', 'tcp'],
  ] as const) {
    const callee = await rigOf({ host });
    const seen: string[] = [];
    callee.srf.invite((req, res) => {
      seen.push(`${req.get('Via')} ${req.get('Contact')}`);
      res.send(486);
    });
    const at = host.includes(':') ? `[${host}]` : host;
    const placing = caller.srf.createUAC(`sip:b@${at}:${callee.port};transport=${transport}`, {
      localSdp: SDP,
    });
    expect(await placing.catch((error: { status: number }) => error.status)).toBe(486);
    expect(seen[0]).toMatch(
      new RegExp(`^SIP/2.0/${transport.toUpperCase()} ${at.replace(/[[\]]/g, '\\$&')}:`),
    );
    expect(seen[0]).toContain(`<sip:${at}:${caller.port}`);
  }
});
