import { z } from 'zod';
import type { TestJob } from '../../../testing/runs/runTestJob.ts';
import type { TestQueue } from '../../../testing/runs/testRunStore.ts';
import type { JobQueues, JobRetry, JobWorker, QueueDefinition } from './jobQueues.ts';

const payload = z.object({
  runId: z.string(),
  projectId: z.string(),
  lane: z.string(),
  channel: z.enum(['chat', 'phone', 'web']),
});

type PlayedChannel = 'chat' | 'phone';

/** The queues of test jobs; calls wait for nodes that can place them. */
const QUEUES = { chat: 'test-runs', phone: 'test-calls' } as const;

const kindOf = (channel: PlayedChannel): QueueDefinition<TestJob> => ({
  name: QUEUES[channel],
  schema: payload,
  // The run's rows keep the outcome. A failed job is added again by the sweep as long as its run has not ended.
  options: { attempts: 1, removeOnComplete: true, removeOnFail: true },
});

export function redisTestQueue(jobs: JobQueues): TestQueue {
  const queues = { chat: jobs.queue(kindOf('chat')), phone: jobs.queue(kindOf('phone')) };
  return {
    async add({ runId, projectId, concurrency, channels }) {
      for (const channel of channels) {
        for (let number = 0; number < concurrency; number += 1) {
          const lane = `${channel}-${number}`;
          await queues[channel === 'phone' ? 'phone' : 'chat'].add(`${runId}-${lane}`, {
            runId,
            projectId,
            lane,
            channel,
          });
        }
      }
    },
  };
}

/** @param work - Returns when the job goes on, at the end of the queue; undefined when it is done. */
export function startTestWorker(
  jobs: JobQueues,
  channel: PlayedChannel,
  work: (job: TestJob, signal: AbortSignal) => Promise<Pick<JobRetry, 'afterMs'> | undefined>,
  concurrency: number,
): JobWorker {
  return jobs.work(
    kindOf(channel),
    async (job, { signal }) => {
      const next = await work(job, signal);
      return next && { again: true, ...next };
    },
    concurrency,
  );
}
