import { describe, expect, test } from 'vitest';
import { nodeDraining, nodeOverloaded } from '../../../src/base/errors.ts';
import { NodeCapacity } from '../../../src/calls/limits/nodeCapacity.ts';
import { voiceUnavailable } from '../../../src/calls/nodes/voiceNodeSelector.ts';
import type { CallFinisher } from '../../../src/calls/runner/callFinisher.ts';
import type { CallRunner } from '../../../src/calls/runner/callRunner.ts';
import { type DialerDeps, dialQueuedCall } from '../../../src/calls/setup/dialer.ts';
import type { TrunkHealthStore } from '../../../src/calls/trunks/trunkHealth.ts';
import type { TrunkSlots } from '../../../src/calls/trunks/trunkSlots.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';
import { unused } from '../../support/unused.ts';
import { makeCall } from '../support/makeCall.ts';

const unexpected = () => Promise.reject(new Error('not used here'));
const NO_LIMITS = { startCall: async () => 'started' as const, endCall: async () => undefined };

/** Everything that a test does not name fails. */
const depsWith = (given: Partial<DialerDeps>): DialerDeps => ({
  nodeId: 'node',
  calls: { claim: unexpected, releaseClaim: unexpected },
  phoneNumbers: { findByNumber: unexpected },
  trunks: { activeOf: unexpected },
  health: unused<TrunkHealthStore>('health', { read: unexpected }),
  slots: unused<TrunkSlots>('slots', { acquire: unexpected }),
  limiter: NO_LIMITS,
  capacity: new NodeCapacity(5),
  runner: unused<CallRunner>('runner', { dial: unexpected }),
  callRefusal: () => undefined,
  finisher: unused<CallFinisher>('finisher', { finish: unexpected }),
  clock: createSimulatedClock(),
  onError: () => undefined,
  ...given,
});

describe('dialQueuedCall on a node', () => {
  test('that is full returns the call to the queue unclaimed, and takes it once a slot is free', async () => {
    const capacity = new NodeCapacity(1);
    capacity.acquire('other');
    const claimed: string[] = [];
    const deps = depsWith({
      calls: {
        async claim(callId) {
          claimed.push(callId);
          return undefined;
        },
        releaseClaim: unexpected,
      },
      capacity,
    });
    expect(await dialQueuedCall(deps, 'call')).toEqual({ again: true, afterMs: 500 });
    expect(claimed).toEqual([]);
    capacity.release('other');
    // Canceled meanwhile, so that its slot is free again.
    expect(await dialQueuedCall(deps, 'call')).toEqual({ done: true });
    expect([claimed, capacity.inUse]).toEqual([['call'], 0]);
  });

  test.each([
    ['is overloaded', nodeOverloaded()],
    ['cannot speak', voiceUnavailable()],
    ['shuts down', nodeDraining()],
  ])('that %s leaves the call to the others, unclaimed', async (_, refusal) => {
    const capacity = new NodeCapacity(5);
    const deps = depsWith({ capacity, callRefusal: () => refusal });
    expect(await dialQueuedCall(deps, 'call')).toEqual({ again: true, afterMs: 500 });
    expect(capacity.inUse).toBe(0);
  });

  test('that still runs the call does not dial it again when it is requeued', async () => {
    const capacity = new NodeCapacity(5);
    capacity.acquire('call');
    expect(await dialQueuedCall(depsWith({ capacity }), 'call')).toEqual({ done: true });
    expect(capacity.has('call')).toBe(true);
  });

  test('releases the slot of a call that could not be dialed', async () => {
    const capacity = new NodeCapacity(5);
    const base = {
      calls: {
        claim: async (id: string) => makeCall({ id }),
        releaseClaim: async () => false,
      },
      finisher: unused<CallFinisher>('finisher', { finish: async () => undefined }),
      capacity,
    };
    const withoutNumber = depsWith({ ...base, phoneNumbers: { findByNumber: async () => undefined } });
    expect(await dialQueuedCall(withoutNumber, 'without a number')).toEqual({ done: true });
    await expect(dialQueuedCall(depsWith(base), 'without a database')).rejects.toThrow('not used here');
    expect(capacity.inUse).toBe(0);
  });
});

test.each(['claim', 'trunk selection'] as const)(
  'dialQueuedCall releases the claim once the database is back when it fails during %s',
  async (step) => {
    const clock = createSimulatedClock();
    const claimed = new Set<string>();
    const warned: string[] = [];
    const away = new Error('the database is away');
    let isAway = true;
    const deps = depsWith({
      calls: {
        async claim(id) {
          claimed.add(id);
          // The claim was stored; only the answer was lost.
          if (step === 'claim') throw away;
          return makeCall({ id, status: 'queued' });
        },
        async releaseClaim(id) {
          if (isAway) throw away;
          claimed.delete(id);
          return false;
        },
      },
      phoneNumbers: { findByNumber: () => Promise.reject(away) },
      clock,
      onError: (error, what) => {
        expect(error).toBe(away);
        warned.push(what);
      },
    });
    await expect(dialQueuedCall(deps, 'call')).rejects.toBe(away);
    const pass = async (ms: number) => {
      clock.advance(ms);
      await new Promise((resolve) => setImmediate(resolve));
    };
    await pass(500);
    expect([[...claimed], warned.length]).toEqual([['call'], 2]);
    isAway = false;
    await pass(1000);
    expect([[...claimed], warned.length, clock.pendingTimers()]).toEqual([[], 2, 0]);
  },
);

test.each([
  ['full', 'full', false, { again: true, afterMs: 2000 }, ['endCall', 'releaseClaim']],
  [
    'full, and tries one that is to hang up at once',
    'full',
    true,
    { again: true, afterMs: 50 },
    ['endCall', 'releaseClaim'],
  ],
  ['refused', 'refused', false, { done: true }, ['finish failed rejected']],
] as const)(
  'dialQueuedCall does not dial a call when its project is %s',
  async (_what, admission, isCanceled, expected, steps) => {
    const capacity = new NodeCapacity(1);
    const log: string[] = [];
    const deps = depsWith({
      calls: {
        claim: async (id) => makeCall({ id, status: 'queued' }),
        async releaseClaim() {
          log.push('releaseClaim');
          return isCanceled;
        },
      },
      limiter: { startCall: async () => admission, endCall: async () => void log.push('endCall') },
      capacity,
      finisher: unused<CallFinisher>('finisher', {
        async finish(_call, _nodeId, { status, endReason }) {
          log.push(`finish ${status} ${endReason}`);
          return undefined;
        },
      }),
    });
    expect(await dialQueuedCall(deps, 'call')).toEqual(expected);
    expect([log, capacity.inUse]).toEqual([steps, 0]);
  },
);
