import type { Logger } from 'pino';
import type { CallService } from '../api/ports.ts';
import type { Clock } from '../base/clock.ts';
import type { MakeId } from '../base/ids.ts';
import type { Tracer } from '../base/tracing.ts';
import type { CallMetrics } from '../calls/callMetrics.ts';
import { type CallLimiter, createCallLimiter } from '../calls/limits/callLimiter.ts';
import { startCallSweeper } from '../calls/nodes/callSweeper.ts';
import type { Leases } from '../calls/nodes/leases.ts';
import type { NodeBus } from '../calls/nodes/nodeBus.ts';
import { registerNode } from '../calls/nodes/nodeRegistration.ts';
import type { CallRecordings } from '../calls/recording/callRecordings.ts';
import { createCallControl } from '../calls/runner/callControl.ts';
import { type CallFinisher, createCallFinisher } from '../calls/runner/callFinisher.ts';
import { acceptCall } from '../calls/setup/acceptCall.ts';
import type { CallQueue } from '../calls/setup/callQueue.ts';
import type { NumberLock } from '../calls/setup/numberLock.ts';
import type { TrunkHealthStore } from '../calls/trunks/trunkHealth.ts';
import type { TrunkSlots } from '../calls/trunks/trunkSlots.ts';
import type { ConversationEngine } from '../engine/conversationEngine.ts';
import {
  CHECKPOINT_STALE_MS,
  recoverInterruptedTurn,
  type TurnCheckpointStore,
} from '../engine/session/interruptedTurn.ts';
import type { createStorage } from '../infra/postgres/storage.ts';
import type { RedisConnection } from '../infra/redis/connection/connection.ts';
import { redisProjectCalls } from '../infra/redis/limits/projectCalls.ts';
import { redisTrunkSlots } from '../infra/redis/limits/trunkSlots.ts';
import { redisLeases } from '../infra/redis/locks/leases.ts';
import { redisNumberLock } from '../infra/redis/locks/numberLock.ts';
import { redisNodeBus } from '../infra/redis/nodes/nodeBus.ts';
import { redisTrunkHealth } from '../infra/redis/nodes/trunkHealth.ts';
import { redisCallQueue } from '../infra/redis/queues/callQueue.ts';
import type { JobQueues } from '../infra/redis/queues/jobQueues.ts';

export interface CallParts {
  readonly storage: ReturnType<typeof createStorage>;
  readonly jobs: JobQueues;
  readonly redis: RedisConnection;
  /** A connection that nothing else uses. */
  readonly subscriber: RedisConnection;
  readonly conversations: ConversationEngine;
  readonly turnNotes: TurnCheckpointStore;
  readonly recordings: CallRecordings;
  readonly meter: CallMetrics;
  /** Webhooks may be due. */
  readonly onTold: () => void;
  /** This life of this node, or of its data folder where no other node can have it. */
  readonly nodeId: string;
  readonly clock: Clock;
  readonly makeId: MakeId;
  readonly tracing: Tracer;
  readonly logger: Logger;
}

/** What the nodes share, and what a runner needs to place, carry and finish calls. */
export interface BuiltCalls {
  readonly services: CallService;
  readonly hangUp: (projectId: string, callId: string) => Promise<void>;
  readonly finisher: CallFinisher;
  readonly lock: NumberLock;
  readonly queue: CallQueue;
  readonly slots: TrunkSlots;
  readonly guard: CallLimiter;
  readonly health: TrunkHealthStore;
  readonly leases: Leases;
  readonly bus: NodeBus;
  readonly nodeId: string;
  /** Begins to see to calls that nobody sees to; for the role `worker`. */
  startSweeper(): void;
  /** Ends what this node's former life left, and beats; for a node that carries calls. */
  beginLife(): Promise<void>;
  /** Idempotent; after whatever carries calls has ended. */
  close(): Promise<void>;
}

export function buildCalls(parts: CallParts): BuiltCalls {
  const { storage, redis, conversations, recordings, clock, makeId, logger, nodeId } = parts;
  const { calls, projects, phoneNumbers, trunks, recordingRemovals } = storage.stores;
  const onError = (error: unknown, what: string) => logger.warn({ err: error }, what);
  const lock = redisNumberLock(redis);
  const slots = redisTrunkSlots(redis);
  const guard = createCallLimiter({
    projects,
    counts: redisProjectCalls(redis),
    meter: parts.meter,
    onRefused: (projectId, reason) => logger.warn({ projectId, reason }, 'a call was refused'),
  });
  const health = redisTrunkHealth(redis);
  const leases = redisLeases(redis, nodeId);
  const queue = redisCallQueue(parts.jobs);
  const bus = redisNodeBus({ publisher: redis, subscriber: parts.subscriber, onError });
  const finisher = createCallFinisher({
    calls,
    conversations,
    tell: storage.outbox.recordFact,
    keepLostWords: ({ projectId, sessionId }) =>
      recoverInterruptedTurn(
        { sessions: storage.stores.sessions, notes: parts.turnNotes, clock },
        projectId,
        sessionId,
        CHECKPOINT_STALE_MS,
      ),
    lock,
    slots,
    guard,
    onTold: parts.onTold,
    now: clock.now,
    onError,
  });
  const control = createCallControl({ calls, finisher, queue, guard, bus, clock, onError });
  const { tracing } = parts;
  const acceptance = {
    phoneNumbers,
    trunks,
    conversations,
    guard,
    lock,
    queue,
    clock,
    makeId,
    tracing,
    onError,
  };
  const ending = { calls, recordings, finisher, queue, clock, onError };
  const closers: (() => Promise<void>)[] = [];

  return {
    services: {
      accept: (order, keep) => acceptCall(acceptance, order, keep),
      hangUp: control.hangUp,
      transfer: control.transfer,
      trunkHealth: (trunkIds) => readHealth(health, slots, trunkIds),
      trunksChanged: () =>
        bus.publish({ kind: 'trunks' }).catch((error: unknown) => {
          onError(error, 'nodes were not told of a changed trunk; they look by themselves');
        }),
      recordings,
    },
    hangUp: control.hangUpAndWait,
    finisher,
    lock,
    queue,
    slots,
    guard,
    health,
    leases,
    bus,
    nodeId,
    startSweeper() {
      closers.push(startCallSweeper({ ...ending, removals: recordingRemovals, lock, leases }));
    },
    async beginLife() {
      closers.push(await registerNode({ ...ending, nodeId }));
    },
    async close() {
      for (const close of closers.splice(0).reverse()) await close();
    },
  };
}

/** For a gateway that keeps no recordings. */
export const noRecordings: CallRecordings = {
  url: () => undefined,
  recover: async () => ({ status: 'failed', key: null, durationMs: null, error: 'Its node was lost' }),
  remove: async () => undefined,
};

async function readHealth(health: TrunkHealthStore, slots: TrunkSlots, trunkIds: readonly string[]) {
  const [seen, inUse] = await Promise.all([
    health.read(trunkIds),
    Promise.all(trunkIds.map((id) => slots.inUse(id))),
  ]);
  const unknown = { reachable: null, registered: null, lastOptionsMs: null, error: null };
  return new Map(
    trunkIds.map((id, index) => [id, { ...(seen.get(id) ?? unknown), channelsInUse: inUse[index] ?? 0 }]),
  );
}
