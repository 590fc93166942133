import { beforeEach, describe, expect, test } from 'vitest';
import type { VoiceNodeRegistry } from '../../../src/calls/nodes/voiceNodeRegistry.ts';
import { VOICE_LEASE_MS, VoiceNodeRegistration } from '../../../src/calls/nodes/voiceNodeRegistry.ts';
import { createSimulatedClock, type SimulatedClock } from '../../support/simulatedClock.ts';
import { unused } from '../../support/unused.ts';

const settle = () => new Promise((resolve) => setImmediate(resolve));

let clock: SimulatedClock;
beforeEach(() => {
  clock = createSimulatedClock();
});

async function start() {
  const registered: { readonly sessions: number; readonly leaseMs: number }[] = [];
  const deregistered: string[] = [];
  const errors: unknown[] = [];
  const state = { sessions: 0, isAway: false, hold: undefined as Promise<void> | undefined };
  const registration = new VoiceNodeRegistration({
    registry: unused<VoiceNodeRegistry>('registry', {
      async register({ sessions }, leaseMs) {
        if (state.isAway) throw new Error('Redis is away');
        registered.push({ sessions, leaseMs });
        await state.hold;
      },
      async deregister(nodeId) {
        if (state.isAway) throw new Error('Redis is away');
        deregistered.push(nodeId);
      },
    }),
    node: { nodeId: 'a', url: 'http://a:3000' },
    load: () => ({ sessions: state.sessions }),
    clock,
    onError: (error) => errors.push(error),
  });
  await registration.start();
  return { registered, deregistered, errors, state, registration };
}

describe('VoiceNodeRegistration', () => {
  test('registers at once, with each change, and before the lease expires', async () => {
    const { registered, state, registration } = await start();
    expect(registered).toEqual([{ sessions: 0, leaseMs: VOICE_LEASE_MS }]);
    state.sessions = 1;
    registration.update();
    await settle();
    expect(registered.map(({ sessions }) => sessions)).toEqual([0, 1]);
    for (let passedMs = 0; passedMs < VOICE_LEASE_MS; passedMs += 1000) {
      clock.advance(1000);
      await settle();
    }
    expect(registered).toHaveLength(5);
    await registration.withdraw();
  });

  test('registers the latest of many changes last, one at a time', async () => {
    const { registered, state, registration } = await start();
    let release = () => {};
    state.hold = new Promise((resolve) => {
      release = resolve;
    });
    for (const sessions of [1, 2, 3]) {
      state.sessions = sessions;
      registration.update();
    }
    expect(registered.map(({ sessions }) => sessions)).toEqual([0, 1]);
    state.hold = undefined;
    release();
    await settle();
    expect(registered.map(({ sessions }) => sessions)).toEqual([0, 1, 3]);
    await registration.withdraw();
  });

  test('retries while Redis is away, tells one failure of a row, and deregisters once when withdrawn', async () => {
    const { registered, deregistered, errors, state, registration } = await start();
    state.isAway = true;
    for (let n = 0; n < 2; n++) {
      clock.advance(2000);
      await settle();
    }
    expect(errors).toHaveLength(1);
    state.isAway = false;
    clock.advance(2000);
    await settle();
    expect(registered).toHaveLength(2);
    await Promise.all([registration.withdraw(), registration.withdraw()]);
    registration.update();
    clock.advance(10_000);
    await settle();
    expect([registered.length, deregistered, clock.pendingTimers()]).toEqual([2, ['a'], 0]);
  });

  test('is withdrawn without Redis, where its lease expires, and that is reported', async () => {
    const { deregistered, errors, state, registration } = await start();
    state.isAway = true;
    await registration.withdraw();
    expect([deregistered, errors, clock.pendingTimers()]).toEqual([[], [expect.any(Error)], 0]);
  });
});
