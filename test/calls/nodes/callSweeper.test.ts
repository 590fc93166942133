import { beforeEach, describe, expect, test } from 'vitest';

import type { Call } from '../../../src/calls/call.ts';
import type { OrphanedCall, QueuedCall } from '../../../src/calls/callStore.ts';
import { type CallSweeperDeps, startCallSweeper, sweepCalls } from '../../../src/calls/nodes/callSweeper.ts';
import { registerNode } from '../../../src/calls/nodes/nodeRegistration.ts';
import { createSimulatedClock, type SimulatedClock } from '../../support/simulatedClock.ts';
import { AT, later, makeCall } from '../support/makeCall.ts';

let clock: SimulatedClock;
let done: string[];
let queued: QueuedCall[];
let orphans: OrphanedCall[];
let removals: string[];
let lostLocks: string[];
let canceled: string[];
let isOurs: boolean;
let left: Call[];
let failing: string | undefined;

const note = async (what: string) => {
  if (failing !== undefined && what.includes(failing)) throw new Error(`${what} failed`);
  done.push(what);
};
const RECOVERED = { status: 'ready', key: 'saved', durationMs: 7, error: null } as const;

const deps = (): CallSweeperDeps => ({
  calls: {
    listQueued: async (from, limit) => queued.filter(({ id }) => from === null || id > from).slice(0, limit),
    listOrphans: async (before) => {
      done.push(`before ${before.toISOString()}`);
      return orphans;
    },
    releaseClaim: (id, nodeId) => note(`unclaim ${id} ${nodeId}`),
    find: async (_projectId, id) => makeCall({ id, status: canceled.includes(id) ? 'canceled' : 'queued' }),
  },
  removals: { due: async () => removals, done: (key) => note(`forget ${key}`) },
  recordings: {
    recover: async ({ id }) => {
      await note(`recover ${id}`);
      return RECOVERED;
    },
    remove: (key) => note(`remove ${key}`),
  },
  finisher: {
    async finish(call, nodeId, end) {
      await note(`finish ${call.id} ${nodeId} ${end.status} ${end.endReason} ${end.endedAt}`);
      const found = [...orphans.map((orphan) => orphan.call), ...left].find(({ id }) => id === call.id);
      return found && { ...found, ...end };
    },
    completeRecording: (call, { key }) => note(`recorded ${call.id} ${key}`),
    settle: ({ id }) => note(`settle ${id}`),
  },
  lock: {
    renew: async (_projectId, number) => !lostLocks.includes(number),
    async acquire(_projectId, number, callId) {
      await note(`take ${number} ${callId}`);
      return 1;
    },
    release: (_projectId, number, callId) => note(`free ${number} ${callId}`),
  },
  queue: { add: (callId) => note(`add ${callId}`) },
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
  [done, queued, orphans, removals, lostLocks, left, canceled] = [[], [], [], [], [], [], []];
  [isOurs, failing] = [true, undefined];
});

describe('a sweep', () => {
  const waiting = (id: string, seconds: number, toNumber = '+1'): QueuedCall => ({
    id,
    projectId: 'p',
    toNumber,
    createdAtMs: Date.parse(later(seconds)),
  });

  test('queues anew what has waited for a while, and takes locks again that ran out', async () => {
    queued = [waiting('new', 86), waiting('old', 84), waiting('unlocked', 90, '+2')];
    lostLocks = ['+2'];
    expect((await sweep()).sort()).toEqual(['add old', 'take +2 unlocked']);
  });

  test('leaves no lock to a call that was canceled since it was found waiting', async () => {
    queued = [waiting('gone', 90)];
    lostLocks = ['+1'];
    canceled = ['gone'];
    expect(await sweep()).toEqual(['take +1 gone', 'free +1 gone']);
  });

  test('goes through any number of waiting calls', async () => {
    queued = Array.from({ length: 450 }, (_, index) => waiting(`c${String(index).padStart(3, '0')}`, 0));
    expect(new Set(await sweep()).size).toBe(450);
  });

  test('is one node’s at a time', async () => {
    queued = [waiting('old', 0)];
    isOurs = false;
    await sweepCalls(deps());
    expect(done).toEqual([]);
  });

  test('asks for calls of nodes that were silent for 30 s', async () => {
    await sweepCalls(deps());
    expect(done).toEqual([`before ${later(70)}`]);
  });

  test('ends a call when its node was last seen, and saves its recording', async () => {
    orphans = [{ call: makeCall({ id: 'lost' }), lastSeenAt: later(60) }];
    expect(await sweep()).toEqual([
      `finish lost null failed node_lost ${later(60)}`,
      'recover lost',
      'recorded lost saved',
    ]);
  });

  test.each([
    ['not before it was answered', { answeredAt: later(80) }, later(60), later(80)],
    ['now, where nobody knows better', {}, null, later(100)],
  ])('ends it %s', async (_what, change, lastSeenAt, endedAt) => {
    orphans = [{ call: makeCall({ id: 'lost', ...change }), lastSeenAt }];
    expect((await sweep())[0]).toBe(`finish lost null failed node_lost ${endedAt}`);
  });

  test('saves nothing of a call that nobody answered', async () => {
    orphans = [{ call: makeCall({ id: 'rang', status: 'ringing', answeredAt: null }), lastSeenAt: AT }];
    expect(await sweep()).toEqual([`finish rang null failed node_lost ${later(1)}`]);
  });

  test('puts a call back that was taken and never placed; one that is to be hung up is canceled', async () => {
    const taken = { status: 'queued', startedAt: null, answeredAt: null } as const;
    orphans = [
      { call: makeCall({ id: 'taken', ...taken }), lastSeenAt: AT },
      { call: makeCall({ id: 'unwanted', ...taken, hangupRequested: true }), lastSeenAt: later(5) },
    ];
    expect(await sweep()).toEqual([
      'unclaim taken node',
      'add taken',
      `finish unwanted null canceled api_hangup ${later(5)}`,
    ]);
  });

  test('goes on with calls that are over', async () => {
    const over = { status: 'completed', endedAt: later(3) } as const;
    orphans = [
      { call: makeCall({ id: 'told', ...over, recording: RECOVERED }), lastSeenAt: null },
      { call: makeCall({ id: 'storing', ...over }), lastSeenAt: null },
    ];
    expect(await sweep()).toEqual(['settle told', 'recover storing', 'recorded storing saved']);
  });

  test('is not held up by a call that cannot be ended', async () => {
    orphans = ['bad', 'good'].map((id) => ({ call: makeCall({ id, answeredAt: null }), lastSeenAt: AT }));
    failing = 'finish bad';
    const outcome = await sweep();
    expect(outcome[0]).toMatch(/^warned: finish bad/);
    expect(outcome[1]).toMatch(/^finish good/);
  });

  test('removes recordings whose calls are gone, and forgets them only then', async () => {
    removals = ['a.wav', 'b.wav'];
    expect(await sweep()).toEqual(['remove a.wav', 'forget a.wav', 'remove b.wav', 'forget b.wav']);
    done = [];
    failing = 'remove';
    await expect(sweepCalls(deps())).rejects.toThrow('remove a.wav failed');
    expect(done).not.toContain('forget a.wav');
  });

  test('comes every ten seconds until it is stopped, failures and all', async () => {
    failing = 'remove';
    removals = ['a.wav'];
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
});

test('a node that begins another life ends what its former one left, and beats until it stops', async () => {
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
