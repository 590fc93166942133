import { describe, expect, test } from 'vitest';

import { noopTracer } from '../../../src/base/tracing.ts';
import { createNodeCapacity } from '../../../src/calls/limits/nodeCapacity.ts';
import type { PhoneNumber } from '../../../src/calls/numbers/phoneNumber.ts';
import { createDialer, type DialerDeps } from '../../../src/calls/setup/dialer.ts';
import { createInboundCallHandler } from '../../../src/calls/setup/inboundCallHandler.ts';
import type { InboundCall } from '../../../src/calls/telephony.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';
import { makeCall } from '../support/makeCall.ts';

const noLimits = { startCall: async () => 'begun' as const, endCall: async () => undefined };
const unused = () => Promise.reject(new Error('not used here'));

/** Places calls with these, and may use nothing else. */
const placerWith = (deps: Partial<DialerDeps> & Pick<DialerDeps, 'admission'>) =>
  createDialer({
    nodeId: 'node',
    calls: { claim: unused, releaseClaim: unused, find: unused },
    phoneNumbers: { findByNumber: unused },
    trunks: { activeOf: unused },
    health: { read: unused },
    slots: { acquire: unused },
    guard: noLimits,
    runner: { dial: unused },
    finish: unused,
    clock: createSimulatedClock(),
    onError: () => undefined,
    ...deps,
  });

test('a place is taken once by a call, and no more than there are', () => {
  const admission = createNodeCapacity(2);
  expect(['a', 'b', 'b', 'c'].map((call) => admission.acquire(call))).toEqual([true, true, true, false]);
  expect([admission.inUse, admission.limit]).toEqual([2, 2]);
  admission.release('never there');
  admission.release('a');
  expect([admission.acquire('c'), admission.inUse]).toEqual([true, 2]);
});

describe('a full node', () => {
  test('puts an outbound call back without touching it, and takes it once a call has ended', async () => {
    const admission = createNodeCapacity(1);
    admission.acquire('other');
    const claimed: string[] = [];
    const place = placerWith({
      calls: {
        async claim(callId) {
          claimed.push(callId);
          return undefined;
        },
        releaseClaim: unused,
        find: unused,
      },
      admission,
      runner: { dial: () => undefined },
    });
    expect(await place('call')).toEqual({ again: true, afterMs: 500 });
    expect(claimed).toEqual([]);
    admission.release('other');
    // Canceled meanwhile: its place is free again.
    expect(await place('call')).toEqual({ done: true });
    expect([claimed, admission.inUse]).toEqual([['call'], 0]);
  });

  test('lets nobody place a call that it carries still, be it queued anew', async () => {
    const admission = createNodeCapacity(5);
    const place = placerWith({ admission });
    admission.acquire('call');
    expect(await place('call')).toEqual({ done: true });
    expect(admission.has('call')).toBe(true);
  });

  test('keeps the place of a call that is placed, and frees that of one that failed', async () => {
    const admission = createNodeCapacity(5);
    const placed: string[] = [];
    const placer = (findByNumber: () => Promise<undefined>) =>
      createDialer({
        nodeId: 'node',
        calls: { claim: async (id) => makeCall({ id }), releaseClaim: async () => undefined, find: unused },
        phoneNumbers: { findByNumber },
        trunks: { activeOf: unused },
        health: { read: unused },
        slots: { acquire: unused },
        guard: noLimits,
        admission,
        runner: { dial: ({ id }) => void placed.push(id) },
        finish: async () => undefined,
        clock: createSimulatedClock(),
        onError: () => undefined,
      });
    expect(await placer(async () => undefined)('without a number')).toEqual({ done: true });
    await expect(placer(unused)('without a database')).rejects.toThrow('not used here');
    expect([placed, admission.inUse]).toEqual([[], 0]);
  });

  test.each(['claim', 'route'] as const)(
    'gives a call back that the database left in the midst of its %s, once it is there again',
    async (step) => {
      const clock = createSimulatedClock();
      const claimed = new Set<string>();
      const warned: string[] = [];
      const away = new Error('the database is away');
      let isAway = true;
      const place = createDialer({
        nodeId: 'node',
        calls: {
          async claim(id) {
            claimed.add(id);
            // It was written; what was lost is the answer.
            if (step === 'claim') throw away;
            return makeCall({ id, status: 'queued' });
          },
          async releaseClaim(id) {
            if (isAway) throw away;
            claimed.delete(id);
          },
          find: unused,
        },
        phoneNumbers: { findByNumber: () => Promise.reject(away) },
        trunks: { activeOf: unused },
        health: { read: unused },
        slots: { acquire: unused },
        guard: noLimits,
        admission: createNodeCapacity(1),
        runner: { dial: unused },
        finish: unused,
        clock,
        onError: (error, what) => {
          expect(error).toBe(away);
          warned.push(what);
        },
      });
      await expect(place('call')).rejects.toBe(away);
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
    ['is full', 1, false, 'other', [503, { retryAfterSeconds: 5 }], 1, ['node']],
    ['stops', 9, true, 'other', [503, { retryAfterSeconds: 5 }], 1, []],
    ['does not know the number', 9, false, 'other', [404], 1, []],
  ] as const)(
    'refuses a caller where it %s',
    async (_what, limit, isDraining, other, expected, inUse, counted) => {
      const admission = createNodeCapacity(limit);
      admission.acquire(other);
      let refused: unknown[] = [];
      const reasons: string[] = [];
      const decided = new Promise<void>((resolve) => {
        const taker = createInboundCallHandler({
          nodeId: 'node',
          calls: { insert: unused },
          conversations: { prepare: unused },
          slots: { acquire: unused, release: unused },
          guard: noLimits,
          admission,
          meter: { callRefused: (reason) => void reasons.push(reason) },
          runner: { accept: () => undefined },
          finish: unused,
          isDraining: () => isDraining,
          clock: createSimulatedClock(),
          makeId: () => 'call',
          tracing: noopTracer,
          onError: () => undefined,
        });
        const incoming = {
          projectId: 'p',
          toNumber: '+886912345678',
          canceled: new AbortController().signal,
          reject(...given: unknown[]) {
            refused = given;
            resolve();
          },
        };
        taker(incoming as unknown as InboundCall);
      });
      await decided;
      await new Promise((resolve) => setImmediate(resolve));
      expect([refused, admission.inUse, reasons]).toEqual([expected, inUse, counted]);
    },
  );
});

describe('a project with as many calls as it may have', () => {
  test.each([
    ['full', { again: true, afterMs: 2000 }, ['end', 'unclaim']],
    ['refused', { done: true }, ['finish failed rejected']],
  ] as const)('leaves an outbound call that is %s unplaced', async (leave, expected, done) => {
    const admission = createNodeCapacity(1);
    const log: string[] = [];
    const place = createDialer({
      nodeId: 'node',
      calls: {
        claim: async (id) => makeCall({ id, status: 'queued' }),
        releaseClaim: async () => void log.push('unclaim'),
        find: async () => makeCall({ status: 'queued' }),
      },
      phoneNumbers: { findByNumber: unused },
      trunks: { activeOf: unused },
      health: { read: unused },
      slots: { acquire: unused },
      guard: { startCall: async () => leave, endCall: async () => void log.push('end') },
      admission,
      runner: { dial: () => void log.push('place') },
      finish: async (_call, { status, endReason }) => void log.push(`finish ${status} ${endReason}`),
      clock: createSimulatedClock(),
      onError: () => undefined,
    });
    expect(await place('call')).toEqual(expected);
    expect([log, admission.inUse]).toEqual([done, 0]);
  });

  test('answers a caller that there is no room, and frees all that was taken', async () => {
    const admission = createNodeCapacity(1);
    const refused = await new Promise<unknown[]>((resolve) => {
      const taker = createInboundCallHandler({
        nodeId: 'node',
        calls: { insert: unused },
        conversations: { prepare: unused },
        slots: { acquire: unused, release: unused },
        guard: { startCall: async () => 'full', endCall: unused },
        admission,
        meter: { callRefused: () => undefined },
        runner: { accept: () => undefined },
        finish: unused,
        isDraining: () => false,
        clock: createSimulatedClock(),
        makeId: () => 'call',
        tracing: noopTracer,
        onError: () => undefined,
      });
      const canceled = new AbortController().signal;
      const number = { inboundEnabled: true, trunkIds: [] } as unknown as PhoneNumber;
      const incoming = { projectId: 'p', number, toNumber: '+886912345678', trunk: { id: 't' }, canceled };
      taker({ ...incoming, reject: (...given: unknown[]) => resolve(given) } as unknown as InboundCall);
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect([refused, admission.inUse]).toEqual([[503, { retryAfterSeconds: 5 }], 0]);
  });
});
