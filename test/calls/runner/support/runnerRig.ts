import { beforeEach } from 'vitest';
import { createEmitter } from '../../../../src/base/emitter.ts';
import { CallwayError } from '../../../../src/base/errors.ts';
import type { Call } from '../../../../src/calls/call.ts';
import type { CallStore } from '../../../../src/calls/callStore.ts';
import type { MediaFiles } from '../../../../src/calls/holdMusic/mediaFiles.ts';
import type { CallLimiter } from '../../../../src/calls/limits/callLimiter.ts';
import { CallPlaces } from '../../../../src/calls/limits/callPlaces.ts';
import type { NodeCapacity } from '../../../../src/calls/limits/nodeCapacity.ts';
import { NodeCalls } from '../../../../src/calls/nodes/nodeCalls.ts';
import type { CallingRules } from '../../../../src/calls/numbers/doNotCall.ts';
import type { PhoneNumberStore } from '../../../../src/calls/numbers/phoneNumberStore.ts';
import type { CallRecordings } from '../../../../src/calls/recording/callRecordings.ts';
import type { CallEnd, CallFinisher } from '../../../../src/calls/runner/callFinisher.ts';
import { CallRunner } from '../../../../src/calls/runner/callRunner.ts';
import type { CallStreams } from '../../../../src/calls/runner/callStreams.ts';
import type { CallRunnerDeps } from '../../../../src/calls/runner/runningCall.ts';
import { CallSessions } from '../../../../src/calls/setup/callSessions.ts';
import type { NumberLock } from '../../../../src/calls/setup/numberLock.ts';
import type { CallLeg, DialRequest, LegEnd, LegEvents, Telephony } from '../../../../src/calls/telephony.ts';
import { type Trunk, trunkInput } from '../../../../src/calls/trunks/trunk.ts';
import type { TrunkHealthStore } from '../../../../src/calls/trunks/trunkHealth.ts';
import type { TrunkSlots } from '../../../../src/calls/trunks/trunkSlots.ts';
import type { TrunkStore } from '../../../../src/calls/trunks/trunkStore.ts';
import type { ConversationEngine } from '../../../../src/engine/conversationEngine.ts';
import type { HistoryStore } from '../../../../src/engine/history/historyStore.ts';
import type { RecoveryDeps } from '../../../../src/engine/session/interruptedTurn.ts';
import type { ReleaseStore } from '../../../../src/engine/session/releases.ts';
import type { HistoryEvent } from '../../../../src/engine/session/session.ts';
import type { MediaEvents, MediaSession } from '../../../../src/media/mediaSession.ts';
import { type RecordedTraces, recordTraces } from '../../../support/recordedTraces.ts';
import { createSimulatedClock, type SimulatedClock } from '../../../support/simulatedClock.ts';
import { unused } from '../../../support/unused.ts';
import { makeCall } from '../../support/makeCall.ts';

export const CALL = makeCall({
  status: 'dialing',
  trunkId: 'a',
  settings: { ringTimeoutSeconds: 45, maxDurationSeconds: 60, record: true, media: null },
  createdAt: '',
  startedAt: null,
  answeredAt: null,
});
export const trunk = (id: string): Trunk => ({
  ...trunkInput.parse({ name: id, host: 'sip.example.com', fromDomain: 'pbx.example' }),
  id,
  projectId: CALL.projectId,
  createdAt: '',
  updatedAt: '',
});
export const END: LegEnd = { outcome: 'local_hangup', sip: { code: 200, reason: 'OK' }, q850Cause: 16 };
export const REPORT = { packetsSent: 5 };

const fail = (error: unknown) => {
  throw error;
};

/** What a test sets, and what it observes. */
interface RunnerRig {
  runner: CallRunner;
  clock: SimulatedClock;
  /** What was asked of the runner's dependencies, in order. */
  log: unknown[];
  legs: ReturnType<typeof fakeLeg>[];
  dialed: DialRequest[];
  finished: CallEnd[];
  metrics: unknown[];
  logLines: unknown[];
  traces: RecordedTraces;
  /** Recorded talk times, one per leg. */
  talkTimesMs: number[];
  /** Recorded usage, one entry per recording: destination and talk time per leg. */
  billed: (readonly [string, number])[][];
  /** Trunks without a free channel. */
  /** How many were made. */
  /** Settles when digits were sent. */
  dtmfSent: Promise<void>;
  ids: number;
  fullTrunks: Set<string>;
  stored: Call;
  /** What came with changes of the call, but for its status. */
  changeEvents: HistoryEvent[];
  updateFailures: number;
  /** The disclosures that the newest agent was asked to say. */
  unsaid: readonly string[];
  onUpdate: ((change: object) => Call | undefined) | undefined;
  /** The session's start before the first INVITE. */
  start: ConversationEngine['start'];
  rules: CallingRules;
  /** Reading the project's limits fails. */
  isAway: boolean;
  /** Why the campaign of the call may place it no longer. */
  campaignRefusal: 'campaign_stopped' | 'outside_calling_hours' | undefined;
  canReconnect: boolean;
  isAgentAway: boolean;
  /** Resolves when the agent's stream is open. */
  connecting: Promise<void>;
  isRedisAway: boolean;
  isLockLost: boolean;
  hasBudget: boolean;
  /** Resolves when the apology was played. */
  apology: Promise<void>;
  /** Resolves when two media sessions are bridged. */
  bridging: Promise<void>;
  /** How the peer's own call in the place of two of ours goes. */
  replaced: Promise<void>;
}

export const t = {} as RunnerRig;

/** Gives each test of a file a new runner. */
export function useRunner(): void {
  beforeEach(() => {
    const clock = createSimulatedClock();
    Object.assign(t, {
      clock,
      log: [],
      dtmfSent: Promise.resolve(),
      ids: 0,
      legs: [],
      dialed: [],
      finished: [],
      metrics: [],
      logLines: [],
      traces: recordTraces(clock.now),
      talkTimesMs: [],
      billed: [],
      fullTrunks: new Set(),
      stored: CALL,
      changeEvents: [],
      updateFailures: 0,
      unsaid: [],
      onUpdate: undefined,
      start: async () => undefined,
      rules: { isListed: false, callingHours: null },
      isAway: false,
      campaignRefusal: undefined,
      canReconnect: true,
      isAgentAway: false,
      connecting: Promise.resolve(),
      isRedisAway: false,
      isLockLost: false,
      hasBudget: true,
      apology: Promise.resolve(),
      bridging: Promise.resolve(),
      replaced: Promise.resolve(),
    } satisfies Omit<RunnerRig, 'runner'>);
    t.runner = new CallRunner(runnerDeps());
  });
}

/** A leg whose peer is played by the test. */
export function fakeLeg(request: Pick<DialRequest, 'trunk'>) {
  const { log } = t;
  const legEvents = createEmitter<LegEvents>(fail);
  const mediaEvents = createEmitter<MediaEvents>(fail);
  const media: MediaSession = {
    address: '127.0.0.1',
    rtpPort: 4000,
    events: mediaEvents,
    connect: async () => {},
    async startStream(target, messages = []) {
      log.push(['open stream', target.url]);
      for (const message of messages) log.push(['tell', message]);
      await t.connecting;
      if (t.isAgentAway) throw new Error('connection refused');
    },
    async awaitAgent() {
      log.push(['ask to hold']);
    },
    async playApology() {
      log.push(['apology']);
      await t.apology;
    },
    async stopStream() {
      log.push(['close stream']);
    },
    async tellAgent({ kind, ...message }) {
      log.push(kind === 'transfer' ? ['transfer status', message] : ['tell', { kind, ...message }]);
    },
    async muteAgent(isMuted) {
      log.push(['mute', isMuted]);
    },
    async admitSupervisor({ mode }, participant) {
      log.push(['admit', mode, t.legs.findIndex(({ leg }) => leg.media === participant)]);
      return { port: 4100, path: '/ticket' };
    },
    async pauseRecording(isPaused) {
      log.push(['pause recording', isPaused]);
    },
    async startRingback() {
      log.push(['ringback']);
    },
    async bridge(other) {
      log.push(['bridge', t.legs.findIndex(({ leg }) => leg.media === other)]);
      await t.bridging;
    },
    async unbridge() {
      log.push(['unbridge']);
    },
    async join(call) {
      log.push(['join', t.legs.findIndex(({ leg }) => leg.media === call)]);
    },
    async setParticipation(participation) {
      log.push(['participation', participation]);
    },
    async startMusic({ kind }) {
      log.push(['music', kind]);
    },
    async stopMusic() {
      log.push(['stop music']);
    },
    async recordAside(other) {
      log.push(['record aside', t.legs.findIndex(({ leg }) => leg.media === other)]);
    },
    async startRecording({ path }) {
      log.push(['record', path]);
    },
    sendDtmf: async () => {},
    async receiveDtmf({ digit }) {
      log.push(['receive dtmf', digit]);
    },
    quality: async () => fail(new Error('not used here')),
    async close() {
      log.push(['close media']);
      return REPORT;
    },
  };
  const leg: CallLeg = {
    sipCallId: `sip-${request.trunk.id}`,
    trunkId: request.trunk.id,
    transferMethod: request.trunk.transfer,
    replacingUri: `sip:phone@${request.trunk.id}?Replaces=x`,
    media,
    events: legEvents,
    async hangup() {
      log.push(['hangup', request.trunk.id]);
    },
    async sendDtmf(digits) {
      log.push(['dtmf', digits]);
      await t.dtmfSent;
    },
    async refer(to) {
      log.push(['refer', to]);
      if (to.startsWith('sip:second')) throw new CallwayError('unavailable', 'transfer_unsupported', '405');
      if (to === 'sip:refused') throw new Error('603');
      if (to.includes('?Replaces=')) await t.replaced;
    },
  };
  return {
    leg,
    legEvents,
    mediaEvents,
    /** Tells an event of the leg or of its audio, and lets the runner act on it. */
    async tells<Name extends keyof LegEvents>(name: Name, value: LegEvents[Name]) {
      legEvents.emit(name, value);
      await settle();
    },
    async mediaTells<Name extends keyof MediaEvents>(name: Name, value: MediaEvents[Name]) {
      mediaEvents.emit(name, value);
      await settle();
    },
  };
}

function runnerDeps(): CallRunnerDeps {
  const { clock, log } = t;
  const onError = () => {};
  const limiter = fakeLimiter();
  const places = new CallPlaces({ lock: fakeLock(), slots: fakeSlots(), limiter, onError });
  const sessions = new CallSessions({
    conversations: unused<ConversationEngine>('conversations', {
      start: (session, signal) => t.start(session, signal),
      find: async () => undefined,
    }),
    releases: unused<ReleaseStore>('releases'),
    recovery: unused<RecoveryDeps>('recovery'),
    readAhead: async () => undefined,
    onError,
  });
  return {
    calls: fakeNodeCalls(),
    callingRules: async () => t.rules,
    telephony: unused<Telephony>('telephony', {
      dial(request) {
        t.dialed.push(request);
        log.push(['dial', request.trunk.id, request.toNumber, request.ringTimeoutMs]);
        const one = fakeLeg(request);
        t.legs.push(one);
        return one.leg;
      },
    }),
    trunks: {
      phoneNumbers: unused<PhoneNumberStore>('phoneNumbers', {
        findByNumber: async () => ({ outboundStatus: 'active', trunkIds: [] }) as never,
      }),
      trunks: unused<TrunkStore>('trunks', { activeOf: async () => [trunk('a'), trunk('b')] }),
      health: unused<TrunkHealthStore>('health', { read: async () => new Map() }),
    },
    limiter,
    places,
    sessions,
    streams: fakeStreams(),
    mediaFiles: unused<MediaFiles>('mediaFiles', {
      music: async (_projectId, choice) => (choice === 'none' ? undefined : { kind: 'default' }),
    }),
    telemetry: {
      metrics: {
        callStarted: (direction) => t.metrics.push(['started', direction]),
        callRefused: (reason) => t.metrics.push(['refused', reason]),
        inboundRejected: (reason) => t.metrics.push(['rejected', reason]),
        setupPhase: (phase, seconds) => t.metrics.push([phase, seconds]),
        callEnded: (direction, { status }, media) => t.metrics.push(['ended', direction, status, media]),
      },
      tracer: t.traces.tracing,
      now: clock.now,
      log: (fields, message) => t.logLines.push([fields, message]),
    },
    campaignRefusal: async () => t.campaignRefusal,
    makeId: () => `id-${++t.ids}`,
    clock,
    onError,
  };
}

function fakeNodeCalls(): NodeCalls {
  const { log } = t;
  return new NodeCalls({
    nodeId: 'node',
    capacity: unused<NodeCapacity>('capacity', { release: (id) => void log.push(['ended', id]) }),
    calls: unused<CallStore>('calls', {
      async update(_id, _node, change, event) {
        if (t.updateFailures > 0) {
          t.updateFailures--;
          throw new Error('the database is away');
        }
        if (event?.type === 'transfer') log.push(['event', 'transfer', event.data]);
        else log.push(['update', change]);
        if (event && event.type !== 'call_status') t.changeEvents.push(event);
        if (t.onUpdate) return t.onUpdate(change);
        t.stored = { ...t.stored, ...change };
        return t.stored;
      },
      find: async () => t.stored,
    }),
    history: unused<HistoryStore>('history', {
      async addEvents(_instance, events) {
        for (const { type, data } of events) log.push(['event', type, data]);
      },
    }),
    recordings: unused<CallRecordings>('recordings', { workingPath: ({ id }) => `/recordings/${id}.wav` }),
    finisher: unused<CallFinisher>('finisher', {
      async finish(_call, _nodeId, end) {
        log.push(['finish']);
        t.finished.push(end);
        return undefined;
      },
    }),
  });
}

const fakeLock = () =>
  unused<NumberLock>('lock', {
    async renew() {
      t.log.push(['renew lock']);
      if (t.isRedisAway) throw new Error('Redis is away');
      return !t.isLockLost;
    },
    async acquire() {
      t.log.push(['take lock']);
      return 1;
    },
  });

const fakeSlots = () =>
  unused<TrunkSlots>('slots', {
    acquire: async ({ id }) => (t.fullTrunks.has(id) ? 1500 : 0),
    renew: async () => {},
    async release(id) {
      t.log.push(['release', id]);
    },
  });

const fakeLimiter = () =>
  unused<CallLimiter>('limiter', {
    async allowedRedirects() {
      if (t.isAway) throw new Error('the database is away');
      return () => true;
    },
    async recordUsage(_call, legs) {
      for (const { talkTimeMs } of legs) t.talkTimesMs.push(talkTimeMs);
      t.billed.push(legs.map(({ to, talkTimeMs }) => [to, talkTimeMs]));
    },
    renewSlot: async () => {},
    mayContinue: async () => t.hasBudget,
    async admitOrder(_projectId, to) {
      if (!t.hasBudget)
        throw new CallwayError('rate_limited', 'call_minutes_exhausted', 'no minutes are left');
      if (to === 'sip:forbidden')
        throw new CallwayError(
          'unprocessable',
          'destination_not_allowed',
          'This project may not call sip:forbidden',
        );
    },
    async requireAllowedDestination(_projectId, to) {
      if (to === 'sip:forbidden') throw new Error('This project may not call sip:forbidden');
    },
  });

const fakeStreams = () =>
  unused<CallStreams>('streams', {
    async agent({ disclosures }) {
      t.unsaid = disclosures.map(({ id }) => id);
      return {
        url: 'ws://engine/',
        dialect: 'callway',
        streamId: 'st',
        callId: 'call',
        customParameters: {},
        canReconnect: t.canReconnect,
      };
    },
    async party(_call, party) {
      t.log.push(['party', party]);
      return {
        url: `ws://engine/${party.kind}`,
        dialect: 'callway',
        streamId: 'st',
        callId: 'call',
        customParameters: {},
        canReconnect: false,
      };
    },
    supervisorUrl: async ({ port, path }) => `ws://node:${port}${path}`,
    forget: () => {},
  });

/** Runs the promises that are due. */
export async function settle(): Promise<void> {
  for (let i = 0; i < 200; i++) await Promise.resolve();
}

/** Codes of the errors in the call's history. */
export const errorCodes = () =>
  t.log.flatMap((entry) => {
    const [kind, type, data] = entry as [string, string?, { readonly code: string }?];
    return kind === 'event' && type === 'error' ? [data?.code] : [];
  });

export const streamActions = () =>
  t.log.filter((entry) => /^(open stream|apology|hangup)\b/.test(String(entry)));

export function leg(index = 0): ReturnType<typeof fakeLeg> {
  const one = t.legs[index];
  if (!one) throw new Error(`no leg ${index}`);
  return one;
}

/** Dials a call over the trunks a and b; it is answered over a. The log starts empty after that. */
export async function answerCall(
  beforeAnswer = async () => {},
  transfer: Trunk['transfer'] = 'auto',
  call = CALL,
): Promise<void> {
  t.runner.dial(call, [{ ...trunk('a'), transfer }, trunk('b')]);
  await settle();
  leg().legEvents.emit('ringing', { hasEarlyMedia: false });
  await beforeAnswer();
  await leg().tells('answered', { atMs: t.clock.now() });
  t.log.length = 0;
}

export function loseStream(): void {
  leg().mediaEvents.emit('streamClosed', { how: 'broken', code: 1006, reason: '' });
}

/** A transfer that the API asks for. */
export const transfer = async (to: string, options?: Readonly<Record<string, unknown>>) =>
  await t.runner.perform('call', { name: 'transfer', argument: { to, options } });
