import type { ScheduleCallback } from '../../engine/tools/callbacks.ts';
import { DEFAULT_MAX_DURATION_SECONDS, DEFAULT_RING_TIMEOUT_SECONDS } from '../call.ts';
import { type OrderDeps, prepareCall, scheduleCall } from './acceptCall.ts';
import { callingRefusal } from './callingGate.ts';
import type { InsertOnce } from './outboundOrder.ts';

export interface CallbackDeps extends OrderDeps {
  readonly insertOnce: InsertOnce;
}

/** Schedules calls back to the person of a session, with its variables and the reason; each replaces the one before. A time outside of the calling hours moves to the next one inside. */
export function callbackScheduler(deps: CallbackDeps): ScheduleCallback {
  return async ({ projectId, sessionId, call, variables, notBefore: wanted, reason }) => {
    const isInbound = call.direction === 'inbound';
    const toNumber = isInbound ? call.fromNumber : call.toNumber;
    const planned = { projectId, toNumber, origin: 'callback' } as const;
    const refusal = await callingRefusal(deps.callingRules, planned, Date.parse(wanted));
    const moved = refusal?.reason === 'outside_calling_hours' ? refusal.nextAllowedAt : null;
    const notBefore = moved ?? wanted;
    const prepared = await prepareCall(deps, {
      projectId,
      fromNumber: isInbound ? call.toNumber : call.fromNumber,
      toNumber,
      dynamicVariables: { ...variables, callback: { previousSessionId: sessionId, reason } },
      ringTimeoutSeconds: DEFAULT_RING_TIMEOUT_SECONDS,
      maxDurationSeconds: DEFAULT_MAX_DURATION_SECONDS,
      detectAnsweringMachine: true,
      draft: false,
      isCallback: true,
      notBefore,
    });
    await scheduleCall(deps, prepared, deps.insertOnce);
    return notBefore;
  };
}
