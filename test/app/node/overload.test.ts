import { pino } from 'pino';
import { expect, test } from 'vitest';

import { Lifecycle } from '../../../src/app/lifecycle.ts';
import { buildAdmission, type NodeLoad } from '../../../src/app/node/overload.ts';
import type { ThreadContext } from '../../../src/app/node/threadContext.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';

const OFF = {
  OVERLOAD_EVENT_LOOP_MS: 0,
  OVERLOAD_RTP_MS: 0,
  OVERLOAD_QUEUE_MS: 0,
  ROLES: ['voice', 'media'],
};
const READY = { delay: { waitMs: 0, p99Ms: 0, maxMs: 0 } };

test.each([
  ['takes calls', { threads: [READY] }, undefined],
  ['without the role voice takes calls', {}, undefined],
  ['without a voice thread that is ready refuses them', { threads: [] }, 'voice_unavailable'],
  ['that shuts down says so first', { threads: [], isDraining: true }, 'node_draining'],
])('A node %s', (_, { threads, isDraining = false }: { threads?: object[]; isDraining?: boolean }, code) => {
  const context: unknown = {
    config: OFF,
    clock: createSimulatedClock(),
    logger: pino({ level: 'silent' }),
    lifecycle: new Lifecycle(() => undefined),
  };
  const load: unknown = {
    voiceThreads: () => threads && { running: threads, tellOverload: () => undefined },
    isDraining: () => isDraining,
  };
  const { orderRefusal, callRefusal } = buildAdmission(context as ThreadContext, load as NodeLoad);
  for (const refusal of [orderRefusal(), callRefusal()]) {
    expect(refusal?.code).toBe(code);
    if (refusal) expect([refusal.category, refusal.retryAfterSeconds]).toEqual(['unavailable', 5]);
  }
});
