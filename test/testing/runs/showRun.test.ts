import { describe, expect, test } from 'vitest';
import { caseStatusOf, percentile, showRun, wilson } from '../../../src/testing/runs/showRun.ts';
import type { PlayStatus } from '../../../src/testing/runs/testRun.ts';
import type { RunDetail } from '../../../src/testing/runs/testRunStore.ts';

const CASE_IDS = ['a', 'b', 'c'];

function detail(plays: readonly (readonly [status: PlayStatus, latencyMs: number])[][]): RunDetail {
  return {
    run: {
      id: 'run',
      projectId: 'project',
      testSuiteId: null,
      baselineRunId: null,
      name: 'run',
      status: 'failed',
      version: 'live',
      release: null,
      mode: null,
      model: null,
      repeat: 2,
      concurrency: 4,
      seed: 1,
      releaseId: 'release',
      replaysSessionId: null,
      createdAt: '2026-01-01T00:00:00.000Z',
      startedAt: '2026-01-01T00:00:01.000Z',
      endedAt: '2026-01-01T00:00:02.000Z',
    },
    cases: plays.map((_, at) => ({ testCaseId: CASE_IDS[at] ?? null, name: 'case' })),
    plays: plays.flatMap((ofCase, position) =>
      ofCase.map(([status, latencyMs], index) => ({
        position,
        index,
        seed: 1,
        status,
        result: { verdicts: [], latenciesMs: [latencyMs], transcript: [] },
      })),
    ),
  };
}

test.each([
  [0, 2, { value: 0, low: 0, high: 0.6576 }],
  [1, 1, { value: 1, low: 0.2065, high: 1 }],
  [10, 20, { value: 0.5, low: 0.2993, high: 0.7007 }],
])('The pass rate of %i in %i has a Wilson interval', (passed, total, expected) => {
  expect(wilson(passed, total)).toEqual(expected);
});

test.each([
  [[], 0.5, null],
  [[7], 0.95, 7],
  [[4, 1, 3, 2], 0.5, 2],
  [[4, 1, 3, 2], 0.95, 4],
])('Of %j the percentile %d is %j', (values, share, expected) => {
  expect(percentile(values, share)).toBe(expected);
});

test.each<[PlayStatus[], string]>([
  [['queued', 'queued'], 'queued'],
  [['passed', 'queued'], 'running'],
  [['failed', 'running'], 'running'],
  [['passed', 'passed'], 'passed'],
  [['failed', 'failed'], 'failed'],
  [['passed', 'failed'], 'flaky'],
  [['passed', 'error'], 'error'],
  [['passed', 'canceled'], 'canceled'],
])('A case whose plays are %j is %s', (statuses, expected) => {
  expect(caseStatusOf(statuses)).toBe(expected);
});

describe('A run', () => {
  test('shows what fails, passes and is slower than in its baseline', () => {
    const before = detail([
      [
        ['passed', 100],
        ['passed', 100],
      ],
      [['failed', 100]],
      [['passed', 100]],
    ]);
    const after = detail([
      [
        ['passed', 100],
        ['failed', 120],
      ],
      [['passed', 140]],
      [['passed', 180]],
    ]);

    expect(showRun(after, { baseline: before })).toMatchObject({
      summary: { passed: 2, failed: 0, flaky: 1, errors: 0 },
      comparison: { newlyFailing: ['a'], newlyPassing: ['b'], slower: ['c'] },
    });
  });

  test('is not compared before its end', () => {
    const { run, ...rest } = detail([[['queued', 1]]]);

    const unfinished = { run: { ...run, endedAt: null }, ...rest };
    expect(showRun(unfinished, { baseline: detail([]) }).comparison).toBeUndefined();
  });
});
