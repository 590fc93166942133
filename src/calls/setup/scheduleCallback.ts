import type { ScheduleCallback } from '../../engine/tools/callbacks.ts';
import { DEFAULT_MAX_DURATION_SECONDS, DEFAULT_RING_TIMEOUT_SECONDS } from '../call.ts';
import { type OrderDeps, prepareCall, scheduleCall } from './acceptCall.ts';
import type { InsertOnce } from './outboundOrder.ts';

export interface CallbackDeps extends OrderDeps {
  readonly insertOnce: InsertOnce;
}

/** Schedules calls back to the person of a session, with its variables and the reason; each replaces the one before. */
export function callbackScheduler(deps: CallbackDeps): ScheduleCallback {
  return async ({ projectId, sessionId, call, variables, notBefore, reason }) => {
    const isInbound = call.direction === 'inbound';
    const prepared = await prepareCall(deps, {
      projectId,
      fromNumber: isInbound ? call.toNumber : call.fromNumber,
      toNumber: isInbound ? call.fromNumber : call.toNumber,
      dynamicVariables: { ...variables, callback: { previousSessionId: sessionId, reason } },
      ringTimeoutSeconds: DEFAULT_RING_TIMEOUT_SECONDS,
      maxDurationSeconds: DEFAULT_MAX_DURATION_SECONDS,
      detectAnsweringMachine: true,
      draft: false,
      isCallback: true,
      notBefore,
    });
    await scheduleCall(deps, prepared, deps.insertOnce);
  };
}
