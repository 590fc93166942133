import { expect, test, vi } from 'vitest';
import { startEmbeddedSipServer } from '../../sip/embed.ts';
import type { TraceEntry } from '../../sip/trace.ts';
import { header, Phone, SDP } from './support/phone.ts';
import { SECRET, serverOptions } from './support/rig.ts';
import { newApp } from './support/srf.ts';

test('An embedded server takes calls, counts them and traces the requested call', async () => {
  const server = await startEmbeddedSipServer(serverOptions({ trusted: [] }));
  const srf = newApp();
  await new Promise<void>((resolve) => {
    srf.connect({ host: '127.0.0.1', port: server.controlPort, secret: SECRET });
    srf.on('connect', () => resolve());
  });
  srf.invite((_req, res) => res.send(486));
  const phone = await Phone.open();
  const port = server.sipPorts[0]?.port ?? 0;
  const seen: TraceEntry[] = [];
  const unfollow = server.trace('shown', (entries) => seen.push(...entries));
  await server.stats();
  for (const callId of ['shown', 'hidden']) {
    const branch = `z9hG4bK-${callId}`;
    phone.send(phone.request('INVITE', port, { callId, branch, body: SDP }), port);
    const busy = await phone.next(new RegExp(`^SIP/2.0 486 .*Call-ID: ${callId}`, 's'));
    phone.send(phone.request('ACK', port, { callId, branch, to: header(busy, 'To') }), port);
  }
  await vi.waitFor(() => expect(seen.map(({ text }) => text.split(' ')[0])).toContain('ACK'));
  expect(seen.map(({ direction, text }) => `${direction} ${text.split('\r\n')[0]}`).slice(0, 3)).toEqual([
    `in INVITE sip:app@127.0.0.1:${port} SIP/2.0`,
    'out SIP/2.0 100 Trying',
    'out SIP/2.0 486 Busy Here',
  ]);
  expect(new Set(seen.map(({ callId }) => callId))).toEqual(new Set(['shown']));
  expect(seen[0]?.remote).toBe(`127.0.0.1:${phone.port}`);
  unfollow();
  expect(() => server.know([{ name: 't', sources: ['not-an-address'] }])).toThrow(RangeError);
  server.know([]);
  for (let count = 0; count < 20; count += 1) phone.send('INVITE rubbish\r\n\r\n', port);
  await vi.waitFor(async () => expect((await server.stats())['sources.banned']).toBe(1));
  expect((await server.stats())['messages.in']).toBeGreaterThanOrEqual(4);
  srf.disconnect();
  await phone.close();
  await server.close();
  await expect(server.stats()).rejects.toThrow('gone');
});

test('An embedded server that cannot start throws the reason', async () => {
  const options = serverOptions({ tlsPort: 0 });
  await expect(startEmbeddedSipServer(options)).rejects.toThrow('TLS needs both a key and a certificate');
});
