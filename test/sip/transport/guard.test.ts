import { expect, test } from 'vitest';
import { createCounters } from '../../../sip/stats.ts';
import { createGuard } from '../../../sip/transport/guard.ts';
import { simulatedClock } from '../support/simulatedClock.ts';

function guarded(trusted: string[] = []) {
  const clock = simulatedClock();
  const counters = createCounters();
  const options = {
    trusted,
    peer: { messagesPerSecond: 20, burst: 40, callsPerSecond: 2, callBurst: 6 },
    messagesPerSecond: 10,
    burst: 20,
    callsPerSecond: 1,
    callBurst: 3,
    banMs: 60_000,
  };
  return { clock, counters, guard: createGuard(options, clock, counters) };
}

test('A burst passes, then only the rate', () => {
  const { clock, guard, counters } = guarded();
  const admitted = () =>
    Array.from({ length: 30 }, () => guard.admit('192.0.2.1', 5060)).filter(Boolean).length;
  expect(admitted()).toBe(20);
  clock.advance(500);
  expect(admitted()).toBe(5);
  expect(counters.read()['dropped.rate']).toBe(35);
});

test('Calls of a source are limited by burst and rate, those of a trusted one are not', () => {
  const { clock, guard } = guarded(['192.0.2.9']);
  const begun = (address: string) =>
    Array.from({ length: 10 }, () => guard.admitCall(address, 5060)).filter(Boolean).length;
  expect(begun('192.0.2.1')).toBe(3);
  expect(begun('192.0.2.2')).toBe(3);
  clock.advance(2000);
  expect(begun('192.0.2.1')).toBe(2);
  expect(begun('192.0.2.9')).toBe(10);
});

const calls = (guard: ReturnType<typeof guarded>['guard'], address: string, port = 5060, count = 10) =>
  Array.from({ length: count }, () => guard.admitCall(address, port)).filter(Boolean).length;

test('Known peers have a budget each, for all of their sources together; strangers keep theirs', () => {
  const { guard } = guarded();
  guard.setKnownPeers([
    { name: 'one', sources: ['198.51.100.0/24', '192.0.2.9:5070'] },
    { name: 'two', sources: ['203.0.113.7'] },
  ]);
  expect(calls(guard, '198.51.100.7', 5060, 4) + calls(guard, '192.0.2.9', 5070)).toBe(6);
  expect(calls(guard, '203.0.113.7')).toBe(6);
  expect(calls(guard, '192.0.2.9', 5071)).toBe(3);
  expect(calls(guard, '192.0.2.1')).toBe(3);
});

test('The most specific source decides whose budget it is, so that a wide network takes nobody’s', () => {
  const { guard } = guarded();
  guard.setKnownPeers([
    { name: 'wide', sources: ['198.51.0.0/16'] },
    { name: 'carrier', sources: ['198.51.100.0/24'] },
    { name: 'host', sources: ['198.51.100.7:5060'] },
  ]);
  expect(calls(guard, '198.51.7.7', 5060, 50)).toBe(6);
  expect(calls(guard, '198.51.100.9')).toBe(6);
  expect(calls(guard, '198.51.100.7')).toBe(6);
  expect(calls(guard, '::ffff:198.51.100.7')).toBe(0);
});

test('Peers that stay keep their budgets, and an invalid source changes nothing', () => {
  const { guard } = guarded();
  const one = { name: 'one', sources: ['198.51.100.7'] };
  guard.setKnownPeers([one]);
  expect(calls(guard, '198.51.100.7')).toBe(6);
  expect(() => guard.setKnownPeers([{ name: 'two', sources: ['not-an-address'] }])).toThrow(RangeError);
  guard.setKnownPeers([one, { name: 'two', sources: ['198.51.100.8'] }]);
  expect(calls(guard, '198.51.100.7')).toBe(0);
  expect(calls(guard, '198.51.100.8')).toBe(6);
});

test('A known peer is not banned for malformed messages, which a spoofer could send', () => {
  const { guard } = guarded();
  guard.setKnownPeers([{ name: 'one', sources: ['198.51.100.7'] }]);
  for (let count = 0; count < 50; count += 1) guard.noteMalformedMessage('198.51.100.7', 5060);
  expect(guard.admit('198.51.100.7', 5060)).toBe(true);
  expect(guard.isTrusted('198.51.100.7', 5060)).toBe(true);
  expect(guard.isUnlimited('198.51.100.7', 5060)).toBe(false);
});

test('A trusted port matches IPv4 and IPv4-mapped addresses', () => {
  const { guard } = guarded(['192.0.2.9:5070', '[2001:db8::9]:5070']);
  const trusted = (address: string, port: number) => guard.isTrusted(address, port);
  expect(trusted('192.0.2.9', 5070) && trusted('::ffff:192.0.2.9', 5070)).toBe(true);
  expect(trusted('2001:db8::9', 5070)).toBe(true);
  expect(trusted('192.0.2.9', 5071) || trusted('::ffff:192.0.2.9', 5071)).toBe(false);
});

test('A source of malformed messages is banned for a while; a valid message resets the count', () => {
  const { clock, guard, counters } = guarded();
  for (let count = 0; count < 19; count += 1) guard.noteMalformedMessage('192.0.2.1', 5060);
  guard.noteValidMessage('192.0.2.1', 5060);
  guard.noteMalformedMessage('192.0.2.1', 5060);
  expect(guard.admit('192.0.2.1', 5060)).toBe(true);
  for (let count = 0; count < 19; count += 1) guard.noteMalformedMessage('192.0.2.1', 5060);
  expect(guard.admit('192.0.2.1', 5061)).toBe(false);
  expect(guard.admit('192.0.2.2', 5060)).toBe(true);
  clock.advance(60_001);
  expect(guard.admit('192.0.2.1', 5060)).toBe(true);
  expect(counters.read()['sources.banned']).toBe(1);
});

test('Malformed messages ban only their port at an address that is trusted by port', () => {
  const { guard } = guarded(['192.0.2.1:5070']);
  for (let count = 0; count < 50; count += 1) guard.noteMalformedMessage('192.0.2.1', 4444);
  const admitted = (port: number) => guard.admit('192.0.2.1', port);
  expect([admitted(4444), admitted(5070), admitted(5090)]).toEqual([false, true, true]);
  expect(Array.from({ length: 9 }, () => guard.admitCall('192.0.2.1', 4445)).filter(Boolean)).toHaveLength(3);
  expect(guard.admitCall('192.0.2.1', 5090)).toBe(true);
});

test.each([
  ['192.0.2.1', '192.0.2.1', 9, true],
  ['192.0.2.0/24', '192.0.2.77', 9, true],
  ['192.0.2.1:5060', '192.0.2.1', 5060, true],
  ['192.0.2.1:5060', '192.0.2.1', 5061, false],
  ['2001:db8::/32', '2001:db8::5', 9, true],
])('With %s trusted, %s port %i is trusted: %s', (trusted, address, port, expected) => {
  const { guard } = guarded([trusted]);
  for (let count = 0; count < 50; count += 1) guard.noteMalformedMessage(address, port);
  expect(guard.admit(address, port)).toBe(expected);
});

test('An invalid trusted source throws', () => {
  expect(() => guarded(['carrier.example'])).toThrow('carrier.example');
});
