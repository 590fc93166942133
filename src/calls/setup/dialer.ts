import { retryForever } from '../../base/async/retryForever.ts';
import type { CallwayError } from '../../base/errors.ts';
import type { Clock } from '../../base/values/clock.ts';
import type { Call, CallEndReason, FinalStatus } from '../call.ts';
import type { CallStore } from '../callStore.ts';
import type { CallLimiter } from '../limits/callLimiter.ts';
import type { NodeCapacity } from '../limits/nodeCapacity.ts';
import type { CallFinisher } from '../runner/callFinisher.ts';
import type { CallRunner } from '../runner/callRunner.ts';
import type { Trunk } from '../trunks/trunk.ts';
import { selectTrunks, type TrunkSelectionDeps } from '../trunks/trunkSelection.ts';
import type { TrunkSlots } from '../trunks/trunkSlots.ts';
import type { JobResult } from './callQueue.ts';

export interface DialerDeps extends TrunkSelectionDeps {
  readonly nodeId: string;
  readonly calls: Pick<CallStore, 'claim' | 'releaseClaim'>;
  readonly slots: TrunkSlots;
  readonly limiter: Pick<CallLimiter, 'startCall' | 'endCall'>;
  readonly capacity: NodeCapacity;
  readonly runner: CallRunner;
  /** The reason for which this node takes no calls at the moment. */
  readonly callRefusal: () => CallwayError | undefined;
  readonly finisher: CallFinisher;
  readonly clock: Clock;
  readonly onError: (error: unknown, what: string) => void;
}

const DONE: JobResult = { done: true };
/** Bounds of the delay until a call that waits for a trunk is tried again. */
const MAX_WAIT_MS = 5000;
const MIN_WAIT_MS = 50;
/** The delay until any node with capacity retries a call that this node had no room for or refused. */
const NODE_FULL: JobResult = { again: true, afterMs: 500 };
/** The delay until a call is retried whose project had no free slot. */
const PROJECT_FULL_WAIT_MS = 2000;

/**
 * Processes one job of the call queue: claims the call for this node, takes a channel of the first of its trunks that has
 * one, and hands it to the runner. While this node is full or takes no calls, or the project or every trunk is full, the call
 * returns to the queue.
 */
export async function dialQueuedCall(deps: DialerDeps, callId: string): Promise<JobResult> {
  const { capacity } = deps;
  // The call was requeued while this node was taken for dead and still runs it: it must not be dialed twice. The sweeper
  // queues it again if it is still waiting later.
  if (capacity.has(callId)) return DONE;
  if (deps.callRefusal() || !capacity.acquire(callId)) return NODE_FULL;
  let result: JobResult | 'dialing' = DONE;
  try {
    result = await claimAndDial(deps, callId);
    return result === 'dialing' ? DONE : result;
  } finally {
    if (result !== 'dialing') capacity.release(callId);
  }
}

async function claimAndDial(deps: DialerDeps, callId: string): Promise<JobResult | 'dialing'> {
  try {
    const call = await deps.calls.claim(callId, deps.nodeId, now(deps));
    // Canceled, or claimed by another node.
    if (!call) return DONE;
    if (call.hangupRequested) return await end(deps, call, 'canceled', 'api_hangup');
    const admission = await deps.limiter.startCall(call);
    if (admission === 'refused') return await end(deps, call, 'failed', 'rejected');
    if (admission === 'full') return await requeue(deps, call, PROJECT_FULL_WAIT_MS);
    const trunks = await selectTrunks(deps, call.projectId, call.fromNumber);
    if (trunks.length === 0) return await end(deps, call, 'failed', 'trunk_error');
    const acquired = await acquireFirst(deps, call, trunks);
    if ('waitMs' in acquired) return await requeue(deps, call, acquired.waitMs);
    const { trunk } = acquired;
    deps.runner.dial({ ...call, trunkId: trunk.id }, trunks.slice(trunks.indexOf(trunk)));
    return 'dialing';
  } catch (error) {
    // Not awaited: this job is over, and the sweeper adds another one once the claim is released.
    void retryForever(
      deps.clock,
      () => deps.calls.releaseClaim(callId, deps.nodeId),
      (failure) => deps.onError(failure, 'claim of a call that was not dialed not released, retrying'),
    );
    throw error;
  }
}

async function end(
  deps: DialerDeps,
  call: Call,
  status: FinalStatus,
  endReason: CallEndReason,
): Promise<JobResult> {
  await deps.finisher.finish(call, deps.nodeId, { status, endReason, endedAt: now(deps) });
  return DONE;
}

async function requeue(deps: DialerDeps, call: Call, waitMs: number): Promise<JobResult> {
  await deps.limiter.endCall(call);
  const isCanceled = await deps.calls.releaseClaim(call.id, deps.nodeId);
  // The API waits until the call that it was asked to hang up meanwhile is canceled: by this job, when it claims it again.
  const afterMs = isCanceled ? MIN_WAIT_MS : Math.min(MAX_WAIT_MS, Math.max(MIN_WAIT_MS, waitMs));
  return { again: true, afterMs };
}

async function acquireFirst(
  { slots }: DialerDeps,
  call: Call,
  trunks: readonly Trunk[],
): Promise<{ readonly trunk: Trunk } | { readonly waitMs: number }> {
  let shortestMs = MAX_WAIT_MS;
  for (const trunk of trunks) {
    const waitMs = await slots.acquire(trunk, call.id, 'outbound');
    if (waitMs === 0) return { trunk };
    shortestMs = Math.min(shortestMs, waitMs);
  }
  return { waitMs: shortestMs };
}

const now = ({ clock }: DialerDeps): string => new Date(clock.now()).toISOString();
