import { spawn } from 'node:child_process';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { startSipServer } from '../../sip/server.ts';
import type { DnsQueries } from '../../sip/transport/resolver.ts';
import { type Authority, makeAuthority } from './support/authority.ts';
import { SDP } from './support/phone.ts';
import { connectApp, type Rig, serverOptions, startRig } from './support/rig.ts';

/** Resolves every name to this machine. */
const dns: DnsQueries = { naptr: async () => [], srv: async () => [], addresses: async () => ['127.0.0.1'] };

let authority: Authority;
let stranger: Authority;
let callee: Rig;
const closers: (() => Promise<void>)[] = [];

beforeAll(async () => {
  [authority, stranger] = await Promise.all([
    makeAuthority('sip.example.test'),
    makeAuthority('sip.example.test'),
  ]);
  callee = await startRig({ tlsPort: 0, tls: authority });
  callee.srf.invite((_req, res) => res.send(486));
});
afterAll(async () => callee.close());
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

const tlsPort = () => callee.server.sipPorts.find(({ transport }) => transport === 'tls')?.port ?? 0;

/** The status of a call over TLS: the callee's 486, or 503 without a connection. */
async function callOutcome(host: string, tls: { ca?: string; verify: boolean }): Promise<number> {
  const server = await startSipServer(serverOptions({ tls }), {}, { dns });
  const srf = await connectApp(server);
  closers.push(async () => {
    srf.disconnect();
    await server.close();
  });
  return srf.createUAC(`sip:app@${host}:${tlsPort()};transport=tls`, { localSdp: SDP }).then(
    () => 200,
    (error: { status: number }) => error.status,
  );
}

test.each([
  [
    'the name that its authority vouches for',
    'sip.example.test',
    () => ({ ca: authority.ca, verify: true }),
    486,
  ],
  ['another name', 'other.example.test', () => ({ ca: authority.ca, verify: true }), 503],
  ['an address in the place of a name', '127.0.0.1', () => ({ ca: authority.ca, verify: true }), 503],
  ['a certificate of an unknown authority', 'sip.example.test', () => ({ verify: true }), 503],
  [
    'an authority of the same name, but another one',
    'sip.example.test',
    () => ({ ca: stranger.ca, verify: true }),
    503,
  ],
  ['nothing at all, where that is not asked for', 'other.example.test', () => ({ verify: false }), 486],
])('A TLS peer with %s', async (_, host, tls, status) => {
  expect(await callOutcome(host, tls())).toBe(status);
});

test('OpenSSL sends OPTIONS over TLS and gets a response', async () => {
  callee.srf.options((_req, res) => res.send(200));
  const child = spawn('openssl', ['s_client', '-quiet', '-connect', `127.0.0.1:${tlsPort()}`], {
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  child.stdin.write(
    [
      'OPTIONS sip:app@127.0.0.1 SIP/2.0',
      'Via: SIP/2.0/TLS 127.0.0.1:5061;branch=z9hG4bK-openssl',
      'From: <sip:openssl@127.0.0.1>;tag=1',
      'To: <sip:app@127.0.0.1>',
      'Call-ID: openssl',
      'CSeq: 1 OPTIONS',
      'Max-Forwards: 70',
      'Content-Length: 0',
      '',
      '',
    ].join('\r\n'),
  );
  const answer = await new Promise<string>((resolve) =>
    child.stdout.once('data', (bytes) => resolve(String(bytes))),
  );
  expect(answer).toMatch(/^SIP\/2\.0 200 OK\r\nVia: SIP\/2\.0\/TLS 127\.0\.0\.1:5061;/);
  child.kill();
});
