import type { Clock } from '../../base/clock.ts';
import { repeat } from '../../base/repeat.ts';
import { type Call, expectsRecording, isFinal, isRecordingFinal } from '../call.ts';
import type { CallStore, OrphanedCall, QueuedCall } from '../callStore.ts';
import type { CallRecordings } from '../recording/callRecordings.ts';
import type { RecordingRemovals } from '../recording/recordingStore.ts';
import type { CallFinisher } from '../runner/callFinisher.ts';
import type { CallQueue } from '../setup/callQueue.ts';
import type { NumberLock } from '../setup/numberLock.ts';
import type { Leases } from './leases.ts';

/** Well within the lease of a number's lock, which waiting calls keep by it. */
const SWEEP_MS = 10_000;
/** A sweeper that has died is followed by another after this time. */
const LEASE_MS = 25_000;
const LEASE = 'call-sweep';
/** A node that has not beaten for so long is dead, and its calls are over. */
export const NODE_SILENT_MS = 30_000;
/** An accepted call whose job is not in the queue by then has lost it. */
const JOB_LOST_MS = 15_000;
const BATCH = 200;

export interface CallSweeperDeps {
  readonly calls: Pick<CallStore, 'listQueued' | 'listOrphans' | 'releaseClaim' | 'find'>;
  readonly removals: RecordingRemovals;
  readonly recordings: Pick<CallRecordings, 'recover' | 'remove'>;
  readonly finisher: CallFinisher;
  readonly lock: Pick<NumberLock, 'renew' | 'acquire' | 'release'>;
  readonly queue: Pick<CallQueue, 'add'>;
  readonly leases: Leases;
  readonly clock: Clock;
  readonly onError: (error: unknown, what: string) => void;
}

/**
 * Sees to calls that nobody sees to: those that wait keep their locks and their jobs, those of dead nodes are ended,
 * those that are over are settled; and files of recordings go whose calls are gone. One node at a time does it.
 *
 * @returns A function that stops it, and waits for what it is at; idempotent.
 */
export function startCallSweeper(deps: CallSweeperDeps): () => Promise<void> {
  const stop = repeat(
    deps.clock,
    SWEEP_MS,
    () => sweepCalls(deps),
    (error) => deps.onError(error, 'sweeping calls failed; it is tried again'),
  );
  return async () => {
    await stop();
    await deps.leases.release(LEASE).catch((error: unknown) => {
      deps.onError(error, 'the sweeper’s lease was not given back; it runs out');
    });
  };
}

/** One sweep; does nothing while another node sweeps. */
export async function sweepCalls(deps: CallSweeperDeps): Promise<void> {
  if (!(await deps.leases.hold(LEASE, LEASE_MS))) return;
  await keepQueued(deps);
  await endOrphans(deps);
  await removeRecordings(deps);
}

async function keepQueued(deps: CallSweeperDeps): Promise<void> {
  let after: string | null = null;
  for (;;) {
    const queued: QueuedCall[] = await deps.calls.listQueued(after, BATCH);
    await Promise.all(queued.map((call) => keepWaiting(deps, call)));
    after = queued.at(-1)?.id ?? null;
    if (queued.length < BATCH) return;
  }
}

async function keepWaiting(deps: CallSweeperDeps, call: QueuedCall): Promise<void> {
  const { id, projectId, toNumber, createdAtMs } = call;
  if (!(await deps.lock.renew(projectId, toNumber, id))) await takeLockAgain(deps, call);
  if (deps.clock.now() - createdAtMs > JOB_LOST_MS) await deps.queue.add(id, projectId);
}

/** It ran out while nobody swept, and no other call can have been kept meanwhile; or the call has just ended. */
async function takeLockAgain(
  { calls, lock }: CallSweeperDeps,
  { id, projectId, toNumber }: QueuedCall,
): Promise<void> {
  await lock.acquire(projectId, toNumber, id);
  const call = await calls.find(projectId, id);
  if (!call || isFinal(call.status)) await lock.release(projectId, toNumber, id);
}

async function endOrphans(deps: CallSweeperDeps): Promise<void> {
  const before = new Date(deps.clock.now() - NODE_SILENT_MS);
  for (const orphan of await deps.calls.listOrphans(before, BATCH)) {
    // One that cannot be ended holds up none of the others.
    await endOrphan(deps, orphan).catch((error: unknown) => {
      deps.onError(error, 'a call without a node was not ended; it is tried again');
    });
  }
}

export interface OrphanDeps extends Pick<CallSweeperDeps, 'recordings' | 'finisher' | 'queue' | 'clock'> {
  readonly calls: Pick<CallStore, 'releaseClaim'>;
}

/** Ends a call whose node is gone, or goes on with what its end made due. */
export async function endOrphan(deps: OrphanDeps, { call, lastSeenAt }: OrphanedCall): Promise<void> {
  const { calls, recordings, finisher, queue, clock } = deps;
  if (call.status === 'queued' && call.nodeId !== null && !call.hangupRequested) {
    // Nothing has gone out yet: another node may place it.
    await calls.releaseClaim(call.id, call.nodeId);
    await queue.add(call.id, call.projectId);
    return;
  }
  const over = isFinal(call.status)
    ? call
    : await finisher.finish(call, null, lossOf(call, lastSeenAt, clock));
  if (!over) return;
  const isPending = expectsRecording(over) && !isRecordingFinal(over);
  if (isPending) await finisher.completeRecording(over, await recordings.recover(over));
  else if (over === call) await finisher.settle(call);
}

/** A call was over when its node was last seen, as far as anybody can tell. */
function lossOf(call: Call, lastSeenAt: string | null, clock: Clock) {
  const begun = [call.createdAt, call.startedAt, call.answeredAt].map((at) =>
    Date.parse(at ?? call.createdAt),
  );
  const endedAtMs = Math.max(...begun, lastSeenAt === null ? clock.now() : Date.parse(lastSeenAt));
  const canceled = call.status === 'queued' && call.hangupRequested;
  return {
    status: canceled ? ('canceled' as const) : ('failed' as const),
    endReason: canceled ? ('api_hangup' as const) : ('node_lost' as const),
    endedAt: new Date(endedAtMs).toISOString(),
  };
}

async function removeRecordings({ removals, recordings }: CallSweeperDeps): Promise<void> {
  for (const key of await removals.due(BATCH)) {
    await recordings.remove(key);
    await removals.done(key);
  }
}
