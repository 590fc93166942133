import type { CallService } from '../../api/ports.ts';
import { CallLimiter } from '../../calls/limits/callLimiter.ts';
import { CallPlaces } from '../../calls/limits/callPlaces.ts';
import { CallRequests } from '../../calls/nodes/callRequests.ts';
import {
  type CallSweeperDeps,
  type NodeRegistrationDeps,
  registerNode,
  startCallSweeper,
} from '../../calls/nodes/callSweeper.ts';
import { notifyTrunksChanged } from '../../calls/nodes/nodeBus.ts';
import type { CallRecordings } from '../../calls/recording/callRecordings.ts';
import { CallControl } from '../../calls/runner/callControl.ts';
import { CallFinisher, type CallFinisherDeps } from '../../calls/runner/callFinisher.ts';
import { type AcceptCallDeps, acceptCall } from '../../calls/setup/acceptCall.ts';
import type { GateDeps } from '../../calls/setup/callingGate.ts';
import { CallSessions } from '../../calls/setup/callSessions.ts';
import { type DueCallsDeps, dueCallsWork } from '../../calls/setup/dueCalls.ts';
import { readTrunkHealth } from '../../calls/trunks/trunkHealth.ts';
import type { ConversationEngine } from '../../engine/conversationEngine.ts';
import { redisTrunkSlots } from '../../infra/redis/limits/leasedSlots.ts';
import { redisProjectCalls } from '../../infra/redis/limits/projectCalls.ts';
import { redisLeases } from '../../infra/redis/locks/leases.ts';
import { redisNumberLock } from '../../infra/redis/locks/numberLock.ts';
import { redisNodeBus } from '../../infra/redis/nodes/nodeBus.ts';
import { redisSipRejections } from '../../infra/redis/nodes/sipRejections.ts';
import { redisTrunkHealth } from '../../infra/redis/nodes/trunkHealth.ts';
import { Worker } from '../../work/worker.ts';
import { Lifecycle } from '../lifecycle.ts';
import type { NodeContext } from '../node/node.ts';
import { readerAhead } from '../voice/readAhead.ts';
import { announcer } from './work.ts';

type SharedPorts = ReturnType<typeof redisPorts>;

/** What the API and the nodes that run calls have in common. */
export interface BuiltCalls extends SharedPorts {
  readonly service: Omit<CallService, 'campaigns' | 'wakeImport'>;
  readonly control: CallControl;
  readonly requests: CallRequests;
  readonly limiter: CallLimiter;
  readonly places: CallPlaces;
  readonly sessions: CallSessions;
  readonly finisher: CallFinisher;
  readonly gate: GateDeps;
  readonly nodeId: string;
  /** Starts ending what failed nodes have left, and placing scheduled calls; for the role `worker`. */
  startSweeper(): void;
  /** Registers the node; for nodes that run calls. */
  registerNode(): Promise<void>;
  /** Idempotent; after the nodes' calls have ended. */
  close(): Promise<void>;
}

export function buildCalls(
  node: NodeContext,
  conversations: ConversationEngine,
  recordings: CallRecordings,
  after: Pick<CallFinisherDeps, 'recordFact' | 'settleContact'>,
): BuiltCalls {
  const { storage, liveEvents, clock, makeId, nodeId, logger, onError } = node;
  const { calls, projects } = storage.stores;
  const ports = redisPorts(node);
  const { lock, slots, usage, wakeDialers, bus, leases } = ports;
  const limiter = new CallLimiter({
    projects,
    phoneNumbers: storage.stores.phoneNumbers,
    trunks: storage.stores.trunks,
    usage,
    meter: node.usage,
    clock,
    metrics: node.metrics.calls,
    onRefused: (projectId, reason) => logger.warn({ projectId, reason }, 'call refused'),
  });
  const places = new CallPlaces({ lock, slots, limiter, onError });
  const sessions = new CallSessions({
    conversations,
    releases: storage.stores.releases,
    recovery: { sessions: storage.stores.sessions, checkpoints: node.turnCheckpoints, clock },
    readAhead: readerAhead(node, conversations),
    onError,
  });
  const finisher = new CallFinisher({
    calls,
    sessions,
    places,
    ...after,
    usage: node.usage,
    updateCost: (instanceId) => storage.stores.history.updateCost(instanceId),
    liveEvents,
    recordingUrl: (key) => recordings.url(key),
    now: clock.now,
  });
  const requests = new CallRequests({ bus, clock, makeId });
  const gate: GateDeps = { calls, callingRules: storage.stores.doNotCall.rulesFor, lock, finisher, clock };
  const control = new CallControl({
    ...gate,
    calls,
    limiter,
    sessions,
    hasMedia: async (projectId, mediaId) =>
      (await storage.stores.mediaFiles.find(projectId, mediaId)) !== undefined,
    hasTrunk: async (projectId, trunkId) =>
      (await storage.stores.trunks.find(projectId, trunkId)) !== undefined,
    bus,
    requests,
    onError,
  });
  const nodeDeps: CallSweeperDeps & NodeRegistrationDeps & DueCallsDeps = {
    ...gate,
    calls,
    conversations,
    limiter,
    liveEvents,
    recordings,
    wakeDialers,
    leases,
    nodeId,
    onError,
  };
  const lifecycle = new Lifecycle((error) => onError(error, 'close failed'));
  lifecycle.onClose(async () => requests.close());
  return {
    ...ports,
    limiter,
    places,
    sessions,
    finisher,
    gate,
    control,
    requests,
    nodeId,
    service: callService(node, conversations, ports, limiter, control),
    startSweeper() {
      lifecycle.onClose(startCallSweeper(nodeDeps));
      const worker = new Worker({
        ...dueCallsWork(nodeDeps, node.storage.work.scheduledCalls),
        clock,
        onError,
      });
      lifecycle.onClose(() => worker.close());
      worker.start();
    },
    async registerNode() {
      lifecycle.onClose(await registerNode(nodeDeps));
    },
    close: () => lifecycle.close(),
  };
}

function redisPorts(node: NodeContext) {
  const { redis, connectSubscriber, nodeId, onError } = node;
  const { stores } = node.storage;
  return {
    lock: redisNumberLock(redis),
    slots: redisTrunkSlots(redis, stores.slotHolders),
    usage: redisProjectCalls(redis, stores.slotHolders),
    health: redisTrunkHealth(redis),
    rejections: redisSipRejections(redis),
    leases: redisLeases(redis, nodeId),
    wakeDialers: announcer(node, 'calls'),
    bus: redisNodeBus({ publisher: redis, subscriber: connectSubscriber(), onError }),
  };
}

function callService(
  { storage, metrics, liveEvents, orderRefusal, clock, makeId, tracer, onError }: NodeContext,
  conversations: ConversationEngine,
  { lock, wakeDialers, health, slots, bus, rejections }: SharedPorts,
  limiter: CallLimiter,
  control: CallControl,
): BuiltCalls['service'] {
  const { phoneNumbers, trunks, doNotCall } = storage.stores;
  const acceptDeps: AcceptCallDeps = {
    phoneNumbers,
    trunks,
    conversations,
    limiter,
    callingRules: doNotCall.rulesFor,
    lock,
    wakeDialers,
    metrics: metrics.calls,
    liveEvents,
    orderRefusal,
    clock,
    makeId,
    tracer,
    onError,
  };
  return {
    accept: (order, insertOnce) => acceptCall(acceptDeps, order, insertOnce),
    control,
    trunkHealth: (trunkIds) => readTrunkHealth(health, slots, trunkIds),
    rejections: (projectId, limit) => rejections.list(projectId, limit),
    trunksChanged: () => notifyTrunksChanged(bus, onError),
  };
}
