import { expect, test } from 'vitest';

import { noopTracer } from '../../../src/base/tracing.ts';
import { createNodeCapacity } from '../../../src/calls/limits/nodeCapacity.ts';
import { createInboundCallHandler } from '../../../src/calls/setup/inboundCallHandler.ts';
import type { InboundCall } from '../../../src/calls/telephony.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';

const AWAY = new Error('the database is away');
const settled = () => new Promise((resolve) => setImmediate(resolve));

test.each([
  ['its caller hangs up before the answer', 'answer', 'canceled', 'caller_hangup'],
  ['what was lost of its keeping is the answer alone', 'insert', 'failed', 'trunk_error'],
] as const)(
  'a call is put away once the database is there again where %s',
  async (_what, step, status, reason) => {
    const clock = createSimulatedClock();
    const admission = createNodeCapacity(1);
    const canceled = new AbortController();
    const rejected: number[] = [];
    const ends: unknown[] = [];
    const warned: string[] = [];
    let isAway = true;
    const take = createInboundCallHandler({
      nodeId: 'node',
      calls: {
        async insert() {
          if (step === 'insert') throw AWAY;
        },
      },
      conversations: {
        prepare: async () => ({
          session: {} as never,
          started: { type: 'session_started', at: '', data: {} },
        }),
      },
      slots: { acquire: async () => 0, release: async () => undefined },
      guard: { startCall: async () => 'begun', endCall: async () => undefined },
      admission,
      meter: { callRefused: () => undefined },
      runner: { accept: () => expect.unreachable() },
      async finish({ id }, end) {
        if (isAway) throw AWAY;
        ends.push([id, end.status, end.endReason]);
      },
      isDraining: () => false,
      clock,
      makeId: () => 'call',
      tracing: noopTracer,
      onError: (_error, what) => warned.push(what),
    });
    const incoming = {
      projectId: 'p',
      sipCallId: 'sip',
      fromNumber: '+886912345678',
      toNumber: '+886223456789',
      trunk: { id: 'trunk' },
      number: { inboundEnabled: true, trunkIds: [], number: '+886223456789', media: null },
      canceled: canceled.signal,
      ring: () => undefined,
      prepare: () => undefined,
      async answer() {
        canceled.abort();
        throw new Error('The caller hung up before the answer');
      },
      reject: (sipCode: number) => void rejected.push(sipCode),
    };
    await take(incoming as unknown as InboundCall);
    // The caller is not kept waiting for the database.
    expect([rejected, admission.inUse]).toEqual([step === 'insert' ? [503] : [], 0]);
    expect(warned).toContain('a call that was not taken waits to be put away');
    isAway = false;
    clock.advance(500);
    await settled();
    expect(ends).toEqual([['call', status, reason]]);
    expect(clock.pendingTimers()).toBe(0);
  },
);
