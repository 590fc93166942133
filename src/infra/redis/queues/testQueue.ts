import { z } from 'zod';
import type { Lane } from '../../../testing/runs/runLane.ts';
import type { TestQueue } from '../../../testing/runs/testRunStore.ts';
import type { JobQueues, JobRetry, QueueDefinition } from './jobQueues.ts';

const payload = z.object({
  runId: z.string(),
  lane: z.string(),
  channel: z.enum(['chat', 'phone', 'web']),
});

/** One job for each lane of a run. */
const KIND: QueueDefinition<Lane> = {
  name: 'test-runs',
  schema: payload,
  // The run's rows keep the outcome. A failed job is added again by the sweep as long as its run has not ended.
  options: { attempts: 1, removeOnComplete: true, removeOnFail: true },
};

export function redisTestQueue(jobs: JobQueues): TestQueue {
  const queue = jobs.queue(KIND);
  return {
    async add({ runId, concurrency, channels }) {
      for (const channel of channels) {
        for (let number = 0; number < concurrency; number += 1) {
          const lane = `${channel}-${number}`;
          await queue.add(`${runId}-${lane}`, { runId, lane, channel });
        }
      }
    },
  };
}

/** @param work - Returns when the lane goes on, at the end of the queue; undefined where it is done. */
export function startTestWorker(
  jobs: JobQueues,
  work: (lane: Lane, signal: AbortSignal) => Promise<Pick<JobRetry, 'afterMs'> | undefined>,
  concurrency: number,
): void {
  jobs.work(
    KIND,
    async (lane, { signal }) => {
      const next = await work(lane, signal);
      return next && { again: true, ...next };
    },
    concurrency,
  );
}
