import { expect, test } from 'vitest';
import { createTcpUpgrade } from '../../../../sip/control/uac/tcpUpgrade.ts';
import { SipHeaders } from '../../../../sip/message/headers.ts';
import type { SipRequest } from '../../../../sip/message/message.ts';
import { simulatedClock } from '../../support/simulatedClock.ts';

const request = (bodyBytes: number, uri = 'sip:a@192.0.2.1'): SipRequest => ({
  kind: 'request',
  method: 'INVITE',
  uri,
  headers: new SipHeaders(),
  body: 'x'.repeat(bodyBytes),
});
const udp = { transport: 'udp', address: '192.0.2.1', port: 5060 } as const;
const tcp = { ...udp, transport: 'tcp' } as const;

test.each([
  ['a small request', request(1180), [udp]],
  ['a large one', request(1181), [tcp, udp]],
  ['a large one whose URI insists', request(1181, 'sip:a@192.0.2.1;transport=UDP'), [udp]],
])('The targets of %s', (_case, large, expected) => {
  expect(createTcpUpgrade(simulatedClock()).withTcpTargets(large, [udp])).toEqual(expected);
});

test('TCP is skipped for ten minutes after a failure', () => {
  const clock = simulatedClock();
  const widening = createTcpUpgrade(clock);
  expect([
    widening.isUpgrade(tcp, [udp]),
    widening.isUpgrade(tcp, []),
    widening.isUpgrade(udp, [udp]),
  ]).toEqual([true, false, false]);
  widening.markUdpOnly(tcp);
  expect(widening.withTcpTargets(request(2000), [udp, { ...udp, port: 5070 }])).toHaveLength(3);
  clock.advance(600_000);
  expect(widening.withTcpTargets(request(2000), [udp])).toEqual([tcp, udp]);
});
