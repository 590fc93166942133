import { CallLimiter } from '../../calls/limits/callLimiter.ts';
import type { AcceptedCall } from '../../calls/setup/outboundOrder.ts';
import { callbackScheduler } from '../../calls/setup/scheduleCallback.ts';
import type { ConversationEngine } from '../../engine/conversationEngine.ts';
import type { ScheduleCallback } from '../../engine/tools/callbacks.ts';
import { redisProjectCalls } from '../../infra/redis/limits/projectCalls.ts';
import type { ThreadContext } from '../node/threadContext.ts';

/** Builds the tool `schedule_callback`. @param conversations - The engine that the tool is a part of. */
export function buildCallbacks(
  { storage, redis, usage, liveEvents, clock, makeId, logger }: ThreadContext,
  conversations: () => ConversationEngine,
): ScheduleCallback {
  const { projects, phoneNumbers, trunks, slotHolders, doNotCall } = storage.stores;
  const limiter = new CallLimiter({
    projects,
    phoneNumbers,
    trunks,
    usage: redisProjectCalls(redis, slotHolders),
    meter: usage,
    clock,
    // A caller's wish, no order of the project.
    metrics: { callRefused: () => undefined },
    onRefused: (projectId, reason) => logger.warn({ projectId, reason }, 'callback refused'),
  });
  return callbackScheduler({
    phoneNumbers,
    trunks,
    limiter,
    callingRules: doNotCall.rulesFor,
    liveEvents,
    clock,
    makeId,
    conversations: { prepare: (session) => conversations().prepare(session) },
    insertOnce: (insert) => storage.transaction<AcceptedCall>(insert),
  });
}
