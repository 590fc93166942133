import { expect, test } from 'vitest';

import type { Again, ClaimCapacity, ClaimedWork, LeasedWork } from '../../src/work/work.ts';
import { CLAIM_LEASE_MS, Worker, type WorkerDeps } from '../../src/work/worker.ts';
import { createSimulatedClock } from '../support/simulatedClock.ts';

const START_MS = Date.UTC(2026, 0, 1);
const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

/** A worker whose claims return what is in `due`, and whose work ends when it is told to. */
function scene({ finishMs = 0, beside }: { finishMs?: number; beside?: () => Promise<unknown>[] } = {}) {
  const clock = createSimulatedClock(START_MS);
  const due: ClaimedWork[] = [];
  const claims: { at: number; until: number; capacity: ClaimCapacity }[] = [];
  const started: string[] = [];
  const ends = new Map<string, (error?: Error) => void>();
  const errors: string[] = [];
  const claiming = { error: undefined as Error | undefined, answer: Promise.resolve() };
  const worker = new Worker({
    rows: {
      async claimDue(now, until, capacity) {
        claims.push({ at: now.getTime() - START_MS, until: until.getTime() - START_MS, capacity });
        await claiming.answer;
        if (claiming.error) throw claiming.error;
        return { claimed: due.splice(0), nextDueAt: null };
      },
    },
    maxRunning: 100,
    maxPerProject: 10,
    run({ id }) {
      started.push(id);
      return new Promise((resolve, reject) =>
        ends.set(id, (error) => (error ? reject(error) : resolve(undefined))),
      );
    },
    beside,
    clock,
    finishMs,
    name: 'letters',
    onError: (_error, what) => errors.push(what),
  });
  const end = async (id: string, error?: Error) => {
    ends.get(id)?.(error);
    await settle();
  };
  return { clock, due, claims, claiming, started, end, errors, worker };
}

const work = (id: string, projectId = 'p'): ClaimedWork => ({ id, projectId });
const many = (count: number, projectId: (n: number) => string) =>
  Array.from({ length: count }, (_, n) => work(`${n}`, projectId(n)));

test('Due work is claimed at the start and every second, for as long as a lease', async () => {
  const { clock, claims, due, started, worker } = scene();
  due.push(work('a'), work('b', 'q'));
  worker.start();
  worker.start();
  await settle();
  expect(started).toEqual(['a', 'b']);
  clock.advance(999);
  await settle();
  expect(claims).toHaveLength(1);
  clock.advance(1);
  await settle();
  expect(claims).toEqual([
    {
      at: 0,
      until: CLAIM_LEASE_MS,
      capacity: { rows: 100, perProject: 10, leftByProject: new Map() },
    },
    {
      at: 1000,
      until: 1000 + CLAIM_LEASE_MS,
      capacity: {
        rows: 98,
        perProject: 10,
        leftByProject: new Map([
          ['p', 9],
          ['q', 9],
        ]),
      },
    },
  ]);
});

test('A wake during a claim claims once more', async () => {
  const { claims, claiming, worker } = scene();
  let answer = () => {};
  claiming.answer = new Promise((resolve) => {
    answer = resolve;
  });
  worker.wake();
  worker.wake();
  worker.wake();
  await settle();
  expect(claims).toHaveLength(1);
  answer();
  await settle();
  expect(claims).toHaveLength(2);
});

test('A wake claims at any moment of a claim before', async () => {
  for (let ticks = 0; ticks < 20; ticks += 1) {
    const { claims, worker } = scene();
    worker.wake();
    for (let tick = 0; tick < ticks; tick += 1) await undefined;
    const before = claims.length;
    worker.wake();
    await settle();
    expect([ticks, claims.length]).toEqual([ticks, before + 1]);
  }
});

/** Work `a` runs, and its second claim is on its way. */
async function claimedTwice() {
  const here = scene();
  here.due.push(work('a'));
  here.worker.wake();
  await settle();
  here.due.push(work('a'));
  here.worker.wake();
  return here;
}

test('Work that is claimed again while it runs is run once more after its end', async () => {
  const { end, started } = await claimedTwice();
  await settle();
  expect(started).toEqual(['a']);
  await end('a');
  expect(started).toEqual(['a', 'a']);
  await end('a');
  expect(started).toEqual(['a', 'a']);
});

test('Work that is claimed again as the node stops is run once more, which releases it', async () => {
  const { end, started, worker } = await claimedTwice();
  const closed = worker.close();
  await settle();
  await end('a');
  expect([started, worker.signal.aborted]).toEqual([['a', 'a'], true]);
  await end('a');
  await closed;
});

test.each([
  ['a full node', many(100, (n) => `${n}`)],
  ['a project with all of its share', many(10, () => 'p')],
])('The end of work of %s claims more at once', async (_what, all) => {
  const { claims, due, end, worker } = scene();
  due.push(...all);
  worker.wake();
  await settle();
  const before = claims.length;
  // A full node does not ask for more.
  worker.wake();
  await settle();
  expect(claims).toHaveLength(all.length === 100 ? before : before + 1);
  const after = claims.length;
  await end('0');
  expect(claims).toHaveLength(after + 1);
  await end('1');
  expect(claims.length - after).toBe(1);
});

test('Failed claims and failed work are reported, and the worker goes on', async () => {
  const { claiming, clock, due, end, errors, started, worker } = scene();
  claiming.error = new Error('the database is away');
  worker.start();
  await settle();
  claiming.error = undefined;
  due.push(work('a'));
  clock.advance(1000);
  await settle();
  await end('a', new Error('no'));
  due.push(work('a'));
  clock.advance(1000);
  await settle();
  expect(errors).toEqual(['due letters not claimed, retrying', 'letters not finished, retrying later']);
  expect(started).toEqual(['a', 'a']);
});

test('A stop aborts at once, waits for what runs and what is beside it, and claims nothing more', async () => {
  let finish = () => {};
  const others: Promise<unknown>[] = [];
  others.push(
    new Promise<void>((resolve) => {
      finish = () => {
        others.pop();
        resolve();
      };
    }),
  );
  const { claims, clock, due, end, started, worker } = scene({ beside: () => others });
  due.push(work('a'));
  worker.start();
  await settle();
  let isClosed = false;
  const closed = worker.close().then(() => {
    isClosed = true;
  });
  expect(worker.signal.aborted).toBe(true);
  due.push(work('b'));
  worker.wake();
  worker.start();
  clock.advance(5000);
  await end('a');
  expect(isClosed).toBe(false);
  finish();
  await closed;
  expect([started, claims.length, clock.pendingTimers()]).toEqual([['a'], 1, 0]);
});

test('A stop with time to finish is over once nothing is due', async () => {
  const { claims, clock, worker } = scene({ finishMs: 3000 });
  await worker.close();
  expect([claims.length, worker.signal.aborted, clock.pendingTimers()]).toEqual([1, true, 0]);
});

test('A stop with time to finish does what is due, and aborts the rest when the time is over', async () => {
  const { clock, due, end, started, worker } = scene({ finishMs: 3000 });
  due.push(work('a'), work('b'));
  const closed = worker.close();
  await settle();
  expect([started, worker.signal.aborted]).toEqual([['a', 'b'], false]);
  await end('a');
  clock.advance(2999);
  expect(worker.signal.aborted).toBe(false);
  clock.advance(1);
  expect(worker.signal.aborted).toBe(true);
  await end('b');
  await closed;
  expect(clock.pendingTimers()).toBe(0);
});

/** A worker of leased work: a row is claimed when it is due, and its run ends when it is told to. */
function leasedScene(policy: Partial<WorkerDeps> = {}) {
  const clock = createSimulatedClock(START_MS);
  const dueAt = new Map<string, number | null>();
  const claimed = new Set<string>();
  const runs = new Map<
    string,
    { end: (again?: Again) => void; fail: (error: Error) => void; signal: AbortSignal }
  >();
  const errors: string[] = [];
  const rows: { -readonly [Name in keyof LeasedWork]: LeasedWork[Name] } = {
    async claimDue(now, _until, { rows: most }) {
      const due = [...dueAt].filter(([id, at]) => at !== null && at <= now.getTime() && !claimed.has(id));
      const taken = due.slice(0, most).map(([id]) => work(id));
      for (const { id } of taken) claimed.add(id);
      const later = [...dueAt.values()].filter((at) => at !== null && at > now.getTime()) as number[];
      return { claimed: taken, nextDueAt: later.length > 0 ? new Date(Math.min(...later)) : null };
    },
    renew: async (ids) => new Set(ids.filter((id) => claimed.has(id))),
    async settle(id, nextAt) {
      claimed.delete(id);
      dueAt.set(id, nextAt?.getTime() ?? null);
    },
  };
  const worker = new Worker({
    name: 'letters',
    rows,
    run: ({ id }, signal) =>
      new Promise((resolve, reject) => runs.set(id, { end: resolve, fail: reject, signal })),
    maxRunning: 8,
    ...policy,
    clock,
    onError: (_error, what) => errors.push(what),
  });
  return { clock, dueAt, claimed, rows, runs, errors, worker };
}

test('Leased work that ends is settled: it is due again after its delay, or never', async () => {
  const { clock, dueAt, runs, worker } = leasedScene();
  dueAt.set('a', START_MS).set('b', START_MS);
  worker.start();
  await settle();
  runs.get('a')?.end({ afterMs: 5_000 });
  runs.get('b')?.end();
  await settle();
  expect([...dueAt]).toEqual([
    ['a', START_MS + 5_000],
    ['b', null],
  ]);
  runs.clear();
  clock.advance(5_000);
  await settle();
  expect([...runs.keys()]).toEqual(['a']);
});

test('Leased work that goes on at once is announced once it is settled, for any node to claim', async () => {
  const announced: (number | null | undefined)[] = [];
  const { dueAt, runs, worker } = leasedScene({
    announce: async (id) => void announced.push(dueAt.get(id)),
  });
  dueAt.set('a', START_MS);
  worker.start();
  await settle();
  runs.get('a')?.end({ afterMs: 0 });
  runs.clear();
  await settle();
  expect([announced, runs.size]).toEqual([[START_MS], 0]);
  worker.wake(1);
  await settle();
  expect([...runs.keys()]).toEqual(['a']);
});

test('Work that was announced, and that no node has claimed, goes on at its own node', async () => {
  const { clock, dueAt, runs, worker } = leasedScene({ announce: async () => {} });
  dueAt.set('a', START_MS);
  worker.start();
  await settle();
  runs.get('a')?.end({ afterMs: 0 });
  runs.clear();
  await settle();
  clock.advance(250);
  await settle();
  expect([...runs.keys()]).toEqual(['a']);
});

test('Leased work that is claimed anew before its end is known to be stored goes on', async () => {
  let isStored = () => {};
  const { dueAt, rows, runs, worker } = leasedScene();
  const { settle: store } = rows;
  rows.settle = async (...given) => {
    await store(...given);
    await new Promise<void>((resolve) => {
      isStored = resolve;
    });
  };
  dueAt.set('a', START_MS);
  worker.start();
  await settle();
  runs.get('a')?.end({ afterMs: 0 });
  runs.clear();
  await settle();
  worker.wake();
  await settle();
  isStored();
  await settle();
  expect([...runs.keys()]).toEqual(['a']);
});

test('Work that is due before the next poll starts at its time, whoever stored it', async () => {
  const { clock, dueAt, runs, worker } = leasedScene();
  dueAt
    .set('settled', START_MS)
    .set('soon', START_MS + 300)
    .set('together', START_MS + 310);
  worker.start();
  await settle();
  runs.get('settled')?.end({ afterMs: 700 });
  await settle();
  const startedAtMs = new Map<string, number>();
  runs.clear();
  for (let ms = 0; ms < 800; ms += 5) {
    clock.advance(5);
    await settle();
    for (const id of runs.keys()) if (!startedAtMs.has(id)) startedAtMs.set(id, clock.now() - START_MS);
  }
  expect([...startedAtMs]).toEqual([
    ['soon', 300],
    ['together', 350],
    ['settled', 700],
  ]);
});

test('Leased work that fails is repeated, later after each failure in a row', async () => {
  const { clock, dueAt, errors, runs, worker } = leasedScene();
  dueAt.set('a', START_MS);
  worker.start();
  const delaysMs: number[] = [];
  for (let failure = 0; failure < 7; failure += 1) {
    await settle();
    runs.get('a')?.fail(new Error('no'));
    await settle();
    delaysMs.push((dueAt.get('a') ?? 0) - clock.now());
    for (let second = 0; second < 61; second += 1) {
      clock.advance(1_000);
      await settle();
    }
  }
  expect(delaysMs).toEqual([2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);
  expect(new Set(errors)).toEqual(new Set(['letters not finished, retrying later']));
});

test('Leased work whose claim another node has is aborted, and not settled', async () => {
  const { claimed, clock, dueAt, runs, worker } = leasedScene();
  dueAt.set('kept', START_MS).set('lost', START_MS);
  worker.start();
  await settle();
  claimed.delete('lost');
  dueAt.set('lost', START_MS + 60_000);
  clock.advance(CLAIM_LEASE_MS / 3);
  await settle();
  expect([runs.get('kept')?.signal.aborted, runs.get('lost')?.signal.aborted]).toEqual([false, true]);
  runs.get('lost')?.end();
  await settle();
  expect(dueAt.get('lost')).toBe(START_MS + 60_000);
});

test('A stop gives leased work back at once, also what was being claimed', async () => {
  const { claimed, clock, dueAt, runs, worker } = leasedScene();
  dueAt.set('running', START_MS);
  worker.start();
  await settle();
  dueAt.set('claimed', START_MS);
  worker.wake();
  const closed = worker.close();
  runs.get('running')?.fail(new Error('stopped'));
  await closed;
  expect([claimed.size, [...dueAt.values()], clock.pendingTimers()]).toEqual([0, [START_MS, START_MS], 0]);
  expect([...runs.keys()]).toEqual(['running']);
});

test('A project gets at most half of what is free, so that another one always finds room', async () => {
  const left = new Map([...'abcd'].map((projectId) => [projectId, 40]));
  let claiming = '';
  const { worker } = leasedScene({
    maxRunning: 40,
    rows: {
      async claimDue(_now, _until, { rows, perProject, leftByProject }) {
        const most = Math.min(rows, leftByProject.get(claiming) ?? perProject);
        const before = left.get(claiming) ?? 0;
        left.set(claiming, before - most);
        const claimed = Array.from({ length: most }, (_, n) => work(`${claiming}${before - n}`, claiming));
        return { claimed, nextDueAt: null };
      },
      renew: async (ids) => new Set(ids),
      settle: async () => undefined,
    },
  });
  for (claiming of 'abcda') {
    worker.wake();
    await settle();
  }
  expect([...left.values()].map((rest) => 40 - rest)).toEqual([20, 10, 5, 3]);
});

test('A wake for one row claims one row, a poll all', async () => {
  const { clock, dueAt, runs, worker } = leasedScene({ maxPerProject: 8 });
  for (const id of 'abcdef') dueAt.set(id, START_MS + 1);
  worker.start();
  await settle();
  clock.advance(1);
  worker.wake(1);
  await settle();
  expect(runs.size).toBe(1);
  worker.wake(1);
  worker.wake(1);
  await settle();
  expect(runs.size).toBe(3);
  clock.advance(1_000);
  await settle();
  expect(runs.size).toBe(6);
});

test('A kind that has less room than its limit claims no more than that', async () => {
  let room = 0;
  const { dueAt, runs, worker } = leasedScene({ room: () => room });
  for (const id of ['a', 'b', 'c']) dueAt.set(id, START_MS);
  worker.wake();
  await settle();
  expect(runs.size).toBe(0);
  room = 1;
  worker.wake();
  room = 0;
  await settle();
  expect(runs.size).toBe(1);
});
