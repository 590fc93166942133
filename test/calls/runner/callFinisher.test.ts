import { beforeEach, describe, expect, test } from 'vitest';
import { type Call, isFinal, type RecordingResult } from '../../../src/calls/call.ts';
import type { CallStore } from '../../../src/calls/callStore.ts';
import type { CallLimiter } from '../../../src/calls/limits/callLimiter.ts';
import { CallPlaces } from '../../../src/calls/limits/callPlaces.ts';
import { type CallEnd, CallFinisher, type CallFinisherDeps } from '../../../src/calls/runner/callFinisher.ts';
import { CallSessions } from '../../../src/calls/setup/callSessions.ts';
import type { NumberLock } from '../../../src/calls/setup/numberLock.ts';
import type { CallTransfer } from '../../../src/calls/transfer/transferReport.ts';
import type { TrunkSlots } from '../../../src/calls/trunks/trunkSlots.ts';
import type { ConversationEngine } from '../../../src/engine/conversationEngine.ts';
import type { TurnCheckpointStore } from '../../../src/engine/session/interruptedTurn.ts';
import type { ReleaseStore } from '../../../src/engine/session/releases.ts';
import type { NewLiveEvent } from '../../../src/events/liveEvent.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';
import { unused } from '../../support/unused.ts';
import { AT, later, makeCall } from '../support/makeCall.ts';

const READY: RecordingResult = { status: 'ready', key: 'k', durationMs: 5, error: null };
const END: CallEnd = { status: 'completed', endReason: 'caller_hangup', endedAt: later(9) };

let row: Call | undefined;
let liveInstance: string | undefined;
let done: string[];
/** The step that fails once. */
let failing: string | undefined;
const step = async (name: string) => {
  if (failing === name) {
    failing = undefined;
    throw new Error(`${name} failed`);
  }
  done.push(name);
};

const onError = (error: unknown) => void done.push(`warned: ${(error as Error).message}`);
const deps: CallFinisherDeps = {
  usage: { add: () => undefined },
  updateCost: () => step('cost'),
  calls: unused<CallStore>('calls', {
    find: async () => row,
    async update(_id, nodeId, change) {
      await step('row');
      if (!row || isFinal(row.status) || (nodeId !== null && nodeId !== row.nodeId)) return undefined;
      row = { ...row, ...change };
      return row;
    },
    async completeRecording(_id, recording) {
      if (row?.recording && row.recording.status !== 'recording') return undefined;
      if (row) row = { ...row, recording };
      return row;
    },
    markSettled: () => step('settled'),
  }),
  sessions: new CallSessions({
    conversations: unused<ConversationEngine>('conversations', {
      find: async () => (liveInstance === undefined ? undefined : ({ instanceId: liveInstance } as never)),
      async end(_projectId, _sessionId, reason) {
        await step(`session ${reason}`);
        liveInstance = undefined;
        return true;
      },
    }),
    releases: unused<ReleaseStore>('releases'),
    recovery: {
      sessions: {
        async find() {
          if (failing === 'recovery') await step('recovery');
          return undefined;
        },
        saveTurn: () => Promise.reject(new Error('not used here')),
      },
      checkpoints: unused<TurnCheckpointStore>('checkpoints'),
      clock: createSimulatedClock(),
    },
    readAhead: async () => undefined,
    onError,
  }),
  places: new CallPlaces({
    lock: unused<NumberLock>('lock', { release: (_projectId, number) => step(`lock ${number}`) }),
    slots: unused<TrunkSlots>('slots', { release: (trunkId) => step(`channel ${trunkId}`) }),
    limiter: unused<CallLimiter>('limiter', { endCall: ({ id }) => step(`slot of ${id}`) }),
    onError,
  }),
  settleContact: ({ contactId }) => step(`contact ${contactId}`),
  recordFact: (_instanceId, event, at) => step(`${event} ${at.toISOString()}`),
  now: () => Date.parse(later(20)),
};
const finisher = new CallFinisher(deps);

beforeEach(() => {
  [row, liveInstance, done, failing] = [makeCall({ recording: READY }), 'instance', [], undefined];
});

const SLOT = 'slot of call';
const RELEASES = ['lock +886912345678', 'channel trunk', SLOT];
const ALL = [
  'row',
  ...RELEASES,
  'session call_ended',
  'cost',
  `call.ended ${later(9)}`,
  `recording.ready ${later(20)}`,
  'settled',
];

describe('CallFinisher.finish', () => {
  test('does every step in order', async () => {
    expect(await finisher.finish(makeCall(), 'node', END)).toMatchObject(END);
    expect(done).toEqual(ALL);
  });

  test('may be repeated, and keeps the first end', async () => {
    await finisher.finish(makeCall(), 'node', END);
    done = [];
    const again = { ...END, status: 'failed', endedAt: later(30) } as const;
    expect(await finisher.finish(makeCall(), 'node', again)).toMatchObject(END);
    expect(done).toEqual(ALL.filter((name) => name !== 'session call_ended'));
  });

  test.each([
    'session call_ended',
    'cost',
    `call.ended ${later(9)}`,
    `recording.ready ${later(20)}`,
    'settled',
  ])('is completed by settle after a failure at: %s', async (name) => {
    failing = name;
    await expect(finisher.finish(makeCall(), 'node', END)).rejects.toThrow('failed');
    expect(done).not.toContain(name);
    await finisher.settle(row ?? makeCall());
    for (const expected of ALL) expect(done).toContain(expected);
    expect(done.filter((one) => one === 'session call_ended')).toHaveLength(1);
  });

  test('tells the end of a transfer that was lost with its node, once', async () => {
    const transfer: CallTransfer = {
      mode: 'warm',
      to: '+886223456789',
      status: 'failed',
      outcome: 'failed',
      reason: 'node lost',
      startedAt: later(5),
      endedAt: later(9),
    };
    const told: unknown[] = [];
    const liveEvents = { publish: ({ type, data }: NewLiveEvent) => void told.push([type, data]) };
    const calls = {
      ...deps.calls,
      update: (...[id, nodeId, change, event]: Parameters<CallFinisherDeps['calls']['update']>) => {
        told.push([event?.type, event?.data]);
        return deps.calls.update(id, nodeId, change, event);
      },
    };
    const lost = { ...END, status: 'failed', endReason: 'node_lost', transfer } as const;
    await new CallFinisher({ ...deps, calls, liveEvents }).finish(makeCall(), null, lost);
    const step = { to: transfer.to, mode: 'warm', outcome: 'failed', reason: 'node lost' };
    expect(told).toEqual([
      ['transfer', { ...step, status: 'failed', by: 'second_leg', targetsLeft: 0 }],
      ['transfer.failed', step],
      ['call_status', { status: 'failed', endReason: 'node_lost' }],
      ['call.ended', expect.anything()],
    ]);
    expect(row).toMatchObject({ status: 'failed', transfer });
  });

  test('continues while Redis is away', async () => {
    failing = 'lock +886912345678';
    await finisher.finish(makeCall(), 'node', END);
    expect(done).toContain('warned: lock +886912345678 failed');
    expect(done.at(-1)).toBe('settled');
  });

  test('does nothing for a call of another node, or a deleted one', async () => {
    expect(await finisher.finish(makeCall(), 'another', END)).toBeUndefined();
    expect(done).toEqual(['row']);
    row = undefined;
    expect(await finisher.finish(makeCall(), 'node', END)).toBeUndefined();
  });

  test('does not end another session with the same id', async () => {
    liveInstance = 'another';
    await finisher.finish(makeCall(), 'node', END);
    expect(done).not.toContain('session call_ended');
    expect(done.at(-1)).toBe('settled');
  });

  test.each([
    ['the call was not answered', { answeredAt: null }],
    ['recording was off', { settings: { ...makeCall().settings, record: false } }],
  ])('reports no recording when %s', async (_what, change) => {
    row = makeCall(change);
    await finisher.finish(row, 'node', END);
    expect(done.some((name) => name.startsWith('recording.ready'))).toBe(false);
    expect(done.at(-1)).toBe('settled');
  });

  test('releases neither lock nor channel of a call that held none', async () => {
    row = makeCall({ direction: 'inbound', trunkId: null, recording: READY });
    await finisher.finish(row, null, END);
    expect(done).toEqual(ALL.filter((name) => name === SLOT || !RELEASES.includes(name)));
  });
});

describe('CallFinisher.completeRecording', () => {
  test('settles the call when the recording is stored after its end', async () => {
    row = makeCall({ recording: { ...READY, status: 'recording' } });
    await finisher.finish(row, 'node', END);
    expect(done.at(-1)).toBe(`call.ended ${later(9)}`);
    await finisher.completeRecording(makeCall(), READY);
    expect(done.slice(-2)).toEqual([`recording.ready ${later(20)}`, 'settled']);
    expect(row?.recording).toEqual(READY);
  });

  test('waits for the call’s end when the recording is stored before it', async () => {
    row = makeCall();
    await finisher.completeRecording(row, READY);
    expect(done).toEqual([]);
    await finisher.finish(row, 'node', END);
    expect(done).toEqual(ALL);
  });

  test('keeps the first result', async () => {
    row = makeCall({ status: 'completed', endedAt: AT });
    await finisher.completeRecording(row, { ...READY, status: 'failed', error: 'disk full' });
    await finisher.completeRecording(row, READY);
    expect(row?.recording).toMatchObject({ status: 'failed', error: 'disk full' });
  });
});

test.each([
  [false, READY, { recordingUrl: 'https://files/k', status: 'ready', durationMs: 5 }],
  [
    false,
    { ...READY, status: 'failed', key: null, error: 'disk full' } as const,
    { status: 'failed', durationMs: 5, error: 'disk full' },
  ],
  [true, READY, undefined],
])(
  'CallFinisher counts a call and tells its end and its recording, unless it is a test: %j',
  async (isTest, recording, told) => {
    const [events, used]: [unknown[], unknown[]] = [[], []];
    const finishing = new CallFinisher({
      ...deps,
      usage: { add: (...usage) => void used.push(usage) },
      liveEvents: { publish: (event) => void events.push(event) },
      recordingUrl: (key) => `https://files/${key}`,
    });
    row = makeCall({ isTest, disclosures: [{ id: 'who', withinSeconds: 9, machines: true }] });
    await finishing.finish(row, 'node', END);
    await finishing.completeRecording(row, recording);
    const call = { projectId: 'project', sessionId: 'session', callId: 'call', release: null };
    const data = {
      direction: 'outbound',
      fromNumber: row.fromNumber,
      toNumber: row.toNumber,
      trunkId: 'trunk',
    };
    const { status, endReason } = END;
    const violations = [{ kind: 'disclosure', id: 'who' }];
    const ended = {
      type: 'call.ended',
      ...call,
      data: { ...data, status, endReason, durationMs: 7000, sip: null, violations },
    };
    expect(events).toEqual(told ? [ended, { type: 'recording.ready', ...call, data: told }] : []);
    expect(used).toEqual(told ? [['project', { calls: 1, callMs: 7000 }]] : []);
  },
);

test('CallFinisher tells the end of a call that was canceled before a node had it, and settles it', async () => {
  const types: string[] = [];
  const liveEvents = { publish: ({ type }: NewLiveEvent) => void types.push(type) };
  await new CallFinisher({ ...deps, liveEvents }).settleCanceled(
    makeCall({ status: 'canceled', answeredAt: null }),
  );
  expect([types, done.at(-1)]).toEqual([['call.ended'], 'settled']);
});

test('CallFinisher ends the session also when the interrupted turn cannot be recovered', async () => {
  failing = 'recovery';
  await finisher.settle(makeCall({ ...END, recording: READY }));
  expect(done).toContain('warned: recovery failed');
  expect(done).toContain('session call_ended');
});
