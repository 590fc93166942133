import { describe, expect, test } from 'vitest';
import { remark } from '../../../src/testing/assertions/remark.ts';
import type { Played } from '../../../src/testing/play/runPlay.ts';
import { runTestLane, type TestLaneDeps } from '../../../src/testing/runs/runTestLane.ts';
import type { ClaimedPlay, PlayResult, TestRunStore } from '../../../src/testing/runs/testRunStore.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';

const WORK = { id: 'lane', projectId: 'p' };
const PLAYED: Played = {
  observation: {
    exchanges: Array.from({ length: 100 }, (_, turn) => ({
      turn,
      caller: 'x'.repeat(5000),
      agent: 'y'.repeat(5000),
      nodes: [],
      tools: [],
      digits: [],
      transfers: [],
    })),
    variables: {},
    endedBy: 'caller',
  },
  verdicts: [{ type: 'contains', passed: true, seen: 'x'.repeat(50_000) }],
  session: undefined,
};

function job(plays: number, play: TestLaneDeps['play'], claim: { attempt?: number; isFull?: boolean } = {}) {
  const clock = createSimulatedClock();
  const saved: { status: string; result: PlayResult }[] = [];
  const events: string[] = [];
  let left = plays;
  const state = { isCanceled: false };
  const refuse = () => Promise.reject(new Error('not expected'));
  const testRuns: TestRunStore = {
    casesOf: refuse,
    insert: refuse,
    trim: refuse,
    find: refuse,
    list: refuse,
    cancel: refuse,
    saveSession: refuse,
    findLane: async (id) => ({ id, runId: 'run', channel: 'chat' }),
    removeLane: async () => void events.push('removed'),
    async claim() {
      if (claim.isFull) return 'wait';
      left -= 1;
      return left < 0 ? undefined : claimed(claim.attempt ?? 1);
    },
    async saveResult(_play, status, result) {
      saved.push({ status, result });
      return true;
    },
    async release() {
      events.push('released');
    },
    finish: async () => (left === 0 ? 'passed' : undefined),
    isCanceled: async () => state.isCanceled,
  };
  const stopping = new AbortController();
  const deps: TestLaneDeps = {
    testRuns,
    releases: { find: async () => ({}) as never },
    play,
    clock,
    makeId: () => 'id',
    onEnded: (_run, _project, status) => void events.push(`ended ${status}`),
    onError: (_error, what) => void events.push(what),
  };
  return { clock, saved, events, state, stopping, run: () => runTestLane(deps, WORK, stopping.signal) };
}

function claimed(attempt: number): ClaimedPlay {
  const definition = { answers: undefined };
  const run = { id: 'run', projectId: 'p', releaseId: 'r', version: 'live' };
  return { run, number: 0, seed: 1, attempt, definition } as unknown as ClaimedPlay;
}

/** Goes on until the signal is aborted. */
const endless: TestLaneDeps['play'] = (_wanted, signal) =>
  new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });

describe('A test lane', () => {
  test('plays what is left, and ends the run', async () => {
    const { run, saved, events } = job(3, async () => PLAYED);

    expect(await run()).toBeUndefined();
    expect(saved.map(({ status }) => status)).toEqual(['passed', 'passed', 'passed']);
    expect(events).toEqual(['ended passed', 'removed']);
  });

  test('goes to the end of the queue after a second, and waits while its project plays enough', async () => {
    const busy = job(9, async () => {
      busy.clock.advance(600);
      return PLAYED;
    });

    expect(await busy.run()).toEqual({ afterMs: 0 });
    expect(busy.saved).toHaveLength(2);
    expect(await job(1, async () => PLAYED, { isFull: true }).run()).toEqual({ afterMs: 500 });
  });

  test('cuts what was seen, and keeps what was said in a play that did not pass', async () => {
    const verdicts = [{ type: 'contains', passed: false, seen: 'x'.repeat(50_000) }] as const;
    let plays = 0;
    const { run, saved } = job(2, async () => (plays++ === 0 ? PLAYED : { ...PLAYED, verdicts }));

    await run();

    const [passed, failed] = saved.map(({ result }) => result);
    expect(String(passed?.verdicts[0]?.seen)).toHaveLength(1000);
    expect(passed?.transcript).toEqual([]);
    expect(failed?.transcript).toHaveLength(100);
    expect(JSON.stringify(failed?.transcript).length).toBeLessThan(50_000);
  });

  test('gives its play back when the node stops', async () => {
    const { run, saved, events, stopping } = job(1, endless);
    const running = run();
    await new Promise(setImmediate);

    stopping.abort(new Error('the service is stopping'));

    await running.catch(() => undefined);
    expect(saved).toEqual([]);
    expect(events[0]).toBe('released');
  });

  test.each([
    ['the run is canceled', 1_000, remark('canceled')],
    ['it takes too long', 600_000, remark('timeout', '10')],
  ])('stops a play when %s', async (_why, afterMs, error) => {
    const { run, saved, clock, state } = job(1, endless);
    state.isCanceled = afterMs === 1_000;
    const running = run();
    await new Promise(setImmediate);

    clock.advance(afterMs);

    await running;
    expect(saved).toMatchObject([{ status: 'error', result: { error } }]);
  });

  test('gives up a play whose nodes have failed three times', async () => {
    const { run, saved } = job(1, () => Promise.reject(new Error('not played')), { attempt: 4 });

    await run();

    expect(saved).toMatchObject([
      { status: 'error', result: { error: expect.stringContaining('node failed') } },
    ]);
  });

  test('keeps what failed to itself', async () => {
    const { run, saved, events } = job(1, () => Promise.reject(new Error('password=1')));

    await run();

    expect(saved).toMatchObject([{ status: 'error', result: { error: remark('internal_error') } }]);
    expect(events).toContain('test case not played');
  });
});
