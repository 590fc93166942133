import { describe, expect, it } from 'vitest';
import {
  CONSISTENT_PACKETS,
  GRACE_MS,
  type Latching,
  type LatchVerdict,
  type MediaAddress,
  OTHER_HOST_GRACE_MS,
  SourceLatch,
} from '../../../src/media/transport/sourceLatch.ts';

const peer = { address: '192.0.2.1', port: 4000 };
const nat = { address: '198.51.100.7', port: 61000 };
const stranger = { address: '203.0.113.9', port: 9 };

/** A latch for `peer`, signalled at 0, and senders with a stream each. */
function setUp(latching?: Latching, signallingHost?: string) {
  const latch = new SourceLatch(latching);
  latch.signalled(peer, 0, signallingHost);
  const sequences = new Map<MediaAddress, number>();
  const send = (from: MediaAddress, atMs: number, ssrc = from.port) => {
    const sequenceNumber = ((sequences.get(from) ?? 65_530) + 1) & 0xffff;
    sequences.set(from, sequenceNumber);
    return latch.receive(from.address, from.port, { ssrc, sequenceNumber }, atMs);
  };
  const sendMany = (from: MediaAddress, count: number, fromMs: number) => {
    let last: LatchVerdict = 'refused';
    for (let n = 0; n < count; n++) last = send(from, fromMs + n * 20);
    return last;
  };
  return { latch, send, sendMany };
}

describe('SourceLatch', () => {
  it('latches the signalled address at its first packet, and then no other, however long it is silent', () => {
    const { latch, send, sendMany } = setUp();
    expect(latch.target).toEqual(peer);
    expect(send(peer, 20)).toBe('latched');
    expect(send(peer, 40)).toBe('accepted');
    expect(latch.isAsSignalled).toBe(true);
    expect(sendMany(nat, 100, 60_000)).toBe('refused');
    expect(latch.target).toEqual(peer);
    expect(latch.isLost(120_000)).toBe(false);
  });

  it('sends to the signalled address while a stranger sprays single packets', () => {
    const { latch, send } = setUp();
    for (let atMs = 0; atMs < 10_000; atMs += 20) {
      expect(send({ address: '203.0.113.9', port: 10_000 + atMs }, atMs)).toBe('refused');
    }
    expect(latch.target).toEqual(peer);
  });

  it('takes another source after the grace, once it has sent a consistent stream', () => {
    const { latch, send, sendMany } = setUp();
    // 480 ms.
    expect(sendMany(nat, GRACE_MS / 20, 0)).toBe('refused');
    expect(send(nat, GRACE_MS)).toBe('latched');
    expect(latch.target).toEqual(nat);
    expect(latch.isAsSignalled).toBe(false);
    expect(sendMany(stranger, 500, GRACE_MS)).toBe('refused');
    expect(latch.target).toEqual(nat);
  });

  it.each([
    [
      'fewer packets than needed',
      (s: ReturnType<typeof setUp>) => s.sendMany(nat, CONSISTENT_PACKETS - 1, GRACE_MS),
    ],
    [
      'packets of changing SSRC',
      (s: ReturnType<typeof setUp>) => {
        for (let n = 0; n < 100; n++) s.send(nat, GRACE_MS + n * 20, n);
      },
    ],
    [
      'the same packet again and again',
      ({ latch }: ReturnType<typeof setUp>) => {
        for (let n = 0; n < 100; n++)
          latch.receive(nat.address, nat.port, { ssrc: 1, sequenceNumber: 7 }, GRACE_MS + n * 20);
      },
    ],
  ])('does not take another source for %s', (_, sendAll) => {
    const scene = setUp();
    sendAll(scene);
    expect(scene.latch.target).toEqual(peer);
  });

  it.each<[string, (n: number) => MediaAddress[]]>([
    ['sends a packet a second', (n) => (n % 50 === 0 ? [stranger] : [])],
    ['sends one for each of the peer’s', () => [stranger]],
    [
      'changes its port with each packet',
      (n) => Array.from({ length: 45 }, (_, each) => ({ ...stranger, port: 1_000 + n * 45 + each })),
    ],
  ])('takes the peer behind its NAT while a stranger %s', (_, strangers) => {
    const { latch, send } = setUp('nat', nat.address);
    let isLatched = false;
    for (let n = 0; n < 200; n++) {
      for (const one of strangers(n)) expect(send(one, n * 20)).toBe('refused');
      const verdict = send(nat, n * 20 + 10);
      isLatched ||= verdict === 'latched';
      expect(verdict === 'refused').toBe(!isLatched);
    }
    expect(latch.target).toEqual(nat);
  });

  it('gives another host than that of the signalling a second', () => {
    const { latch, sendMany, send } = setUp('nat', nat.address);
    expect(sendMany(stranger, 50, 0)).toBe('refused');
    expect(send(stranger, OTHER_HOST_GRACE_MS)).toBe('latched');
    expect(latch.target).toEqual(stranger);
  });

  it('lets the signalled address take over from another source for good', () => {
    const { latch, send, sendMany } = setUp();
    expect(sendMany(nat, 40, 0)).toBe('accepted');
    expect(latch.isLost(3_000)).toBe(false);
    expect(latch.isLost(4_000)).toBe(true);
    expect(send(peer, 4_000)).toBe('latched');
    expect(latch.isAsSignalled).toBe(true);
    expect(sendMany(nat, 40, 4_020)).toBe('refused');
    expect(latch.target).toEqual(peer);
  });

  it('takes only the signalled address when strict', () => {
    const { latch, send, sendMany } = setUp('strict');
    expect(sendMany(nat, 500, 0)).toBe('refused');
    expect(latch.target).toEqual(peer);
    expect(send(peer, 20_000)).toBe('latched');
  });

  it('waits again when the signalled address changes, with a grace of its own', () => {
    const { latch, send, sendMany } = setUp();
    send(peer, 20);
    expect(latch.signalled({ ...peer }, 1000)).toBe(false);
    const moved = { ...peer, port: 5000 };
    expect(latch.signalled(moved, 1000)).toBe(true);
    expect(latch.target).toEqual(moved);
    // Late packets of the old source.
    expect(sendMany(peer, 5, 1000)).toBe('refused');
    expect(send(moved, 1100)).toBe('latched');
  });
});
