import type { Clock } from '../../base/clock.ts';
import { retryForever } from '../../base/retryForever.ts';
import type { Call } from '../call.ts';
import type { CallStore } from '../callStore.ts';
import type { CallLimiter } from '../limits/callLimiter.ts';
import type { NodeCapacity } from '../limits/nodeCapacity.ts';
import type { CallEnd } from '../runner/callFinisher.ts';
import type { CallRunner } from '../runner/callRunner.ts';
import type { Trunk } from '../trunks/trunk.ts';
import { selectTrunks, type TrunkSelectionDeps } from '../trunks/trunkSelection.ts';
import type { TrunkSlots } from '../trunks/trunkSlots.ts';
import type { JobResult } from './callQueue.ts';

export interface DialerDeps extends TrunkSelectionDeps {
  readonly nodeId: string;
  readonly calls: Pick<CallStore, 'claim' | 'releaseClaim' | 'find'>;
  readonly slots: Pick<TrunkSlots, 'acquire'>;
  readonly guard: Pick<CallLimiter, 'startCall' | 'endCall'>;
  readonly admission: Pick<NodeCapacity, 'acquire' | 'has' | 'release'>;
  readonly runner: Pick<CallRunner, 'dial'>;
  readonly finish: (call: Call, end: CallEnd) => Promise<unknown>;
  readonly clock: Clock;
  readonly onError: (error: unknown, what: string) => void;
}

const CANCELED = { status: 'canceled', endReason: 'api_hangup' } as const;
const DONE: JobResult = { done: true };
/** A call that waits for a trunk asks again at least so often, and not more often than that. */
const LONGEST_WAIT_MS = 5000;
const SHORTEST_WAIT_MS = 50;
/** A call that found this node full asks again then, and whichever node has room takes it. */
const NODE_FULL: JobResult = { again: true, afterMs: 500 };
/** A call whose project has as many as it may asks again then. */
const PROJECT_FULL_MS = 2000;

/**
 * What is done with each job of the call queue: takes the call for this node, finds the first of its trunks that has
 * room, and has the call placed. Where this node or every trunk is full, the call goes back and waits.
 */
export function createDialer(deps: DialerDeps): (callId: string) => Promise<JobResult> {
  const now = () => new Date(deps.clock.now()).toISOString();
  const end = async (call: Call, how: Pick<CallEnd, 'status' | 'endReason'>): Promise<JobResult> => {
    await deps.finish(call, { ...how, endedAt: now() });
    return DONE;
  };
  const wait = async (call: Call, waitMs: number): Promise<JobResult> => {
    // Who asked for its end while this node looked for a way waits for it.
    const meanwhile = await deps.calls.find(call.projectId, call.id);
    if (meanwhile?.hangupRequested) return await end(call, CANCELED);
    await deps.guard.endCall(call);
    await deps.calls.releaseClaim(call.id, deps.nodeId);
    return { again: true, afterMs: Math.min(LONGEST_WAIT_MS, Math.max(SHORTEST_WAIT_MS, waitMs)) };
  };
  const place = async (callId: string): Promise<JobResult | 'placed'> => {
    try {
      const call = await deps.calls.claim(callId, deps.nodeId, now());
      // It was canceled, or another node has it.
      if (!call) return DONE;
      if (call.hangupRequested) return await end(call, CANCELED);
      const leave = await deps.guard.startCall(call);
      if (leave === 'refused') return await end(call, { status: 'failed', endReason: 'rejected' });
      if (leave === 'full') return await wait(call, PROJECT_FULL_MS);
      const route = await selectTrunks(deps, call.projectId, call.fromNumber);
      if (route.length === 0) return await end(call, { status: 'failed', endReason: 'trunk_error' });
      const taken = await takeFirst(deps, call, route);
      if ('waitMs' in taken) return await wait(call, taken.waitMs);
      deps.runner.dial({ ...call, trunkId: taken.trunk.id }, route.slice(route.indexOf(taken.trunk)));
      return 'placed';
    } catch (error) {
      // Not waited for: the job is over, and the sweeper makes another one of what is given back.
      void retryForever(
        deps.clock,
        () => deps.calls.releaseClaim(callId, deps.nodeId),
        (failure) => deps.onError(failure, 'a call that was not placed waits to be given back'),
      );
      throw error;
    }
  };
  return async (callId) => {
    // It was given back while this node was taken for dead, and this node has not heard of that yet: only one of the two
    // lives may dial. The sweeper makes another job of a call that waits still.
    if (deps.admission.has(callId)) return DONE;
    if (!deps.admission.acquire(callId)) return NODE_FULL;
    let result: JobResult | 'placed' = DONE;
    try {
      result = await place(callId);
      return result === 'placed' ? DONE : result;
    } finally {
      if (result !== 'placed') deps.admission.release(callId);
    }
  };
}

async function takeFirst(
  { slots }: DialerDeps,
  call: Call,
  route: readonly Trunk[],
): Promise<{ readonly trunk: Trunk } | { readonly waitMs: number }> {
  let shortestMs = LONGEST_WAIT_MS;
  for (const trunk of route) {
    const waitMs = await slots.acquire(trunk, call.id, 'outbound');
    if (waitMs === 0) return { trunk };
    shortestMs = Math.min(shortestMs, waitMs);
  }
  return { waitMs: shortestMs };
}
