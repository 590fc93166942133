import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bareHost, classifyAddress, classifyHostname } from '../../src/http/address.ts';

describe('classifyAddress', () => {
  it.each([
    ['0.0.0.0', 'unspecified'],
    ['0.255.255.255', 'unspecified'],
    ['1.0.0.0', 'public'],
    ['9.255.255.255', 'public'],
    ['10.0.0.0', 'private'],
    ['10.255.255.255', 'private'],
    ['11.0.0.0', 'public'],
    ['100.63.255.255', 'public'],
    ['100.64.0.0', 'shared'],
    ['100.100.100.200', 'shared'],
    ['100.127.255.255', 'shared'],
    ['100.128.0.0', 'public'],
    ['126.255.255.255', 'public'],
    ['127.0.0.1', 'loopback'],
    ['127.255.255.255', 'loopback'],
    ['128.0.0.0', 'public'],
    ['168.63.129.15', 'public'],
    ['168.63.129.16', 'reserved'],
    ['169.253.255.255', 'public'],
    ['169.254.169.254', 'link_local'],
    ['169.255.0.0', 'public'],
    ['172.15.255.255', 'public'],
    ['172.16.0.0', 'private'],
    ['172.31.255.255', 'private'],
    ['172.32.0.0', 'public'],
    ['192.0.0.192', 'reserved'],
    ['192.0.1.0', 'public'],
    ['192.0.2.1', 'documentation'],
    ['192.88.99.1', 'reserved'],
    ['192.168.0.1', 'private'],
    ['192.169.0.0', 'public'],
    ['198.17.255.255', 'public'],
    ['198.18.0.0', 'benchmarking'],
    ['198.19.255.255', 'benchmarking'],
    ['198.20.0.0', 'public'],
    ['198.51.100.1', 'documentation'],
    ['203.0.113.1', 'documentation'],
    ['223.255.255.255', 'public'],
    ['224.0.0.1', 'multicast'],
    ['239.255.255.255', 'multicast'],
    ['240.0.0.0', 'reserved'],
    ['255.255.255.254', 'reserved'],
    ['255.255.255.255', 'broadcast'],
  ])('classifies IPv4 %s as %s', (address, expected) => {
    expect(classifyAddress(address)).toBe(expected);
  });

  it.each([
    ['::', 'unspecified'],
    ['::1', 'loopback'],
    ['::2', 'unspecified'],
    ['2606:4700:4700::1111', 'public'],
    ['2a00:1450:4001:80b::200e', 'public'],
    ['3fff:1000::1', 'public'],
    ['fc00::1', 'private'],
    ['fd00:ec2::254', 'private'],
    ['fe80::1', 'link_local'],
    ['fe80::1%eth0', 'link_local'],
    ['2606:4700:4700::1111%eth0', 'link_local'],
    ['febf::1', 'link_local'],
    ['fec0::1', 'site_local'],
    ['feff::1', 'site_local'],
    ['ff02::1', 'multicast'],
    ['2001:2::1', 'benchmarking'],
    ['2001:2:1::1', 'reserved'],
    ['2001:10::1', 'reserved'],
    ['2001:db8::1', 'documentation'],
    ['3fff::1', 'documentation'],
    ['100::1', 'reserved'],
    ['64:ff9b:1::7f00:1', 'reserved'],
    ['5f00::1', 'reserved'],
    ['4000::1', 'reserved'],
  ])('classifies IPv6 %s as %s', (address, expected) => {
    expect(classifyAddress(address)).toBe(expected);
  });

  it.each([
    ['IPv4-compatible', '::7f00:1', 'loopback'],
    ['IPv4-compatible', '::8.8.8.8', 'public'],
    ['IPv4-mapped', '::ffff:127.0.0.1', 'loopback'],
    ['IPv4-mapped', '::ffff:a9fe:a9fe', 'link_local'],
    ['IPv4-mapped', '::ffff:8.8.8.8', 'public'],
    ['IPv4-translated', '::ffff:0:10.0.0.1', 'private'],
    ['NAT64', '64:ff9b::192.168.1.1', 'private'],
    ['NAT64', '64:ff9b::808:808', 'public'],
    ['6to4', '2002:7f00:1::', 'loopback'],
    ['6to4', '2002:a00:1:ffff::1', 'private'],
    ['6to4', '2002:808:808::1', 'public'],
    // Server 8.8.8.8, flags 0, port 0, client 10.0.0.1 inverted.
    ['Teredo client', '2001:0:808:808::f5ff:fffe', 'private'],
    // Server 127.0.0.1, client 8.8.8.8 inverted.
    ['Teredo server', '2001:0:7f00:1::f7f7:f7f7', 'loopback'],
    ['Teredo', '2001:0:808:808::f7f7:f7f7', 'public'],
  ])('classifies %s %s by its embedded address: %s', (_kind, address, expected) => {
    expect(classifyAddress(address)).toBe(expected);
  });

  it('classifies every IPv4 address in the same way, plain and mapped', () => {
    fc.assert(
      fc.property(fc.ipV4(), (address) => {
        const plain = classifyAddress(address);
        expect(plain).not.toBe('invalid');
        const mapped = address === '0.0.0.0' ? 'unspecified' : plain;
        expect(classifyAddress(`::ffff:${address}`)).toBe(mapped);
      }),
    );
  });

  it.each([
    '',
    'example.com',
    '0177.0.0.1',
    '0x7f.1',
    '127.1',
    '2130706433',
    '1.2.3.4.',
    '[::1]',
    '1.2.3.4:80',
  ])('rejects %j', (text) => {
    expect(classifyAddress(text)).toBe('invalid');
  });
});

describe('classifyHostname', () => {
  it.each([
    ['http://2130706433/', 'loopback'],
    ['http://0177.0.0.1/', 'loopback'],
    ['http://0x7f.1/', 'loopback'],
    ['http://0x7f000001/', 'loopback'],
    ['http://127.1/', 'loopback'],
    ['http://127.0.0.1./', 'loopback'],
    ['http://１２７。0.0.1/', 'loopback'],
    ['http://%31%32%37.0.0.1/', 'loopback'],
    ['http://localhost/', 'loopback'],
    ['http://LOCALHOST./', 'loopback'],
    ['http://a.b.localhost/', 'loopback'],
    ['http://[::1]/', 'loopback'],
    ['http://[0:0:0:0:0:ffff:127.0.0.1]/', 'loopback'],
    ['http://0/', 'unspecified'],
    ['http://0xa9fea9fe/', 'link_local'],
    ['http://8.8.8.8/', 'public'],
    ['http://localhost.example.com/', undefined],
    ['http://notlocalhost/', undefined],
    ['http://127.0.0.1.example.com/', undefined],
  ])('classifies the host of %s as %s', (url, expected) => {
    expect(classifyHostname(new URL(url).hostname)).toBe(expected);
  });
});

describe('bareHost', () => {
  it.each([
    ['[::1]', '::1'],
    ['example.com.', 'example.com'],
    ['example.com', 'example.com'],
  ])('converts %s to %s', (hostname, expected) => {
    expect(bareHost(hostname)).toBe(expected);
  });
});
