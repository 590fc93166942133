import { expect, test } from 'vitest';
import { parseRoutableUri } from '../../../sip/message/fields/uri.ts';
import {
  type NaptrRecord,
  orderSrv,
  resolveTargets,
  type SrvRecord,
} from '../../../sip/transport/resolver.ts';

const srv = (name: string, priority: number, weight = 0): SrvRecord => ({
  name,
  port: 5070,
  priority,
  weight,
});

const naptr = (order: number, preference: number, service: string, replacement: string): NaptrRecord => ({
  order,
  preference,
  flags: 's',
  service,
  replacement,
});

const pointers: Record<string, NaptrRecord[]> = {
  'wants-tls.test': [
    naptr(10, 20, 'SIP+D2U', '_sip._udp.pool.test'),
    naptr(10, 10, 'SIPS+D2T', '_sips._tcp.pool.test'),
    naptr(5, 10, 'SIP+D2W', '_sip._ws.pool.test'),
  ],
  'udp-only.test': [naptr(10, 10, 'sip+d2u', '_sip._udp.pool.test')],
  'elsewhere.test': [{ ...naptr(10, 10, 'SIP+D2T', ''), flags: 'u' }],
};

const zones: Record<string, SrvRecord[]> = {
  '_sips._tcp.pool.test': [srv('a.test', 1)],
  '_sip._udp.pool.test': [srv('b.test', 1)],
  '_sip._tcp.elsewhere.test': [srv('b.test', 1)],
  '_sip._udp.both.test': [srv('b.test', 2), srv('a.test', 1)],
  '_sip._tcp.tcponly.test': [srv('a.test', 1)],
  '_sips._tcp.secure.test': [srv('a.test', 1)],
};
const hosts: Record<string, string[]> = {
  'a.test': ['192.0.2.1', '192.0.2.2'],
  'b.test': ['192.0.2.3'],
  'plain.test': ['192.0.2.9'],
};

async function resolve(uri: string): Promise<string> {
  const targets = await resolveTargets(parseRoutableUri(uri), {
    transports: ['udp', 'tcp', 'tls'],
    random: () => 0,
    dns: {
      naptr: async (name) => pointers[name] ?? [],
      srv: async (name) => zones[name] ?? [],
      addresses: async (host) => {
        const found = hosts[host];
        if (!found) throw new Error(`${host} is unknown`);
        return found;
      },
    },
  });
  return targets
    .map(
      ({ transport, address, port, servername }) =>
        `${transport} ${address}:${port}${servername ? ` (${servername})` : ''}`,
    )
    .join(', ');
}

test.each([
  ['sip:u@192.0.2.7', 'udp 192.0.2.7:5060'],
  ['sip:u@192.0.2.7:5080;transport=tcp', 'tcp 192.0.2.7:5080'],
  ['sips:u@192.0.2.7', 'tls 192.0.2.7:5061'],
  ['sip:u@[2001:db8::1]:5062', 'udp 2001:db8::1:5062'],
  ['sip:u@plain.test', 'udp 192.0.2.9:5060'],
  ['sip:u@plain.test:5099', 'udp 192.0.2.9:5099'],
  ['sip:u@both.test', 'udp 192.0.2.1:5070, udp 192.0.2.2:5070, udp 192.0.2.3:5070'],
  ['sip:u@tcponly.test', 'tcp 192.0.2.1:5070, tcp 192.0.2.2:5070'],
  ['sips:u@secure.test', 'tls 192.0.2.1:5070 (secure.test), tls 192.0.2.2:5070 (secure.test)'],
  ['sip:u@wants-tls.test', 'tls 192.0.2.1:5070 (wants-tls.test), tls 192.0.2.2:5070 (wants-tls.test)'],
  ['sip:u@udp-only.test', 'udp 192.0.2.3:5070'],
  ['sip:u@elsewhere.test', 'tcp 192.0.2.3:5070'],
  ['sip:u@x.test;maddr=192.0.2.44', 'udp 192.0.2.44:5060'],
])('%s resolves to %s', async (uri, expected) => {
  expect(await resolve(uri)).toBe(expected);
});

test.each(['sip:u@wants-tls.test;transport=udp', 'sips:u@udp-only.test'])(
  '%s does not resolve: records of other transports are ignored',
  async (uri) => {
    await expect(resolve(uri)).rejects.toThrow('is unknown');
  },
);

test('An unknown name throws', async () => {
  await expect(resolve('sip:u@nowhere.test')).rejects.toThrow('nowhere.test is unknown');
});

test.each([
  [0, 'light heavy last'],
  [0.95, 'heavy light last'],
])('Records of equal priority are chosen by weight (%d)', (draw, expected) => {
  const order = orderSrv([srv('last', 2, 0), srv('light', 1, 10), srv('heavy', 1, 90)], () => draw);
  expect(order.map(({ name }) => name).join(' ')).toBe(expected);
});
