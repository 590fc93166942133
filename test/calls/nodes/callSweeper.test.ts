import { beforeEach, describe, expect, test, vi } from 'vitest';
import type { Call } from '../../../src/calls/call.ts';
import type { CallStore, OrphanedCall, QueuedCall } from '../../../src/calls/callStore.ts';
import {
  type CallSweeperDeps,
  registerNode,
  startCallSweeper,
  sweepCalls,
} from '../../../src/calls/nodes/callSweeper.ts';
import type { CallRecordings } from '../../../src/calls/recording/callRecordings.ts';
import type { CallFinisher } from '../../../src/calls/runner/callFinisher.ts';
import { createSimulatedClock, type SimulatedClock } from '../../support/simulatedClock.ts';
import { unused } from '../../support/unused.ts';
import { AT, later, makeCall } from '../support/makeCall.ts';

let clock: SimulatedClock;
let done: string[];
let queued: QueuedCall[];
let orphans: OrphanedCall[];
let lostLocks: string[];
let canceled: string[];
let isOurs: boolean;
let left: Call[];
let failing: string | undefined;

const note = async (what: string) => {
  if (failing !== undefined && what.includes(failing)) throw new Error(`${what} failed`);
  done.push(what);
};
const transferring = (startedAt: string): Call['transfer'] => ({
  mode: 'warm',
  to: '+886223456789',
  status: 'started',
  outcome: null,
  reason: null,
  startedAt,
  endedAt: null,
});
let transferEnds: unknown[];
const RECOVERED = { status: 'ready', key: 'saved', durationMs: 7, error: null } as const;

const deps = (): CallSweeperDeps => ({
  calls: unused<CallStore>('calls', {
    listQueued: async (limit, after = '') => queued.filter(({ id }) => id > after).slice(0, limit),
    listOrphans: async (before, limit, after = '') => {
      done.push(`before ${before.toISOString()}`);
      return orphans.filter(({ call }) => call.id > after).slice(0, limit);
    },
    releaseClaim: (id, nodeId) => note(`release claim ${id} ${nodeId}`).then(() => false),
    find: async (_projectId, id) => makeCall({ id, status: canceled.includes(id) ? 'canceled' : 'queued' }),
  }),
  recordings: unused<CallRecordings>('recordings', {
    recover: async ({ id }) => {
      await note(`recover ${id}`);
      return RECOVERED;
    },
  }),
  finisher: unused<CallFinisher>('finisher', {
    async finish(call, nodeId, end) {
      if (end.transfer !== undefined) transferEnds.push(end.transfer);
      await note(`finish ${call.id} ${nodeId} ${end.status} ${end.endReason} ${end.endedAt}`);
      const found = [...orphans.map((orphan) => orphan.call), ...left].find(({ id }) => id === call.id);
      return found && { ...found, ...end };
    },
    completeRecording: (call, { key }) => note(`recorded ${call.id} ${key}`),
    settle: ({ id }) => note(`settle ${id}`),
  }),
  lock: {
    renew: async (_projectId, number) => !lostLocks.includes(number),
    async acquire(_projectId, number, callId) {
      await note(`lock ${number} ${callId}`);
      return 1;
    },
    release: (_projectId, number, callId) => note(`unlock ${number} ${callId}`),
  },
  leases: { hold: async () => isOurs, release: (name) => note(`release ${name}`) },
  clock,
  onError: (error) => void done.push(`warned: ${(error as Error).message}`),
});
const sweep = async () => {
  await sweepCalls(deps());
  return done.filter((what) => !what.startsWith('before'));
};

beforeEach(() => {
  clock = createSimulatedClock(Date.parse(later(100)));
  [done, queued, orphans, lostLocks, left, canceled] = [[], [], [], [], [], []];
  [isOurs, failing, transferEnds] = [true, undefined, []];
});

describe('sweepCalls', () => {
  const waiting = (id: string, toNumber = '+1'): QueuedCall => ({ id, projectId: 'p', toNumber });

  test('restores expired locks of waiting calls', async () => {
    queued = [waiting('locked'), waiting('unlocked', '+2')];
    lostLocks = ['+2'];
    expect(await sweep()).toEqual(['lock +2 unlocked']);
  });

  test('releases the restored lock of a call that was canceled meanwhile', async () => {
    queued = [waiting('gone')];
    lostLocks = ['+1'];
    canceled = ['gone'];
    expect(await sweep()).toEqual(['lock +1 gone', 'unlock +1 gone']);
  });

  test('pages through any number of queued calls', async () => {
    queued = Array.from({ length: 450 }, (_, index) => waiting(`c${String(index).padStart(3, '0')}`));
    lostLocks = ['+1'];
    expect(new Set(await sweep()).size).toBe(450);
  });

  test('does nothing without the lease', async () => {
    queued = [waiting('old')];
    isOurs = false;
    await sweepCalls(deps());
    expect(done).toEqual([]);
  });

  test('looks for calls of nodes without a heartbeat for 30 s', async () => {
    await sweepCalls(deps());
    expect(done).toEqual([`before ${later(70)}`]);
  });

  test('ends an orphaned call at its node’s last heartbeat, and recovers the recording', async () => {
    orphans = [{ call: makeCall({ id: 'lost' }), lastSeenAt: later(60) }];
    expect(await sweep()).toEqual([
      `finish lost null failed node_lost ${later(60)}`,
      'recover lost',
      'recorded lost saved',
    ]);
  });

  test.each([
    ['not before its answer', { answeredAt: later(80) }, later(60), later(80)],
    ['not before its transfer', { transfer: transferring(later(90)) }, later(60), later(90)],
    ['now without a heartbeat', {}, null, later(100)],
  ])('ends an orphaned call %s', async (_what, change, lastSeenAt, endedAt) => {
    orphans = [{ call: makeCall({ id: 'lost', ...change }), lastSeenAt }];
    expect((await sweep())[0]).toBe(`finish lost null failed node_lost ${endedAt}`);
  });

  test('ends the transfer of an orphaned call, unless it had ended', async () => {
    const transfer = transferring(later(50));
    const ended = { ...transfer, status: 'failed', outcome: 'busy', endedAt: later(55) } as Call['transfer'];
    orphans = [transfer, ended].map((one, at) => ({
      call: makeCall({ id: `c${at}`, transfer: one }),
      lastSeenAt: later(60),
    }));
    await sweep();
    expect(transferEnds).toEqual([
      {
        ...transfer,
        status: 'failed',
        outcome: 'failed',
        reason: 'the node of the call failed',
        endedAt: later(60),
      },
    ]);
  });

  test('recovers no recording of an unanswered call', async () => {
    orphans = [{ call: makeCall({ id: 'rang', status: 'ringing', answeredAt: null }), lastSeenAt: AT }];
    expect(await sweep()).toEqual([`finish rang null failed node_lost ${later(1)}`]);
  });

  test('requeues a claimed call that was not dialed, or cancels it when a hang-up was requested', async () => {
    const taken = { status: 'queued', startedAt: null, answeredAt: null } as const;
    orphans = [
      { call: makeCall({ id: 'taken', ...taken }), lastSeenAt: AT },
      { call: makeCall({ id: 'unwanted', ...taken, hangupRequested: true }), lastSeenAt: later(5) },
    ];
    expect(await sweep()).toEqual([
      'release claim taken node',
      `finish unwanted null canceled api_hangup ${later(5)}`,
    ]);
  });

  test('settles ended calls', async () => {
    const ended = { status: 'completed', endedAt: later(3) } as const;
    orphans = [
      { call: makeCall({ id: 'recorded', ...ended, recording: RECOVERED }), lastSeenAt: null },
      { call: makeCall({ id: 'storing', ...ended }), lastSeenAt: null },
    ];
    expect(await sweep()).toEqual(['settle recorded', 'recover storing', 'recorded storing saved']);
  });

  test('continues after calls that cannot be ended, however many', async () => {
    const bad = Array.from({ length: 400 }, (_, at) => `bad${at}`).sort();
    orphans = [...bad, 'good'].map((id) => ({ call: makeCall({ id, answeredAt: null }), lastSeenAt: AT }));
    failing = 'finish bad';
    const outcome = await sweep();
    expect(outcome.filter((what) => what.startsWith('warned: finish bad'))).toHaveLength(400);
    expect(outcome.at(-1)).toMatch(/^finish good/);
  });

  test('startCallSweeper gives nodes until the next sweep to be seen again after the database was away', async () => {
    queued = [waiting('new')];
    lostLocks = ['+1'];
    orphans = [{ call: makeCall({ id: 'lost' }), lastSeenAt: later(60) }];
    failing = 'lock';
    const stop = startCallSweeper(deps());
    const ended: boolean[] = [];
    for (let round = 0; round < 3; round += 1) {
      clock.advance(10_000);
      await new Promise((resolve) => setImmediate(resolve));
      failing = undefined;
      ended.push(done.some((what) => what.startsWith('finish lost')));
    }
    await stop();
    expect(ended).toEqual([false, false, true]);
  });

  test('startCallSweeper runs every ten seconds until stopped, also after failures', async () => {
    queued = [waiting('new')];
    lostLocks = ['+1'];
    failing = 'lock';
    const stop = startCallSweeper(deps());
    const settled = () => new Promise((resolve) => setImmediate(resolve));
    for (let round = 0; round < 3; round += 1) {
      clock.advance(10_000);
      await settled();
    }
    expect(done.filter((what) => what.startsWith('warned'))).toHaveLength(3);
    await stop();
    expect(done.at(-1)).toBe('release call-sweep');
    expect(clock.pendingTimers()).toBe(0);
  });

  test('startCallSweeper leaves a recording whose store is silent to the next sweep when it stops', async () => {
    orphans = [{ call: makeCall({ id: 'lost' }), lastSeenAt: later(60) }];
    const recover = () => new Promise<never>(() => void done.push('recover lost'));
    const recordings = unused<CallRecordings>('recordings', { recover });
    const stop = startCallSweeper({ ...deps(), recordings });
    clock.advance(10_000);
    await vi.waitFor(() => expect(done).toContain('recover lost'));
    await stop();
    expect(done.at(-1)).toBe('release call-sweep');
  });
});

test('registerNode ends the calls of the previous process, and sends heartbeats until stopped', async () => {
  left = [makeCall({ id: 'left' }), makeCall({ id: 'bad' }), makeCall({ id: 'next', answeredAt: null })];
  failing = 'finish bad';
  const beats: string[] = [];
  const { calls, ...rest } = deps();
  const stop = await registerNode({
    ...rest,
    nodeId: 'node',
    calls: {
      ...calls,
      listUnsettledOn: async () => left.map((call) => ({ call, lastSeenAt: later(60) })),
      recordHeartbeat: async (nodeId, at) => void beats.push(`${nodeId} ${at.toISOString()}`),
    },
  });
  expect(done).toEqual([
    `finish left null failed node_lost ${later(60)}`,
    'recover left',
    'recorded left saved',
    expect.stringMatching(/^warned: finish bad/),
    `finish next null failed node_lost ${later(60)}`,
  ]);
  clock.advance(5_000);
  expect(beats).toEqual([`node ${later(100)}`, `node ${later(105)}`]);
  await stop();
  expect(clock.pendingTimers()).toBe(0);
});
