import { expect, test } from 'vitest';
import type { NodeBus, NodeMessage } from '../../../src/calls/nodes/nodeBus.ts';
import { LiveQuality } from '../../../src/calls/runner/liveQuality.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';
import { makeCall } from '../support/makeCall.ts';

const QUALITY = { codec: 'PCMU', packetsReceived: 50, packetsLost: 0, jitterMs: 1, mos: 4.4 } as const;

/** A bus with another node on it, which answers a request for quality like this. */
function reader(answer: (request: NodeMessage) => NodeMessage | undefined) {
  const listeners = new Set<(message: NodeMessage) => void>();
  const published: NodeMessage[] = [];
  const bus: NodeBus = {
    async publish(message) {
      published.push(message);
      const reply = answer(message);
      if (reply) for (const listener of listeners) listener(reply);
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  const clock = createSimulatedClock();
  const quality = new LiveQuality({ bus, clock, makeId: () => 'request', onError: () => undefined });
  return { quality, clock, published, listeners };
}

test('The media quality of a call in progress comes from the node that runs it', async () => {
  const { quality, clock, published, listeners } = reader(() => ({
    kind: 'quality',
    requestId: 'request',
    quality: QUALITY,
  }));
  expect(await quality.of(makeCall())).toEqual(QUALITY);
  expect(published).toEqual([{ kind: 'read_quality', callId: 'call', requestId: 'request' }]);
  quality.close();
  expect([clock.pendingTimers(), listeners.size]).toEqual([0, 0]);
});

test('The media quality of a call that has ended is the stored one, and no node is asked', async () => {
  const { quality, published } = reader(() => undefined);
  expect(await quality.of(makeCall({ status: 'completed', mediaQuality: QUALITY }))).toEqual(QUALITY);
  expect(published).toEqual([]);
});

test('The media quality of a call is null within a second where its node does not answer', async () => {
  const { quality, clock } = reader(() => ({ kind: 'quality', requestId: 'another', quality: QUALITY }));
  const reading = quality.of(makeCall());
  clock.advance(1000);
  expect(await reading).toBeNull();
  expect(clock.pendingTimers()).toBe(0);
});
