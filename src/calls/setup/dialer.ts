import { retryForever } from '../../base/async/retryForever.ts';
import { type CallwayError, isUnavailable } from '../../base/errors.ts';
import type { Clock } from '../../base/values/clock.ts';
import type { Again, ClaimedWork, LeasedWork } from '../../work/work.ts';
import type { WorkKind } from '../../work/worker.ts';
import { type Call, type CallEndReason, type FinalStatus, isFinal } from '../call.ts';
import type { CallStore } from '../callStore.ts';
import type { CallLimiter } from '../limits/callLimiter.ts';
import type { NodeCapacity } from '../limits/nodeCapacity.ts';
import type { CallFinisher } from '../runner/callFinisher.ts';
import type { CallRunner } from '../runner/callRunner.ts';
import type { Trunk } from '../trunks/trunk.ts';
import { selectTrunks, type TrunkSelectionDeps } from '../trunks/trunkSelection.ts';
import type { TrunkSlots } from '../trunks/trunkSlots.ts';
import type { WaitingCalls } from './waitingCalls.ts';

export interface DialerDeps extends TrunkSelectionDeps {
  readonly nodeId: string;
  readonly calls: CallStore;
  readonly waiting: WaitingCalls;
  /** Ends or postpones a call that may not be placed now. @see endsOrWaits */
  readonly endsOrWaits: (call: Call) => Promise<boolean>;
  readonly slots: TrunkSlots;
  readonly limiter: CallLimiter;
  readonly capacity: NodeCapacity;
  readonly runner: CallRunner;
  /** The reason for which this node takes no calls at the moment. */
  readonly callRefusal: () => CallwayError | undefined;
  readonly finisher: CallFinisher;
  readonly clock: Clock;
  readonly onError: (error: unknown, what: string) => void;
}

/** Projects whose calls a node dials at once; each call takes a few milliseconds before the runner has it. */
const MAX_RUNNING = 32;
/** Calls that a node dials before any node goes on, so that a project's calls do not all run on one of many. */
const CALLS_PER_CLAIM = 2;
/** A freed channel, or slot of a project, is used within this time. */
const FULL_WAIT_MS = 500;
/** The delay until a call whose dialing failed unexpectedly is tried again. */
const FAILED_WAIT_MS = 5_000;
/** The delay until calls are tried again while Redis or the database is away. */
const UNAVAILABLE_WAIT_MS = 1_000;

/**
 * The dialing of queued calls, as a kind of work: a project's calls in their order, each on the first of its trunks that has
 * a channel. Calls wait while their trunks, the project or the node are full.
 */
export function dialingWork(deps: DialerDeps, rows: LeasedWork): WorkKind {
  const { capacity, callRefusal, onError } = deps;
  return {
    name: 'calls',
    rows,
    run: (queue, signal) =>
      dialWaiting(deps, queue, signal).catch((error: unknown) => {
        if (!isUnavailable(error)) throw error;
        onError(error, 'waiting calls not dialed, retrying');
        return { afterMs: UNAVAILABLE_WAIT_MS };
      }),
    maxRunning: MAX_RUNNING,
    room: () => (callRefusal() ? 0 : capacity.limit - capacity.inUse),
  };
}

async function dialWaiting(
  deps: DialerDeps,
  { id, projectId }: ClaimedWork,
  signal: AbortSignal,
): Promise<Again | undefined> {
  while (!signal.aborted) {
    const waiting = await deps.waiting.first(projectId);
    if (waiting.length === 0 && (await deps.waiting.closeQueue(id))) return undefined;
    const again = await dialInOrder(deps, waiting, signal);
    if (again) return again;
  }
  return { afterMs: 0 };
}

/** What became of a waiting call; `project_full` and `node_full` hold for those after it too. */
type Outcome = 'dialing' | 'gone' | 'waits' | 'failed' | 'project_full' | 'node_full';

/** @returns Undefined when more calls may be dialed now. */
async function dialInOrder(
  deps: DialerDeps,
  waiting: readonly Call[],
  signal: AbortSignal,
): Promise<Again | undefined> {
  const trunks = new TrunksInUse(deps);
  const outcomes = new Set<Outcome>();
  let dialed = 0;
  for (const call of waiting) {
    if (signal.aborted) return undefined;
    const outcome = await dialWithCapacity(deps, call, trunks).catch((error: unknown): Outcome => {
      if (isUnavailable(error)) throw error;
      deps.onError(error, 'waiting call not dialed, retrying');
      return 'failed';
    });
    if (outcome === 'node_full') return { afterMs: 0 };
    if (outcome === 'project_full') return { afterMs: FULL_WAIT_MS };
    outcomes.add(outcome);
    if (outcome === 'dialing') dialed += 1;
    if (dialed === CALLS_PER_CLAIM) return { afterMs: 0 };
  }
  const isProgress = waiting.length === 0 || outcomes.has('dialing') || outcomes.has('gone');
  if (isProgress) return undefined;
  return { afterMs: outcomes.has('waits') ? trunks.waitMs : FAILED_WAIT_MS };
}

async function dialWithCapacity(deps: DialerDeps, call: Call, trunks: TrunksInUse): Promise<Outcome> {
  const { capacity } = deps;
  // It was put back while this node was taken for dead, and still runs here: it must not be dialed twice.
  if (capacity.has(call.id)) return 'waits';
  if (deps.callRefusal() || !capacity.acquire(call.id)) return 'node_full';
  let outcome: Outcome = 'gone';
  try {
    outcome = await claimAndDial(deps, call, trunks);
    return outcome;
  } finally {
    if (outcome !== 'dialing') capacity.release(call.id);
  }
}

async function claimAndDial(deps: DialerDeps, waiting: Call, inUse: TrunksInUse): Promise<Outcome> {
  const { calls, limiter, nodeId } = deps;
  const trunks = waiting.hangupRequested ? [] : await inUse.trunksOf(waiting);
  if (inUse.areFull(trunks)) return 'waits';
  try {
    const call = await calls.claim(waiting.id, nodeId);
    // Canceled, or claimed by another node.
    if (!call) return 'gone';
    if (call.hangupRequested) return await end(deps, call, 'canceled', 'api_hangup');
    if (await deps.endsOrWaits(call)) return 'gone';
    const admission = await limiter.startCall(call);
    if (admission === 'refused') return await end(deps, call, 'failed', 'rejected');
    if (admission === 'full') return await putBack(deps, call, 'project_full');
    if (trunks.length === 0) return await end(deps, call, 'failed', 'trunk_error');
    const trunk = await inUse.acquireFirst(call, trunks);
    if (!trunk) return await putBack(deps, call, 'waits');
    deps.runner.dial({ ...call, trunkId: trunk.id }, trunks.slice(trunks.indexOf(trunk)));
    return 'dialing';
  } catch (error) {
    // Not awaited: the database may be away for long.
    void retryForever(
      deps.clock,
      () => calls.releaseClaim(waiting.id, nodeId),
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
): Promise<Outcome> {
  await deps.finisher.finish(call, deps.nodeId, { status, endReason, endedAt: now(deps) });
  return 'gone';
}

async function putBack(deps: DialerDeps, call: Call, outcome: Outcome): Promise<Outcome> {
  const { calls, limiter, finisher, nodeId } = deps;
  await limiter.endCall(call);
  const isCanceled = await calls.releaseClaim(call.id, nodeId);
  // The API was asked to hang up meanwhile, which cancels a call that no node has.
  const canceled = isCanceled ? await calls.requestHangup(call.projectId, call.id, now(deps)) : undefined;
  if (canceled && isFinal(canceled.status)) await finisher.settleCanceled(canceled);
  return outcome;
}

const now = ({ clock }: DialerDeps): string => new Date(clock.now()).toISOString();

/** The trunks of a project's waiting calls. One that was found full is not asked again by the calls after. */
class TrunksInUse {
  readonly #deps: DialerDeps;
  readonly #ofNumbers = new Map<string, readonly Trunk[]>();
  /** The time until each full trunk may take a call. */
  readonly #fullMs = new Map<string, number>();

  constructor(deps: DialerDeps) {
    this.#deps = deps;
  }

  /** The shortest time until one may take a call. */
  get waitMs(): number {
    return Math.min(FULL_WAIT_MS, ...this.#fullMs.values());
  }

  async trunksOf({ projectId, fromNumber }: Call): Promise<readonly Trunk[]> {
    const known = this.#ofNumbers.get(fromNumber);
    if (known) return known;
    const trunks = await selectTrunks(this.#deps, projectId, fromNumber);
    this.#ofNumbers.set(fromNumber, trunks);
    return trunks;
  }

  areFull(trunks: readonly Trunk[]): boolean {
    return trunks.length > 0 && trunks.every(({ id }) => this.#fullMs.has(id));
  }

  async acquireFirst(call: Call, trunks: readonly Trunk[]): Promise<Trunk | undefined> {
    for (const trunk of trunks) {
      if (this.#fullMs.has(trunk.id)) continue;
      const waitMs = await this.#deps.slots.acquire(trunk, call.id, 'outbound');
      if (waitMs === 0) return trunk;
      this.#fullMs.set(trunk.id, waitMs);
    }
    return undefined;
  }
}
