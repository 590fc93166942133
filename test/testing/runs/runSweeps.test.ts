import { expect, test } from 'vitest';
import { sweepRuns } from '../../../src/testing/runs/runSweeps.ts';
import type { TestJobs } from '../../../src/testing/runs/testRunStore.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';

test('A sweep queues the jobs of unfinished runs again, and ends runs whose plays have ended', async () => {
  const calls: TestJobs = { runId: 'calls', projectId: 'p', concurrency: 2, channels: ['phone'] };
  const over: TestJobs = { runId: 'over', projectId: 'p', concurrency: 1, channels: ['chat', 'phone'] };
  const queued: TestJobs[] = [];
  const ended: unknown[] = [];

  await sweepRuns({
    testRuns: {
      unfinished: async () => [calls, over],
      finish: async (runId) => (runId === 'over' ? 'passed' : undefined),
    },
    queue: { add: async (jobs) => void queued.push(jobs) },
    clock: createSimulatedClock(),
    onEnded: (...end) => void ended.push(end),
    onError: () => undefined,
  });

  expect(queued).toEqual([calls]);
  expect(ended).toEqual([['over', 'p', 'passed']]);
});
