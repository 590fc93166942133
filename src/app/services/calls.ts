import type { Logger } from 'pino';

import type { UsageMeter } from '../../agents/accounts/usage.ts';
import type { TransferTargetInput } from '../../agents/transferTarget.ts';
import type { CallService } from '../../api/ports.ts';
import type { CallwayError } from '../../base/errors.ts';
import type { Tracer } from '../../base/tracing.ts';
import type { Clock } from '../../base/values/clock.ts';
import type { MakeId } from '../../base/values/ids.ts';
import type { Call } from '../../calls/call.ts';
import type { CallMetrics } from '../../calls/callMetrics.ts';
import { CallLimiter } from '../../calls/limits/callLimiter.ts';
import { CallRequests } from '../../calls/nodes/callRequests.ts';
import { type CallSweeperDeps, startCallSweeper } from '../../calls/nodes/callSweeper.ts';
import { notifyTrunksChanged } from '../../calls/nodes/nodeBus.ts';
import { type NodeRegistrationDeps, registerNode } from '../../calls/nodes/nodeRegistration.ts';
import type { CallRecordings } from '../../calls/recording/callRecordings.ts';
import { CallControl } from '../../calls/runner/callControl.ts';
import { CallFinisher } from '../../calls/runner/callFinisher.ts';
import { acceptCall } from '../../calls/setup/acceptCall.ts';
import { type DueCallsDeps, startDueCalls } from '../../calls/setup/dueCalls.ts';
import { readTrunkHealth } from '../../calls/trunks/trunkHealth.ts';
import type { ConversationEngine } from '../../engine/conversationEngine.ts';
import {
  CHECKPOINT_STALE_MS,
  recoverInterruptedTurn,
  type TurnCheckpointStore,
} from '../../engine/session/interruptedTurn.ts';
import type { ReleaseStore } from '../../engine/session/releases.ts';
import type { LiveEvents } from '../../events/liveEvents.ts';
import type { createStorage } from '../../infra/postgres/storage.ts';
import type { RedisConnection } from '../../infra/redis/connection/connection.ts';
import { redisProjectCalls } from '../../infra/redis/limits/projectCalls.ts';
import { redisTrunkSlots } from '../../infra/redis/limits/trunkSlots.ts';
import { redisLeases } from '../../infra/redis/locks/leases.ts';
import { redisNumberLock } from '../../infra/redis/locks/numberLock.ts';
import { redisNodeBus } from '../../infra/redis/nodes/nodeBus.ts';
import { redisSipRejections } from '../../infra/redis/nodes/sipRejections.ts';
import { redisTrunkHealth } from '../../infra/redis/nodes/trunkHealth.ts';
import { redisCallQueue } from '../../infra/redis/queues/callQueue.ts';
import type { JobQueues } from '../../infra/redis/queues/jobQueues.ts';
import { Lifecycle } from '../lifecycle.ts';

export interface CallParts {
  readonly storage: ReturnType<typeof createStorage>;
  readonly jobs: JobQueues;
  readonly redis: RedisConnection;
  /** A connection for subscriptions only. */
  readonly subscriber: RedisConnection;
  readonly conversations: ConversationEngine;
  readonly turnCheckpoints: TurnCheckpointStore;
  readonly recordings: CallRecordings;
  readonly metrics: CallMetrics;
  readonly liveEvents: LiveEvents;
  /** Webhooks may be due. */
  readonly onFact: () => void;
  readonly usage: UsageMeter;
  readonly nodeId: string;
  readonly orderRefusal: () => CallwayError | undefined;
  readonly clock: Clock;
  readonly makeId: MakeId;
  readonly tracer: Tracer;
  readonly logger: Logger;
}

type SharedPorts = ReturnType<typeof redisPorts>;

/** What the API and the nodes that run calls have in common. */
export interface BuiltCalls extends SharedPorts {
  readonly service: CallService;
  readonly control: CallControl;
  readonly requests: CallRequests;
  readonly limiter: CallLimiter;
  readonly finisher: CallFinisher;
  readonly nodeId: string;
  /** Starts ending what failed nodes have left, and placing scheduled calls; for the role `worker`. */
  startSweeper(): void;
  /** Registers the node; for nodes that run calls. */
  registerNode(): Promise<void>;
  /** Idempotent; after the nodes' calls have ended. */
  close(): Promise<void>;
}

export function buildCalls(parts: CallParts): BuiltCalls {
  const { storage, conversations, recordings, liveEvents, clock, nodeId } = parts;
  const { calls, projects } = storage.stores;
  const onError = (error: unknown, what: string) => parts.logger.warn({ err: error }, what);
  const ports = redisPorts(parts, onError);
  const { lock, slots, usage, queue, bus, leases } = ports;
  const limiter = new CallLimiter({
    projects,
    phoneNumbers: storage.stores.phoneNumbers,
    trunks: storage.stores.trunks,
    usage,
    meter: parts.usage,
    clock,
    metrics: parts.metrics,
    onRefused: (projectId, reason) => parts.logger.warn({ projectId, reason }, 'call refused'),
  });
  const finisher = new CallFinisher({
    calls,
    conversations,
    recordFact: storage.outbox.recordFact,
    recoverInterruptedTurn: ({ projectId, sessionId }) =>
      recoverInterruptedTurn(
        { sessions: storage.stores.sessions, checkpoints: parts.turnCheckpoints, clock },
        projectId,
        sessionId,
        CHECKPOINT_STALE_MS,
      ),
    lock,
    slots,
    limiter,
    usage: parts.usage,
    liveEvents,
    recordingUrl: (key) => recordings.url(key),
    onFact: parts.onFact,
    now: clock.now,
    onError,
  });
  const requests = new CallRequests({ bus, clock, makeId: parts.makeId });
  const control = new CallControl({
    calls,
    finisher,
    queue,
    limiter,
    transferTargets: (call) => transferTargetsOf(parts, call),
    hasMedia: async (projectId, mediaId) =>
      (await storage.stores.mediaFiles.find(projectId, mediaId)) !== undefined,
    hasTrunk: async (projectId, trunkId) =>
      (await storage.stores.trunks.find(projectId, trunkId)) !== undefined,
    bus,
    requests,
    clock,
    onError,
  });
  const nodeDeps: CallSweeperDeps & NodeRegistrationDeps & DueCallsDeps = {
    calls,
    limiter,
    liveEvents,
    recordings,
    finisher,
    queue,
    lock,
    leases,
    nodeId,
    clock,
    onError,
  };
  const lifecycle = new Lifecycle((error) => onError(error, 'close failed'));
  lifecycle.onClose(async () => requests.close());
  return {
    ...ports,
    limiter,
    finisher,
    control,
    requests,
    nodeId,
    service: callService(parts, ports, limiter, control, onError),
    startSweeper() {
      lifecycle.onClose(startCallSweeper(nodeDeps));
      lifecycle.onClose(startDueCalls(nodeDeps));
    },
    async registerNode() {
      lifecycle.onClose(await registerNode(nodeDeps));
    },
    close: () => lifecycle.close(),
  };
}

/** Returns the transfer targets of the release that the call's session runs on. */
export async function transferTargetsOf(
  {
    conversations,
    storage,
  }: Pick<CallParts, 'conversations'> & {
    readonly storage: { stores: { releases: Pick<ReleaseStore, 'find'> } };
  },
  { projectId, sessionId }: Call,
): Promise<readonly TransferTargetInput[] | null> {
  const session = await conversations.find(projectId, sessionId);
  const release = session && (await storage.stores.releases.find(projectId, session.releaseId));
  return release?.agent.transferTargets ?? null;
}

function redisPorts(
  { redis, subscriber, jobs, nodeId, storage: { stores } }: CallParts,
  onError: (error: unknown, what: string) => void,
) {
  return {
    lock: redisNumberLock(redis),
    slots: redisTrunkSlots(redis, stores.slotHolders),
    usage: redisProjectCalls(redis, stores.slotHolders),
    health: redisTrunkHealth(redis),
    rejections: redisSipRejections(redis),
    leases: redisLeases(redis, nodeId),
    queue: redisCallQueue(jobs),
    bus: redisNodeBus({ publisher: redis, subscriber, onError }),
  };
}

function callService(
  { storage, conversations, recordings, metrics, liveEvents, orderRefusal, clock, makeId, tracer }: CallParts,
  { lock, queue, health, slots, bus, rejections }: SharedPorts,
  limiter: CallLimiter,
  control: CallControl,
  onError: (error: unknown, what: string) => void,
): CallService {
  const { phoneNumbers, trunks } = storage.stores;
  const ports = {
    phoneNumbers,
    trunks,
    conversations,
    limiter,
    lock,
    queue,
    metrics,
    liveEvents,
    orderRefusal,
  };
  const acceptDeps = { ...ports, clock, makeId, tracer, onError };
  return {
    accept: (order, insertOnce) => acceptCall(acceptDeps, order, insertOnce),
    hangUp: (projectId, callId) => control.hangUp(projectId, callId),
    transfer: (projectId, callId, request) => control.transfer(projectId, callId, request),
    ask: (projectId, callId, name, argument) => control.ask(projectId, callId, name, argument),
    addParticipant: (projectId, callId, target) => control.addParticipant(projectId, callId, target),
    quality: (call) => control.quality(call),
    mediaSamples: (call) => control.mediaSamples(call),
    trunkHealth: (trunkIds) => readTrunkHealth(health, slots, trunkIds),
    rejections: (projectId, limit) => rejections.list(projectId, limit),
    trunksChanged: () => notifyTrunksChanged(bus, onError),
    recordings,
  };
}
