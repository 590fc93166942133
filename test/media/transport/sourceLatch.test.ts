import { describe, expect, it } from 'vitest';
import { SourceLatch } from '../../../src/media/transport/sourceLatch.ts';

const peer = { address: '192.0.2.1', port: 4000 };
const nat = { address: '198.51.100.7', port: 61000 };

describe('SourceLatch', () => {
  it('sends to the signalled address until a source is latched', () => {
    const latch = new SourceLatch();
    expect(latch.target).toBeUndefined();
    latch.signalled(peer);
    expect(latch.target).toEqual(peer);
    expect(latch.receive(nat.address, nat.port, 0)).toBe('latched');
    expect(latch.target).toEqual(nat);
    expect(latch.receive(nat.address, nat.port, 20)).toBe('accepted');
  });

  it.each([
    ['another address', '203.0.113.9', nat.port],
    ['another port', nat.address, nat.port + 2],
  ])('refuses %s after latching', (_, address, port) => {
    const latch = new SourceLatch(3000);
    latch.signalled(peer);
    latch.receive(nat.address, nat.port, 0);
    expect(latch.receive(address, port, 2999)).toBe('refused');
    expect(latch.target).toEqual(nat);
  });

  it('lets the signalled address take over for good', () => {
    const latch = new SourceLatch(3000);
    latch.signalled(peer);
    latch.receive(nat.address, nat.port, 0);
    expect(latch.isAsSignalled).toBe(false);
    expect(latch.receive(peer.address, peer.port, 20)).toBe('latched');
    expect(latch.isAsSignalled).toBe(true);
    expect(latch.receive(nat.address, nat.port, 40)).toBe('refused');
    expect(latch.target).toEqual(peer);
  });

  it('latches again after a silence of the source, which other sources cannot shorten', () => {
    const latch = new SourceLatch(3000);
    latch.receive(nat.address, nat.port, 0);
    expect(latch.receive('203.0.113.9', 1, 1000)).toBe('refused');
    expect(latch.receive(nat.address, nat.port, 1500)).toBe('accepted');
    expect(latch.receive('203.0.113.9', 1, 4000)).toBe('refused');
    expect(latch.receive('203.0.113.9', 1, 4500)).toBe('latched');
  });

  it('latches again when the signalled address changes', () => {
    const latch = new SourceLatch();
    latch.signalled(peer);
    latch.receive(nat.address, nat.port, 0);
    expect(latch.signalled({ ...peer })).toBe(false);
    expect(latch.receive('203.0.113.9', 1, 20)).toBe('refused');
    expect(latch.signalled({ ...peer, port: 5000 })).toBe(true);
    expect(latch.target).toEqual({ ...peer, port: 5000 });
    expect(latch.receive('203.0.113.9', 1, 40)).toBe('latched');
  });

  it('keeps an early latch when the first address is signalled', () => {
    const latch = new SourceLatch();
    latch.receive(nat.address, nat.port, 0);
    latch.signalled(peer);
    expect(latch.target).toEqual(nat);
  });
});
