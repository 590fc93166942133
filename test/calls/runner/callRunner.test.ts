import { beforeEach, describe, expect, test } from 'vitest';

import { createEmitter } from '../../../src/base/emitter.ts';
import { CallwayError } from '../../../src/base/errors.ts';
import type { Call } from '../../../src/calls/call.ts';
import type { CallResult } from '../../../src/calls/runner/callResult.ts';
import { type CallRunner, createCallRunner } from '../../../src/calls/runner/callRunner.ts';
import type { CallLeg, DialRequest, LegEnd, LegEvents } from '../../../src/calls/telephony.ts';
import { type Trunk, trunkInput } from '../../../src/calls/trunks/trunk.ts';
import type { MediaEvents, MediaSession } from '../../../src/media/mediaSession.ts';
import { type RecordedTraces, recordTraces } from '../../support/recordedTraces.ts';
import { createSimulatedClock, type SimulatedClock } from '../../support/simulatedClock.ts';

const CALL: Call = {
  id: 'call',
  projectId: 'p',
  sessionId: 's',
  instanceId: 'i',
  direction: 'outbound',
  status: 'dialing',
  endReason: null,
  fromNumber: '+886223456789',
  toNumber: '+886912345678',
  trunkId: 'a',
  sipCallId: null,
  sip: null,
  q850Cause: null,
  settings: { ringTimeoutSeconds: 45, maxDurationSeconds: 60, record: true, media: null },
  metadata: {},
  createdAt: '',
  startedAt: null,
  answeredAt: null,
  endedAt: null,
  figures: null,
  recording: null,
  nodeId: 'node',
  hangupRequested: false,
};
const trunk = (id: string): Trunk => ({
  ...trunkInput.parse({ name: id, host: 'sip.example.com' }),
  id,
  projectId: 'p',
  createdAt: '',
  updatedAt: '',
});
const END: LegEnd = { outcome: 'local_hangup', sip: { code: 200, reason: 'OK' }, q850Cause: 16 };
const REPORT = { packetsSent: 5 };

const fail = (error: unknown) => {
  throw error;
};

/** A leg whose peer the test plays. */
function fakeLeg(request: Pick<DialRequest, 'trunk'>, log: unknown[]) {
  const legEvents = createEmitter<LegEvents>(fail);
  const mediaEvents = createEmitter<MediaEvents>(fail);
  const media: MediaSession = {
    address: '127.0.0.1',
    rtpPort: 4000,
    events: mediaEvents,
    connect: async () => {},
    async startStream(target) {
      log.push(['bridge', target.url]);
      if (isEngineGone) throw new Error('nobody listens there');
    },
    async playApology() {
      log.push(['apologise']);
      await apology;
    },
    async stopStream() {
      log.push(['stop bridge']);
    },
    async sendTransferStatus(progress) {
      log.push(['tell', progress]);
    },
    async startRingback() {
      log.push(['ring']);
    },
    async bridge(other) {
      log.push(['join', legs.findIndex(({ leg }) => leg.media === other)]);
      await joining;
    },
    async unbridge() {
      log.push(['part']);
    },
    async startRecording({ path }) {
      log.push(['record', path]);
    },
    sendDtmf: async () => {},
    async receiveDtmf(key) {
      log.push(['key', key.digit]);
    },
    quality: async () => fail(new Error('not asked for')),
    async close() {
      log.push(['close media']);
      return REPORT;
    },
  };
  const leg: CallLeg = {
    sipCallId: `sip-${request.trunk.id}`,
    trunkId: request.trunk.id,
    media,
    events: legEvents,
    async hangup() {
      log.push(['hangup', request.trunk.id]);
    },
    async sendDtmf(digits) {
      log.push(['dtmf', digits]);
    },
    async transfer(to) {
      log.push(['transfer', to]);
      if (to.startsWith('sip:second')) throw new CallwayError('unavailable', 'transfer_unsupported', '405');
      if (to === 'sip:refused') throw new Error('603');
    },
  };
  return { leg, legEvents, mediaEvents };
}

let clock: SimulatedClock;
let log: unknown[];
let metered: unknown[];
let legs: ReturnType<typeof fakeLeg>[];
let dialled: DialRequest[];
let finished: CallResult[];
let full: Set<string>;
let stored: Call;
let updateFailures: number;
let onUpdate: ((change: object) => Call | undefined) | undefined;
let canReconnect: boolean;
let isEngineGone: boolean;
let apology: Promise<void>;
let joining: Promise<void>;
let isRedisAway: boolean;
let hasMinutes: boolean;
let talked: number[];
/** Each time that legs were counted: whom, and for how long. */
let paid: (readonly [string, number])[][];
let steps: unknown[];
let traces: RecordedTraces;
let runner: CallRunner;
beforeEach(() => {
  clock = createSimulatedClock();
  log = [];
  metered = [];
  legs = [];
  dialled = [];
  finished = [];
  full = new Set();
  isEngineGone = false;
  apology = Promise.resolve();
  joining = Promise.resolve();
  isRedisAway = false;
  stored = CALL;
  updateFailures = 0;
  onUpdate = undefined;
  canReconnect = true;
  hasMinutes = true;
  talked = [];
  paid = [];
  steps = [];
  traces = recordTraces(clock.now);
  runner = createCallRunner({
    nodeId: 'node',
    clock,
    telephony: {
      dial(request) {
        dialled.push(request);
        log.push(['dial', request.trunk.id, request.toNumber, request.ringTimeoutMs]);
        const one = fakeLeg(request, log);
        legs.push(one);
        return one.leg;
      },
      onInboundCall: () => {},
    },
    calls: {
      async update(_id, _node, change) {
        if (updateFailures > 0) {
          updateFailures--;
          throw new Error('the database is away');
        }
        log.push(['save', change]);
        if (onUpdate) return onUpdate(change);
        stored = { ...stored, ...change };
        return stored;
      },
      find: async () => stored,
    },
    async addEvents(_instance, events) {
      for (const { type, data } of events) log.push(['note', type, data]);
    },
    lock: {
      acquire: async () => 1,
      async renew() {
        log.push(['renew lock']);
        if (isRedisAway) throw new Error('Redis is away');
        return true;
      },
      release: async () => {},
    },
    slots: {
      acquire: async ({ id }) => (full.has(id) ? 500 : 0),
      renew: async () => {},
      async release(id) {
        log.push(['free', id]);
      },
      inUse: async () => 0,
    },
    guard: {
      async recordUsage(_call, legs) {
        for (const { talkTimeMs } of legs) talked.push(talkTimeMs);
        paid.push(legs.map(({ to, talkTimeMs }) => [to, talkTimeMs]));
        return hasMinutes;
      },
      hasBudget: async () => hasMinutes,
      async requireAllowedDestination(_projectId, to) {
        if (to === 'sip:forbidden') throw new Error('This project may not call sip:forbidden');
      },
    },
    routeFor: async () => [trunk('a'), trunk('b')],
    engine: async () => ({
      url: 'ws://engine/',
      dialect: 'callway',
      streamId: 'st',
      callId: 'call',
      customParameters: {},
      canReconnect,
    }),
    recordingPath: ({ id }) => `/recordings/${id}.wav`,
    async finish(_call, result, media) {
      log.push(['finish', media]);
      finished.push(result);
    },
    meter: {
      callStarted: (direction) => metered.push(['began', direction]),
      callRefused: (reason) => metered.push(['refused', reason]),
      setupPhase: (phase, seconds) => metered.push([phase, seconds]),
      callEnded: (direction, { status }, media) => metered.push(['over', direction, status, media]),
    },
    tracing: traces.tracing,
    onStep: ({ callId }, step) => steps.push([callId, step]),
    onOver: ({ id }) => log.push(['over', id]),
    onError: () => {},
  });
});

/** Lets promises run that are due. */
async function settle() {
  for (let i = 0; i < 60; i++) await Promise.resolve();
}
/** Codes of the errors in the call's history. */
const codes = () =>
  log.flatMap((entry) => {
    const [kind, type, data] = entry as [string, string?, { readonly code: string }?];
    return kind === 'note' && type === 'error' ? [data?.code] : [];
  });
const leg = (index = 0) => {
  const one = legs[index];
  if (!one) throw new Error(`no leg ${index}`);
  return one;
};
async function talk() {
  runner.dial(CALL, [trunk('a'), trunk('b')]);
  await settle();
  leg().legEvents.emit('ringing', { hasEarlyMedia: false });
  leg().legEvents.emit('answered', { atMs: clock.now() });
  await settle();
  log.length = 0;
}

describe('the runner', () => {
  test('hangs up when an engine breaks that may not be reached again', async () => {
    canReconnect = false;
    await talk();
    leg().mediaEvents.emit('streamClosed', { how: 'broken', code: 1006, reason: '' });
    await settle();
    expect(log).toEqual([['hangup', 'a']]);
    leg().legEvents.emit('ended', END);
    await settle();
    expect(finished).toMatchObject([{ status: 'completed', endReason: 'agent_hangup' }]);
  });

  test('tells the engine of keys that came by signalling', async () => {
    await talk();
    leg().legEvents.emit('dtmf', { digit: '7', durationMs: 160 });
    expect(log).toEqual([['key', '7']]);
  });

  const lost = () => leg().mediaEvents.emit('streamClosed', { how: 'broken', code: 1006, reason: '' });
  const acts = () => log.filter((entry) => /^(bridge|apologise|hangup)\b/.test(String(entry)));

  test('seeks another engine when one of ours is lost, and the history says so', async () => {
    await talk();
    lost();
    await settle();
    expect(acts()).toEqual([['bridge', 'ws://engine/']]);
    expect(codes()).toEqual(['engine_lost']);
    leg().legEvents.emit('ended', { ...END, outcome: 'remote_hangup' });
    await settle();
    expect(finished).toMatchObject([{ status: 'completed', endReason: 'caller_hangup' }]);
  });

  test('gives up after some attempts: an apology, then the hang-up, and the node was lost', async () => {
    await talk();
    isEngineGone = true;
    let apologised = () => {};
    apology = new Promise((resolve) => {
      apologised = resolve;
    });
    lost();
    for (let second = 0; second < 15; second++) {
      clock.advance(1000);
      await settle();
    }
    expect(acts()).toEqual([...new Array(7).fill(['bridge', 'ws://engine/']), ['apologise']]);
    apologised();
    await settle();
    expect(acts().at(-1)).toEqual(['hangup', 'a']);
    expect(codes()).toEqual(['engine_lost', ...new Array(7).fill('engine_unavailable')]);
    leg().legEvents.emit('ended', END);
    await settle();
    expect(finished).toMatchObject([{ status: 'failed', endReason: 'node_lost' }]);
  });

  test('waits for no apology that does not end', async () => {
    await talk();
    isEngineGone = true;
    apology = new Promise(() => {});
    lost();
    for (let second = 0; second < 30; second++) {
      clock.advance(1000);
      await settle();
    }
    expect(acts().slice(-2)).toEqual([['apologise'], ['hangup', 'a']]);
  });

  describe('before the first INVITE', () => {
    const QUEUED: Call = { ...CALL, status: 'queued', trunkId: null };
    const placed = async (kept: (change: object) => Call | undefined) => {
      onUpdate = kept;
      runner.dial({ ...QUEUED, trunkId: 'a' }, [trunk('a'), trunk('b')]);
      await settle();
    };

    test('keeps that it goes out, so that nobody calls again after a crash', async () => {
      await placed((change) => ({ ...QUEUED, ...change }));
      const at = new Date(clock.now()).toISOString();
      expect(log.slice(0, 2)).toEqual([
        ['save', { status: 'dialing', startedAt: at, trunkId: 'a' }],
        ['dial', 'a', CALL.toNumber, 45_000],
      ]);
      leg().legEvents.emit('ended', { outcome: 'unreachable', sip: null, q850Cause: null });
      await settle();
      // The next trunk's needs no more leave.
      expect(log.findLast((entry) => /^save/.test(String(entry)))).toMatchObject(['save', { trunkId: 'b' }]);
      expect(dialled.map((request) => request.trunk.id)).toEqual(['a', 'b']);
    });

    test('waits for a database that is away', async () => {
      updateFailures = 1;
      await placed((change) => ({ ...QUEUED, ...change }));
      expect(dialled).toEqual([]);
      clock.advance(500);
      await settle();
      expect(dialled).toHaveLength(1);
    });

    test.each<[string, Call | undefined, string, string]>([
      ['was canceled meanwhile', { ...QUEUED, hangupRequested: true }, 'canceled', 'api_hangup'],
      ['is another node’s by now', undefined, 'failed', 'node_lost'],
    ])('calls nobody where the call %s', async (_what, kept, status, endReason) => {
      await placed(() => kept);
      expect(dialled).toEqual([]);
      expect(finished).toMatchObject([{ status, endReason }]);
      expect(runner.active).toBe(0);
    });
  });

  test('lets the trunk dial numbers as they were given', async () => {
    const asGiven = { fromNumber: '0223456789', toNumber: '0912345678' };
    runner.dial({ ...CALL, settings: { ...CALL.settings, asGiven } }, [trunk('a')]);
    await settle();
    expect(dialled.at(-1)?.asGiven).toEqual(asGiven);
  });

  test('places a call, records it and joins it to the engine', async () => {
    runner.dial(CALL, [trunk('a'), trunk('b')]);
    await settle();
    leg().legEvents.emit('ringing', { hasEarlyMedia: false });
    await settle();
    clock.advance(1000);
    leg().legEvents.emit('answered', { atMs: clock.now() });
    await settle();
    expect(runner.active).toBe(1);
    expect(log).toEqual([
      ['dial', 'a', '+886912345678', 45_000],
      [
        'save',
        { status: 'dialing', startedAt: '2026-01-01T00:00:00.000Z', trunkId: 'a', sipCallId: 'sip-a' },
      ],
      ['save', { status: 'ringing' }],
      ['record', '/recordings/call.wav'],
      ['save', { status: 'in_progress', answeredAt: '2026-01-01T00:00:01.000Z' }],
      ['bridge', 'ws://engine/'],
    ]);
  });

  test('puts the call away when its leg has ended, and frees what it held', async () => {
    await talk();
    leg().legEvents.emit('ended', { ...END, outcome: 'remote_hangup' });
    await settle();
    expect(log).toEqual([['close media'], ['finish', REPORT], ['free', 'a'], ['over', 'call']]);
    expect(metered[0]).toEqual(['began', 'outbound']);
    expect(metered.at(-1)).toEqual(['over', 'outbound', 'completed', REPORT]);
    expect(finished).toEqual([
      {
        status: 'completed',
        endReason: 'caller_hangup',
        sip: { code: 200, reason: 'OK' },
        q850Cause: 16,
      },
    ]);
    expect(runner.active).toBe(0);
    expect(clock.pendingTimers()).toBe(0);
  });

  test('goes on to the next trunk, passing over one that is full', async () => {
    full.add('b');
    runner.dial(CALL, [trunk('a'), trunk('b')]);
    await settle();
    leg().legEvents.emit('ended', {
      outcome: 'trunk_error',
      sip: { code: 503, reason: 'x' },
      q850Cause: null,
    });
    await settle();
    expect(legs).toHaveLength(1);
    expect(finished).toMatchObject([{ status: 'failed', endReason: 'trunk_error' }]);

    full.clear();
    legs.length = 0;
    runner.dial(CALL, [trunk('a'), trunk('b')]);
    await settle();
    leg().legEvents.emit('ended', { outcome: 'unreachable', sip: null, q850Cause: null });
    await settle();
    expect(legs).toHaveLength(2);
    expect(log).toContainEqual(['dial', 'b', '+886912345678', 45_000]);
    // An event of a leg that was left behind moves nothing.
    leg(0).legEvents.emit('ended', { outcome: 'busy', sip: { code: 486, reason: 'x' }, q850Cause: null });
    leg(1).legEvents.emit('ended', { outcome: 'busy', sip: { code: 486, reason: 'x' }, q850Cause: null });
    await settle();
    expect(finished.at(-1)).toMatchObject({ status: 'busy' });
  });

  test('hangs up by the API, also before a leg was placed', async () => {
    runner.dial(CALL, [trunk('a')]);
    expect(runner.hangUp('call', 'api_hangup')).toBe(true);
    expect(runner.hangUp('other', 'api_hangup')).toBe(false);
    await settle();
    expect(log).toContainEqual(['hangup', 'a']);
    leg().legEvents.emit('ended', { ...END, outcome: 'canceled' });
    await settle();
    expect(finished).toMatchObject([{ status: 'canceled', endReason: 'api_hangup' }]);
  });

  test('hangs up after the longest time, on dead media and on lost media', async () => {
    await talk();
    clock.advance(60_000);
    expect(log).toContainEqual(['hangup', 'a']);
    leg().legEvents.emit('ended', END);
    await settle();
    expect(finished.at(-1)).toMatchObject({ status: 'completed', endReason: 'max_duration' });

    legs.length = 0;
    await talk();
    leg().mediaEvents.emit('mediaTimeout', { forMs: 60_000 });
    leg().legEvents.emit('ended', END);
    await settle();
    expect(finished.at(-1)).toMatchObject({ endReason: 'media_timeout' });

    legs.length = 0;
    await talk();
    leg().mediaEvents.emit('lost', { reason: 'the thread ended' });
    leg().legEvents.emit('ended', END);
    await settle();
    expect(finished.at(-1)).toMatchObject({ status: 'failed', endReason: 'node_lost' });
    expect(log).toContainEqual(['note', 'error', { code: 'media_lost', message: 'the thread ended' }]);
  });

  test.each([
    ['another node has taken it for lost and ended it', { status: 'failed', endReason: 'node_lost' }],
    ['another node carries it', { nodeId: 'other' }],
  ] as const)('hangs up a call that is its own no more: %s', async (_what, change) => {
    await talk();
    stored = { ...stored, ...change };
    clock.advance(15_000);
    await settle();
    expect(log).toContainEqual(['hangup', 'a']);
  });

  test('does what the engine asks', async () => {
    await talk();
    leg().mediaEvents.emit('command', { kind: 'send_dtmf', digits: '12#' });
    leg().mediaEvents.emit('command', { kind: 'transfer', to: 'sip:refused' });
    await settle();
    expect(runner.transfer('call', '+886223456780')).toBe(true);
    await settle();
    expect(log).toEqual([
      ['dtmf', '12#'],
      ['tell', { status: 'begun', to: 'sip:refused' }],
      ['transfer', 'sip:refused'],
      ['part'],
      ['tell', { status: 'failed', to: 'sip:refused', reason: '603' }],
      ['note', 'transfer', { to: 'sip:refused', status: 'failed', by: 'refer', reason: '603' }],
      ['tell', { status: 'begun', to: '+886223456780' }],
      ['transfer', '+886223456780'],
      ['hangup', 'a'],
      ['note', 'transfer', { to: '+886223456780', status: 'done', by: 'refer' }],
    ]);
    leg().legEvents.emit('ended', END);
    await settle();
    expect(finished).toMatchObject([{ status: 'completed', endReason: 'transferred' }]);
  });

  test('calls itself where the peer takes no REFER, over the first trunk with room, and joins both', async () => {
    await talk();
    full.add('a');
    runner.transfer('call', 'sip:second@pbx.example');
    await settle();
    clock.advance(500);
    await settle();
    expect(dialled.at(-1)).toMatchObject({
      trunk: { id: 'b' },
      fromNumber: CALL.fromNumber,
      toUri: 'sip:second@pbx.example',
      ringTimeoutMs: 45_000,
      beside: leg().leg.media,
    });
    leg(1).legEvents.emit('ringing', { hasEarlyMedia: false });
    leg(1).legEvents.emit('ringing', { hasEarlyMedia: true });
    leg(1).legEvents.emit('answered', { atMs: 0 });
    await settle();
    expect(log.slice(2)).toEqual([
      ['dial', 'b', 'sip:second@pbx.example', 45_000],
      ['ring'],
      ['join', 1],
      ['join', 1],
      ['stop bridge'],
      ['note', 'transfer', { to: 'sip:second@pbx.example', status: 'done', by: 'second_leg' }],
    ]);
    // The engine is not missed.
    leg().mediaEvents.emit('streamClosed', { how: 'broken', code: 1006, reason: '' });
    await settle();
    log.length = 0;
    leg(1).legEvents.emit('ended', { ...END, outcome: 'remote_hangup' });
    await settle();
    expect(log).toEqual([
      ['free', 'b'],
      ['hangup', 'a'],
    ]);
    leg().legEvents.emit('ended', END);
    await settle();
    expect(finished).toMatchObject([{ status: 'completed', endReason: 'transferred' }]);
    expect(clock.pendingTimers()).toBe(0);
  });

  test('brings the caller back where the other one hangs up while both are being joined', async () => {
    await talk();
    let joined = () => {};
    joining = new Promise((resolve) => {
      joined = resolve;
    });
    runner.transfer('call', 'sip:second@pbx.example');
    await settle();
    leg(1).legEvents.emit('answered', { atMs: 0 });
    leg(1).legEvents.emit('ended', { ...END, outcome: 'remote_hangup' });
    await settle();
    joined();
    await settle();
    const to = 'sip:second@pbx.example';
    const reason = 'remote_hangup: 200 OK';
    expect(log.slice(-3)).toEqual([
      ['part'],
      ['tell', { status: 'failed', to, reason }],
      ['note', 'transfer', { to, status: 'failed', by: 'second_leg', reason }],
    ]);
    // The engine that talks with the caller again is sought again when it is lost.
    log.length = 0;
    lost();
    await settle();
    expect(acts()).toEqual([['bridge', 'ws://engine/']]);
  });

  test('takes the one that was called along when the caller leaves', async () => {
    await talk();
    runner.transfer('call', 'sip:second@pbx.example');
    await settle();
    leg(1).legEvents.emit('answered', { atMs: 0 });
    await settle();
    log.length = 0;
    leg().legEvents.emit('ended', { ...END, outcome: 'remote_hangup' });
    await settle();
    expect(log).toEqual([['hangup', 'a']]);
    leg(1).legEvents.emit('ended', END);
    await settle();
    expect(log.slice(1)).toEqual([
      ['free', 'a'],
      ['close media'],
      ['finish', REPORT],
      ['free', 'a'],
      ['over', 'call'],
    ]);
    expect(finished).toMatchObject([{ status: 'completed', endReason: 'transferred' }]);
  });

  test('lets the phone that rings go when the caller gives up', async () => {
    await talk();
    runner.transfer('call', 'sip:second@pbx.example');
    await settle();
    leg().legEvents.emit('ended', { ...END, outcome: 'remote_hangup' });
    leg(1).legEvents.emit('ended', { ...END, outcome: 'canceled', sip: null });
    await settle();
    const reason = 'the caller hung up';
    expect(log).toContainEqual([
      'note',
      'transfer',
      { to: 'sip:second@pbx.example', status: 'failed', by: 'second_leg', reason },
    ]);
    expect(finished).toMatchObject([{ status: 'completed', endReason: 'caller_hangup' }]);
  });

  test.each<[string, LegEnd[], number, string]>([
    [
      'is busy',
      [{ outcome: 'busy', sip: { code: 486, reason: 'Busy Here' }, q850Cause: 17 }],
      1,
      'busy: 486 Busy Here',
    ],
    [
      'cannot be reached over any trunk',
      [
        { outcome: 'trunk_error', sip: { code: 503, reason: 'Unavailable' }, q850Cause: null },
        { outcome: 'unreachable', sip: null, q850Cause: null },
      ],
      2,
      'unreachable',
    ],
  ])('brings the caller back to the engine where the other phone %s', async (_what, ends, tried, reason) => {
    await talk();
    runner.transfer('call', 'sip:second@pbx.example');
    await settle();
    for (const [index, end] of ends.entries()) {
      leg(index + 1).legEvents.emit('ended', end);
      await settle();
    }
    expect(legs.length).toBe(1 + tried);
    const to = 'sip:second@pbx.example';
    expect(log.slice(-3)).toEqual([
      ['part'],
      ['tell', { status: 'failed', to, reason }],
      ['note', 'transfer', { to, status: 'failed', by: 'second_leg', reason }],
    ]);
    expect(runner.active).toBe(1);
    expect(runner.transfer('call', '+886223456780')).toBe(true);
  });

  test('keeps its leases, and hears of a hang-up whose message was lost', async () => {
    await talk();
    stored = { ...stored, hangupRequested: true };
    clock.advance(15_000);
    await settle();
    expect(log).toEqual([['renew lock'], ['hangup', 'a']]);
  });

  test('hears of a hang-up while Redis is away, which can tell nobody of it', async () => {
    await talk();
    stored = { ...stored, hangupRequested: true };
    isRedisAway = true;
    clock.advance(15_000);
    await settle();
    expect(log).toEqual([['renew lock'], ['hangup', 'a']]);
  });

  test('keeps every change in its order while the database is away', async () => {
    updateFailures = 2;
    await talk();
    expect(log).toEqual([]);
    leg().legEvents.emit('ended', { ...END, outcome: 'remote_hangup' });
    await settle();
    expect(finished).toEqual([]);
    clock.advance(500);
    await settle();
    clock.advance(1000);
    await settle();
    expect(log.filter((entry) => Array.isArray(entry) && entry[0] === 'save')).toEqual([
      [
        'save',
        { status: 'dialing', startedAt: '2026-01-01T00:00:00.000Z', trunkId: 'a', sipCallId: 'sip-a' },
      ],
      ['save', { status: 'ringing' }],
      ['save', { status: 'in_progress', answeredAt: '2026-01-01T00:00:00.000Z' }],
    ]);
    expect(finished).toHaveLength(1);
  });

  test('drains: lets calls end by themselves, and ends them when the time is over', async () => {
    await talk();
    let drained = false;
    const draining = runner.drain(10_000).then(() => {
      drained = true;
    });
    clock.advance(9999);
    await settle();
    expect(log.filter((entry) => Array.isArray(entry) && entry[0] === 'hangup')).toEqual([]);
    clock.advance(1);
    await settle();
    expect(log).toContainEqual(['hangup', 'a']);
    expect(drained).toBe(false);
    leg().legEvents.emit('ended', END);
    await settle();
    await draining;
    expect(drained).toBe(true);
  });

  test('tells a call’s stretches in its trace, and its steps in the log', async () => {
    runner.dial({ ...CALL, createdAt: new Date(clock.now() - 700).toISOString() }, [trunk('a')]);
    await settle();
    clock.advance(2000);
    leg().legEvents.emit('ringing', { hasEarlyMedia: false });
    leg().legEvents.emit('answered', { atMs: clock.now() });
    clock.advance(3000);
    await settle();
    leg().legEvents.emit('ended', END);
    await settle();
    const own = traces.spans.map(({ name, parent, startMs, endMs }) => [
      name,
      parent,
      (endMs ?? NaN) - startMs,
    ]);
    expect(own).toEqual([
      ['call', undefined, 5700],
      ['queued', 'call', 700],
      ['dial', 'call', 2000],
      ['talk', 'call', 3000],
    ]);
    expect(traces.spans[0]?.attributes).toMatchObject({
      'callway.call.id': 'call',
      'callway.call.status': 'completed',
      'callway.sip.status_code': 200,
    });
    expect(steps).toEqual([
      ['call', 'a call is dialled'],
      ['call', 'a call is answered'],
      ['call', 'a call is over'],
    ]);
  });

  test('counts what a call has talked, each moment once', async () => {
    await talk();
    for (const passedMs of [15_000, 15_000, 5_000]) {
      clock.advance(passedMs);
      await settle();
    }
    leg().legEvents.emit('ended', END);
    await settle();
    expect(talked).toEqual([15_000, 15_000, 5_000]);
  });

  test('counts whom a caller was joined with by a leg of ours as well, from then on', async () => {
    await talk();
    clock.advance(10_000);
    runner.transfer('call', 'sip:second@pbx.example');
    await settle();
    leg(1).legEvents.emit('answered', { atMs: 0 });
    await settle();
    for (const passedMs of [5_000, 15_000]) {
      clock.advance(passedMs);
      await settle();
    }
    expect(paid).toEqual([
      [
        [CALL.toNumber, 15_000],
        ['sip:second@pbx.example', 5_000],
      ],
      [
        [CALL.toNumber, 15_000],
        ['sip:second@pbx.example', 15_000],
      ],
    ]);
  });

  test('counts nothing of who calls, until a leg of ours takes them elsewhere', async () => {
    const incoming = fakeLeg({ trunk: trunk('a') }, log);
    legs.push(incoming);
    runner.accept({ ...CALL, direction: 'inbound', trunkId: 'a' }, incoming.leg);
    incoming.legEvents.emit('answered', { atMs: clock.now() });
    await settle();
    clock.advance(15_000);
    await settle();
    runner.transfer('call', 'sip:second@pbx.example');
    await settle();
    leg(1).legEvents.emit('answered', { atMs: 0 });
    await settle();
    clock.advance(15_000);
    await settle();
    expect(paid).toEqual([[], [['sip:second@pbx.example', 15_000]]]);
  });

  test('takes nobody elsewhere by a leg that the project may not pay', async () => {
    await talk();
    hasMinutes = false;
    runner.transfer('call', 'sip:second@pbx.example');
    await settle();
    expect(legs).toHaveLength(1);
    const reason = 'this project’s calls have talked, or cost, as much as they may today';
    const note = { to: 'sip:second@pbx.example', status: 'failed', by: 'second_leg', reason };
    expect(log).toContainEqual(['note', 'transfer', note]);
  });

  test('hangs up a call whose project has no minutes left', async () => {
    await talk();
    hasMinutes = false;
    clock.advance(15_000);
    await settle();
    expect(log).toContainEqual(['hangup', 'a']);
    leg().legEvents.emit('ended', END);
    await settle();
    expect(finished).toMatchObject([{ status: 'completed', endReason: 'max_duration' }]);
  });

  test('calls nobody because a peer that takes no REFER asks for it', async () => {
    await talk();
    leg().legEvents.emit('transferRequested', { to: 'sip:second@pbx.example' });
    await settle();
    expect(dialled).toHaveLength(1);
    const note = { to: 'sip:second@pbx.example', status: 'failed', by: 'refer' };
    expect(log).toContainEqual(['note', 'transfer', expect.objectContaining(note)]);
  });

  test('sends nobody to where the project may not call, and goes on talking', async () => {
    await talk();
    runner.transfer('call', 'sip:forbidden');
    await settle();
    const reason = 'This project may not call sip:forbidden';
    const note = { to: 'sip:forbidden', status: 'failed', by: 'refer', reason };
    expect(log).toContainEqual(['note', 'transfer', note]);
    expect(log).toContainEqual(['tell', { status: 'failed', to: 'sip:forbidden', reason }]);
    expect(log.map((entry) => (entry as string[])[0])).not.toContain('transfer');
  });
});
