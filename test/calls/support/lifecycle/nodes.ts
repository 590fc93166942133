import { pino } from 'pino';
import { buildCallNode, type CallNodeParts } from '../../../../src/app/media/callNode.ts';
import { nodeDraining } from '../../../../src/base/errors.ts';
import { noopTracer } from '../../../../src/base/tracing.ts';
import type { Call, RecordingResult } from '../../../../src/calls/call.ts';
import { CallLimiter } from '../../../../src/calls/limits/callLimiter.ts';
import { NodeCapacity } from '../../../../src/calls/limits/nodeCapacity.ts';
import { CallRequests } from '../../../../src/calls/nodes/callRequests.ts';
import { startCallSweeper } from '../../../../src/calls/nodes/callSweeper.ts';
import { registerNode } from '../../../../src/calls/nodes/nodeRegistration.ts';
import type { PhoneNumber } from '../../../../src/calls/numbers/phoneNumber.ts';
import { CallControl } from '../../../../src/calls/runner/callControl.ts';
import { CallFinisher } from '../../../../src/calls/runner/callFinisher.ts';
import type { CallNode } from '../../../../src/calls/runner/callNode.ts';
import { acceptCall } from '../../../../src/calls/setup/acceptCall.ts';
import type { AcceptedCall } from '../../../../src/calls/setup/outboundOrder.ts';
import type { Trunk } from '../../../../src/calls/trunks/trunk.ts';
import type { ConversationEngine } from '../../../../src/engine/conversationEngine.ts';
import { newSessionState, type Session } from '../../../../src/engine/session/session.ts';
import { type Gates, type NodeProcess, remotePort, startProcess } from './gates.ts';
import type { Redis } from './leases.ts';
import type { Phones } from './phones.ts';
import type { Database } from './stores.ts';

export const PROJECT = 'project';
export const FROM = '+886223456789';
const TO = '+886912345678';
const DRAIN_MS = 20_000;
const CAPACITY = 5;

/** What the nodes of an installation share. */
export interface Installation {
  readonly gates: Gates;
  readonly database: Database;
  readonly redis: Redis;
  readonly phones: Phones;
  readonly trunks: Trunk[];
  readonly number: PhoneNumber;
  /** Keys in the recording store. */
  readonly recordings: Set<string>;
  readonly maxConcurrentCalls: number | null;
  readonly errors: string[];
}

/** A node with every role, wired as the gateway wires it. */
export interface Node {
  readonly life: NodeProcess;
  readonly phone: CallNode;
  readonly capacity: NodeCapacity;
  readonly control: CallControl;
  accept(record: boolean): Promise<AcceptedCall>;
  /** SIGTERM. */
  stop(): Promise<void>;
  readonly isStopped: boolean;
}

let lastId = 0;

export async function startNode(shared: Installation, name: string): Promise<Node> {
  const { gates, database, redis, phones, errors } = shared;
  const life = startProcess(gates, name);
  const { clock } = life;
  const nodeId = name;
  const onError = (error: unknown, what: string) => void errors.push(`${name}: ${what}: ${error}`);
  const postgres = <Port extends object>(what: string, port: Port) =>
    remotePort(gates, life, 'postgres', what, port);
  const onRedis = <Port extends object>(what: string, port: Port) =>
    remotePort(gates, life, 'redis', what, port);
  const makeId = () => `${name}-${++lastId}`;

  const calls = postgres('calls', database.calls);
  const outbox = postgres('outbox', {
    recordFact: (id: string, event: string) => database.recordFact(id, event),
  });
  const conversations = postgres('sessions', sessionsIn(database, makeId)) as unknown as ConversationEngine;
  const working = new Set<string>();
  const recordings = remotePort(gates, life, 'node', 'recordings', recordingsIn(shared.recordings, working));
  const lock = onRedis('lock', redis.lock);
  const slots = onRedis('slots', redis.slots);
  const queue = onRedis('queue', redis.queueOf(life));
  const leases = onRedis('leases', redis.leasesOf(life));
  const bus = { ...redis.busOf(life), ...onRedis('bus', { publish: redis.busOf(life).publish }) };
  const metrics = { callStarted: nothing, callRefused: nothing, setupPhase: nothing, callEnded: nothing };
  const limits = { maxConcurrentCalls: shared.maxConcurrentCalls };
  const limiter = new CallLimiter({
    projects: postgres('projects', {
      find: async () => ({ callLimits: { ...NO_LIMITS, ...limits } }) as never,
    }),
    phoneNumbers: { ownNumbers: async () => [] },
    trunks: { activeOf: async () => [] },
    usage: onRedis('counts', redis.counts),
    meter: { record: async () => {}, today: async () => ({}) },
    clock,
    metrics,
    onRefused: nothing,
  });
  const finisher = new CallFinisher({
    calls,
    conversations,
    recordFact: outbox.recordFact,
    lock,
    slots,
    limiter,
    usage: { add: nothing },
    onFact: nothing,
    recoverInterruptedTurn: async () => undefined,
    now: clock.now,
    onError,
  });
  const phoneNumbers = postgres('numbers', { findByNumber: async () => shared.number });
  const trunks = postgres('trunks', { activeOf: async () => [...shared.trunks] });
  const ending = { calls, recordings, finisher, queue, clock, onError };
  const built = {
    finisher,
    lock,
    queue,
    slots,
    limiter,
    leases,
    bus,
    nodeId,
    health: { read: async () => new Map() },
  };
  const closers: (() => Promise<void>)[] = [];
  const capacity = new NodeCapacity(CAPACITY);
  let isDraining = false;
  let isStopped = false;
  const parts: Partial<Record<keyof CallNodeParts, unknown>> = {
    storage: { stores: { phoneNumbers, trunks, calls, history: postgres('history', database.history) } },
    calls: built,
    telephony: phones.telephonyOf(life),
    recordings,
    conversations,
    sealer: { open: (sealed: string) => sealed },
    mediaStreams: { openForCall: async () => 'ws://engine/' },
    voiceNodes: {
      select: async () => ({ nodeId: 'engine', url: 'http://engine' }),
      selectForStream: async () => ({ nodeId: 'engine', url: 'http://engine' }),
      forget: nothing,
    },
    mediaFiles: { music: async () => ({ kind: 'default' }) },
    metrics,
    capacity,
    callRefusal: () => (isDraining ? nodeDraining() : undefined),
    drainMs: DRAIN_MS,
    clock,
    makeId,
    tracer: noopTracer,
    logger: pino({ level: 'silent' }),
  };
  const phone = buildCallNode(parts as unknown as CallNodeParts);
  const acceptDeps = {
    phoneNumbers,
    trunks,
    conversations,
    limiter,
    lock,
    queue,
    metrics,
    orderRefusal: () => (isDraining ? nodeDraining() : undefined),
    clock,
    makeId,
    tracer: noopTracer,
  };
  closers.push(startCallSweeper({ ...ending, lock, leases }));
  closers.push(await registerNode({ ...ending, nodeId }));
  await phone.start();
  return {
    life,
    phone,
    capacity,
    control: new CallControl({
      calls,
      finisher,
      queue,
      limiter,
      transferTargets: async () => null,
      hasMedia: async () => true,
      hasTrunk: async () => true,
      bus,
      requests: new CallRequests({ bus, clock, makeId }),
      clock,
      onError,
    }),
    accept: (record) =>
      acceptCall({ ...acceptDeps, onError }, { ...ORDER, record }, (insert) =>
        insert({ calls, quotas: NO_QUOTAS }),
      ),
    async stop() {
      isDraining = true;
      await phone.close();
      for (const close of closers.splice(0).reverse()) await close();
      isStopped = true;
    },
    get isStopped() {
      return isStopped;
    },
  };
}

const nothing = () => undefined;
const notUsed = () => Promise.reject(new Error('not used here'));
const NO_QUOTAS = { lockAndRead: notUsed, readAll: notUsed };
const ORDER = {
  projectId: PROJECT,
  fromNumber: FROM,
  toNumber: TO,
  ringTimeoutSeconds: 10,
  detectAnsweringMachine: true,
  maxDurationSeconds: 90,
  draft: false,
};
const NO_LIMITS = {
  allowedPrefixes: [],
  blockedPrefixes: [],
  maxCallsPerMinute: null,
  maxCallsPerHour: null,
  maxCallMinutesPerDay: null,
  rates: [],
  maxSpendingPerDay: null,
};

function sessionsIn(database: Database, makeId: () => string) {
  return {
    async prepare(wanted: Pick<Session, 'projectId' | 'sessionId' | 'channel' | 'callId'>) {
      const session: Session = {
        ...wanted,
        instanceId: makeId(),
        provider: null,
        pathwayId: 'pathway',
        releaseId: 'release',
        turn: 0,
        startedAt: '',
        lastActivityAt: '',
        state: newSessionState({}),
      };
      return { session, started: { type: 'session_started', at: '', data: {} } as const };
    },
    find: async (_projectId: string, sessionId: string) => database.sessions.get(sessionId),
    end: (_projectId: string, sessionId: string) => database.endSession(sessionId),
  };
}

/** The recordings of one node: `working` are on its disk, `stored` in the recording store. */
function recordingsIn(stored: Set<string>, working: Set<string>) {
  const store = async ({ id, projectId }: Call): Promise<RecordingResult> => {
    const key = `${projectId}/${id}.wav`;
    if (!working.delete(id) && !stored.has(key))
      return { status: 'failed', key: null, durationMs: null, error: 'lost' };
    stored.add(key);
    return { status: 'ready', key, durationMs: 1, error: null };
  };
  return {
    workingPath({ id }: Call): string {
      working.add(id);
      return id;
    },
    store,
    recover: store,
    remove: async () => undefined,
  };
}
