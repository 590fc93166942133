import { readPages } from '../../base/async/readPages.ts';
import { repeat } from '../../base/async/repeat.ts';
import { unlessAborted } from '../../base/async/unlessAborted.ts';
import type { Clock } from '../../base/values/clock.ts';
import { type Call, expectsRecording, isFinal, isRecordingFinal } from '../call.ts';
import type { CallStore, OrphanedCall, QueuedCall } from '../callStore.ts';
import type { CallRecordings } from '../recording/callRecordings.ts';
import type { CallEnd, CallFinisher } from '../runner/callFinisher.ts';
import type { NumberLock } from '../setup/numberLock.ts';
import type { Leases } from './leases.ts';

/** The heartbeat interval. Several heartbeats fit into NODE_TIMEOUT_MS. */
const HEARTBEAT_MS = 5_000;
/** The interval of sweeps, far below the lease of the number locks, which the sweep renews for queued calls. */
const SWEEP_MS = 10_000;
/** The sweeper's lease. Another node takes over from a failed sweeper after this time. */
const LEASE_MS = 25_000;
const LEASE = 'call-sweep';
/** A node without a heartbeat for this long has failed, and its calls have ended. */
const NODE_TIMEOUT_MS = 30_000;
const BATCH = 200;
const NEVER = new AbortController().signal;

interface OrphanDeps {
  readonly calls: CallStore;
  readonly recordings: CallRecordings;
  readonly finisher: CallFinisher;
  readonly clock: Clock;
}

export interface CallSweeperDeps extends OrphanDeps {
  readonly calls: CallStore;
  readonly lock: NumberLock;
  readonly leases: Leases;
  readonly onError: (error: unknown, what: string) => void;
}

/**
 * Renews the locks of queued calls, ends the calls of failed nodes, and settles ended calls. One node at a time
 * does it.
 *
 * @returns A function that stops it and waits for the current sweep; idempotent.
 */
export function startCallSweeper(deps: CallSweeperDeps): () => Promise<void> {
  // While the database is away no heartbeat is stored: every node has until the next sweep to be seen again.
  let hasFailed = false;
  const stop = repeat(
    deps.clock,
    SWEEP_MS,
    async (signal) => {
      const wasAway = hasFailed;
      hasFailed = false;
      await sweepCalls(deps, { wasAway, signal });
    },
    (error) => {
      hasFailed = true;
      deps.onError(error, 'call sweep failed, retrying');
    },
  );
  return async () => {
    await stop();
    await deps.leases.release(LEASE).catch((error: unknown) => {
      deps.onError(error, 'sweeper lease not released, it expires');
    });
  };
}

/**
 * Runs one sweep; does nothing while another node is the sweeper.
 *
 * @param wasAway - The database was away at the last sweep, so that heartbeats do not tell which nodes have failed.
 * @param signal - Ends the sweep. A recording that is being stored is left to the next one.
 */
export async function sweepCalls(
  deps: CallSweeperDeps,
  { wasAway = false, signal = NEVER }: { readonly wasAway?: boolean; readonly signal?: AbortSignal } = {},
): Promise<void> {
  if (!(await deps.leases.hold(LEASE, LEASE_MS))) return;
  await keepQueued(deps);
  if (!wasAway) await endOrphans(deps, signal);
}

async function keepQueued(deps: CallSweeperDeps): Promise<void> {
  const read = (limit: number, after?: QueuedCall) => deps.calls.listQueued(limit, after?.id);
  for await (const queued of readPages(BATCH, read))
    await Promise.all(queued.map((call) => renewQueued(deps, call)));
}

async function renewQueued(deps: CallSweeperDeps, call: QueuedCall): Promise<void> {
  const { id, projectId, toNumber } = call;
  if (!(await deps.lock.renew(projectId, toNumber, id))) await restoreLock(deps, call);
}

/** The lock expired between sweeps, during which no other call to the number can be stored; or the call just ended. */
async function restoreLock(
  { calls, lock }: CallSweeperDeps,
  { id, projectId, toNumber }: QueuedCall,
): Promise<void> {
  await lock.acquire(projectId, toNumber, id);
  const call = await calls.find(projectId, id);
  if (!call || isFinal(call.status)) await lock.release(projectId, toNumber, id);
}

async function endOrphans(deps: CallSweeperDeps, signal: AbortSignal): Promise<void> {
  const before = new Date(deps.clock.now() - NODE_TIMEOUT_MS);
  const read = (limit: number, after?: OrphanedCall) => deps.calls.listOrphans(before, limit, after?.call.id);
  const failed = (error: unknown) => deps.onError(error, 'orphaned call not ended, retrying');
  // A failure of one does not hold up the others.
  for await (const orphans of readPages(BATCH, read))
    for (const orphan of orphans) {
      if (signal.aborted) return;
      await endOrphan(deps, orphan, signal).catch(failed);
    }
}

/** Ends a call whose node has failed, or completes its end. */
async function endOrphan(
  deps: OrphanDeps,
  { call, lastSeenAt }: OrphanedCall,
  signal = NEVER,
): Promise<void> {
  const { calls, recordings, finisher, clock } = deps;
  if (call.status === 'queued' && call.nodeId !== null && !call.hangupRequested) {
    // No INVITE was sent: another node may dial it.
    await calls.releaseClaim(call.id, call.nodeId);
    return;
  }
  const ended = isFinal(call.status)
    ? call
    : await finisher.finish(call, null, lostEnd(call, lastSeenAt, clock));
  if (!ended) return;
  if (expectsRecording(ended) && !isRecordingFinal(ended)) {
    await finisher.completeRecording(ended, await unlessAborted(recordings.recover(ended), signal));
  } else if (ended === call) await finisher.settle(call);
}

/** Returns the end of a lost call. The last heartbeat of its node is the best known time. */
function lostEnd(call: Call, lastSeenAt: string | null, clock: Clock): CallEnd {
  const { createdAt, startedAt, answeredAt, transfer } = call;
  const starts = [createdAt, startedAt, answeredAt, transfer?.startedAt].map((at) =>
    Date.parse(at ?? createdAt),
  );
  const lastSeenMs = lastSeenAt === null ? clock.now() : Date.parse(lastSeenAt);
  const endedAt = new Date(Math.max(...starts, lastSeenMs)).toISOString();
  return call.status === 'queued' && call.hangupRequested
    ? { status: 'canceled', endReason: 'api_hangup', endedAt }
    : { status: 'failed', endReason: 'node_lost', endedAt, ...lostTransfer(call, endedAt) };
}

function lostTransfer({ transfer }: Call, endedAt: string): Pick<CallEnd, 'transfer'> {
  if (transfer === null || transfer.endedAt !== null) return {};
  const reason = 'the node of the call failed';
  return { transfer: { ...transfer, status: 'failed', outcome: 'failed', reason, endedAt } };
}

export interface NodeRegistrationDeps extends OrphanDeps {
  readonly calls: CallStore;
  readonly nodeId: string;
  readonly onError: (error: unknown, what: string) => void;
}

/**
 * Registers a node that runs calls: ends the calls that its previous process left, then sends heartbeats.
 *
 * @returns A function that stops the heartbeats; idempotent. The sweeper ends the calls that the node still runs.
 */
export async function registerNode(deps: NodeRegistrationDeps): Promise<() => Promise<void>> {
  const { calls, nodeId, clock, onError } = deps;
  const heartbeat = () => calls.recordHeartbeat(nodeId, new Date(clock.now()));
  for (const orphan of await calls.listUnsettledOn(nodeId)) {
    await endOrphan(deps, orphan).catch((error: unknown) => {
      onError(error, 'call of the previous process not ended, the sweeper ends it');
    });
  }
  await heartbeat();
  return repeat(clock, HEARTBEAT_MS, heartbeat, (error) => onError(error, 'node heartbeat not stored'));
}
