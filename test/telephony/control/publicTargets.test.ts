import { expect, test } from 'vitest';
import type { OutgoingRequest } from '../../../src/telephony/control/connection.ts';
import { publicTargetsOnly } from '../../../src/telephony/control/publicTargets.ts';
import { resolveSipHost } from '../../../src/telephony/trunks/directory.ts';
import { createFakeControl } from '../../support/fakeControl.ts';

const IGNORED = { onResponse: () => undefined, onConnectionLost: () => undefined };
const NAMES: Readonly<Record<string, readonly string[]>> = {
  'sip.example.com': ['8.8.8.8', '2001:4860:4860::8888'],
  'inside.example.com': ['10.0.0.1'],
  'mixed.example.com': ['8.8.8.8', '127.0.0.1'],
  'mapped.example.com': ['::ffff:127.0.0.1'],
  'pbx.example.com': ['192.168.1.2'],
};

function send(request: Omit<OutgoingRequest, 'method'>) {
  const control = createFakeControl();
  const guarded = publicTargetsOnly(control, {
    resolve: async (host) => NAMES[host] ?? (await resolveSipHost(host)),
    isPrivatePeer: (address) => address === '192.168.1.2',
  });
  return guarded.request({ method: 'INVITE', ...request }, IGNORED).then(
    () => control.sent.length,
    (error: Error) => error.message,
  );
}

test.each([
  'sip:1@sip.example.com',
  'sip:8.8.8.8:5070',
  'sip:[2001:4860:4860::8888]',
  'sip:1@pbx.example.com',
  'sip:192.168.1.2',
])('A request to %s is sent', async (uri) => {
  expect(await send({ uri })).toBe(1);
});

test.each([
  'sip:127.0.0.1',
  'sip:1@10.0.0.1:5060',
  'sip:[::1]',
  'sip:1@inside.example.com;transport=tcp',
  'sip:mixed.example.com',
  'sips:mapped.example.com',
  'sip:localhost',
  // The system's resolver reads both as 127.0.0.1.
  'sip:2130706433',
  'sip:127.1',
  'sip:nowhere.invalid',
])('A request to %s is refused', async (uri) => {
  expect(await send({ uri })).toMatch(/has no public address/);
  expect(await send({ uri: 'sip:1@sip.example.com', route: uri })).toMatch(/has no public address/);
});

test('The route is where a request goes, and requests of a call are the SIP server’s', async () => {
  expect(await send({ uri: 'sip:1@10.0.0.1', route: 'sip:sip.example.com;lr' })).toBe(1);
  expect(await send({ uri: 'sip:1@10.0.0.1', dialogId: 'd' })).toBe(1);
  expect(await send({ uri: 'sip:1@10.0.0.1', transactionId: 't' })).toBe(1);
  expect(await send({ uri: 'tel:+15551234' })).toBe('the next hop has no host');
});
