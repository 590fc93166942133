import { expect, test } from 'vitest';
import { CallwayError } from '../../../src/base/errors.ts';
import { toFailure } from '../../../src/base/failure.ts';
import { CallRequests } from '../../../src/calls/nodes/callRequests.ts';
import type { NodeBus, NodeMessage } from '../../../src/calls/nodes/nodeBus.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';

const QUALITY = {
  ...{ codec: 'PCMU', packetsReceived: 50, packetsLost: 0, shed: 0, concealedMs: 0, underruns: 0 },
  ...{ jitterMs: 1, jitterBufferMs: 25, mos: 4.4 },
} as const;

/** A bus with another node on it, which answers a request like this. */
function asker(answer: () => NodeMessage | undefined) {
  const listeners = new Set<(message: NodeMessage) => void>();
  const published: NodeMessage[] = [];
  const bus: NodeBus = {
    async publish(message) {
      published.push(message);
      const reply = answer();
      if (reply) for (const listener of listeners) listener(reply);
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  const clock = createSimulatedClock();
  const requests = new CallRequests({ bus, clock, makeId: () => 'request' });
  return { requests, clock, published, listeners };
}

test('A request for a call is answered by the node that runs it', async () => {
  const { requests, clock, published, listeners } = asker(() => ({
    kind: 'call_response',
    requestId: 'request',
    response: { answer: QUALITY },
  }));
  expect(await requests.ask('call', 'read_quality', undefined)).toEqual(QUALITY);
  expect(published).toEqual([
    { kind: 'call_request', callId: 'call', requestId: 'request', request: { name: 'read_quality' } },
  ]);
  requests.close();
  expect([clock.pendingTimers(), listeners.size]).toEqual([0, 0]);
});

test('A recording is found at the node that has it, and nowhere when no node answers', async () => {
  const offered = {
    kind: 'call_response',
    requestId: 'request',
    response: { answer: 'http://node/x' },
  } as const;
  expect(await asker(() => offered).requests.locateRecording('p/c.wav')).toBe('http://node/x');
  const { requests, clock, published } = asker(() => undefined);
  const found = requests.locateRecording('p/c.wav');
  clock.advance(3000);
  expect(await found).toBeUndefined();
  expect(published).toEqual([{ kind: 'recording_request', key: 'p/c.wav', requestId: 'request' }]);
});

test('A request that the node refuses fails with the node’s error', async () => {
  const failure = toFailure(new CallwayError('conflict', 'no_human_party', 'Nobody has joined'));
  const { requests } = asker(() => ({ kind: 'call_response', requestId: 'request', response: { failure } }));
  await expect(requests.ask('call', 'supervise', { mode: 'whisper' })).rejects.toMatchObject({
    category: 'conflict',
    code: 'no_human_party',
  });
});

test('A request that cannot be sent fails at once', async () => {
  const { requests, clock } = asker(() => {
    throw new Error('The bus is away');
  });
  await expect(requests.ask('call', 'control_agent', { kind: 'say', text: 'Hello.' })).rejects.toThrow(
    'The bus is away',
  );
  expect(clock.pendingTimers()).toBe(0);
});

test('A request that no node answers fails within seconds', async () => {
  const { requests, clock } = asker(() => ({
    kind: 'call_response',
    requestId: 'another',
    response: { answer: null },
  }));
  const asking = requests.ask('call', 'control_agent', { kind: 'say', text: 'Hello.' });
  asking.catch(() => undefined);
  await Promise.resolve();
  clock.advance(3000);
  await expect(asking).rejects.toMatchObject({ category: 'unavailable', code: 'call_unavailable' });
  expect(clock.pendingTimers()).toBe(0);
});
