import { expect, test, vi } from 'vitest';
import { startEmbeddedSipServer } from '../../sip/embed.ts';
import { parseMessage } from '../../sip/message/parse.ts';
import { createRefusalBatches, type RefusedInvite } from '../../sip/refusals.ts';
import type { TraceEntry } from '../../sip/trace.ts';
import type { Flow } from '../../sip/transport/types.ts';
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
  expect(() => server.setKnownPeers([{ name: 't', sources: ['not-an-address'] }])).toThrow(RangeError);
  server.setKnownPeers([]);
  for (let count = 0; count < 20; count += 1) phone.send('INVITE rubbish\r\n\r\n', port);
  await vi.waitFor(async () => expect((await server.stats())['sources.banned']).toBe(1));
  expect((await server.stats())['messages.in']).toBeGreaterThanOrEqual(4);
  srf.disconnect();
  await phone.close();
  await server.close();
  await expect(server.stats()).rejects.toThrow('gone');
});

test('An embedded server tells of the INVITEs that it rejects itself', async () => {
  const heard: RefusedInvite[] = [];
  const server = await startEmbeddedSipServer(serverOptions({ trusted: [] }), (some) => heard.push(...some));
  const phone = await Phone.open();
  const port = server.sipPorts[0]?.port ?? 0;
  const invite = (callId: string) =>
    phone.request('INVITE', port, { callId, branch: `z9hG4bK-${callId}`, body: SDP });
  phone.send(invite('unrouted'), port);
  phone.send(invite('scanner').replace('\r\n', '\r\nUser-Agent: friendly-scanner\r\n'), port);
  phone.send(invite('malformed').replace(/CSeq: .*/, 'CSeq: 1 OPTIONS'), port);
  phone.send(invite('unparsable').replace(/Content-Length: \d+/, 'Content-Length: x'), port);
  phone.send(invite('in a dialog').replace(/(To: .*)/, '$1;tag=1'), port);
  await vi.waitFor(() => expect(heard).toHaveLength(4));
  expect(heard.map(({ callId, status }) => [callId, status])).toEqual([
    ['unrouted', 503],
    ['scanner', 603],
    ['malformed', 400],
    ['unparsable', 400],
  ]);
  expect(heard[0]).toMatchObject({
    address: '127.0.0.1',
    port: phone.port,
    uri: `sip:app@127.0.0.1:${port}`,
  });
  await phone.close();
  await server.close();
});

test('A flood of refused INVITEs is counted by status in few reports', () => {
  const batches: RefusedInvite[][] = [];
  const { observe, close } = createRefusalBatches((refused) => batches.push(refused));
  const request = parseMessage(
    Buffer.from('INVITE sip:a@b SIP/2.0\r\nTo: <sip:a@b>\r\nCall-ID: c\r\nContent-Length: 0\r\n\r\n'),
  );
  if (request.kind !== 'request') throw new Error('not a request');
  const flow = { remote: { transport: 'udp', address: '192.0.2.1', port: 5060 } } as Flow;
  for (let index = 0; index < 1000; index += 1) observe(request, index % 2 === 0 ? 503 : 400, flow);
  close();
  expect(batches.map((batch) => batch.length)).toEqual([50]);
  const total = (status: number) =>
    batches.flat().reduce((sum, one) => sum + (one.status === status ? one.count : 0), 0);
  expect([total(503), total(400)]).toEqual([500, 500]);
});

test('An embedded server that cannot start throws the reason', async () => {
  const options = serverOptions({ tlsPort: 0 });
  await expect(startEmbeddedSipServer(options)).rejects.toThrow('TLS needs both a key and a certificate');
});
