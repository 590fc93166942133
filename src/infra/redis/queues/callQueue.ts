import { z } from 'zod';

import type { CallQueue } from '../../../calls/setup/callQueue.ts';
import type { JobQueues, QueueDefinition } from './jobQueues.ts';

const payload = z.object({ callId: z.string(), projectId: z.string() });

const KIND: QueueDefinition<z.infer<typeof payload>> = {
  name: 'calls',
  schema: payload,
  // The call's row keeps the outcome. A failed job is added again by the sweeper as long as its call is queued.
  options: { attempts: 1, removeOnComplete: true, removeOnFail: true },
};

/** Queues one job for each call; the job id is the call id. */
export function redisCallQueue(jobs: JobQueues): CallQueue {
  const queue = jobs.queue(KIND);
  return {
    add: (callId, projectId) => queue.add(callId, { callId, projectId }),
    remove: (callId) => queue.remove(callId),
    async process(work, concurrency) {
      return jobs.work(
        KIND,
        async ({ callId }) => {
          const result = await work(callId);
          return 'again' in result ? result : undefined;
        },
        concurrency,
      );
    },
  };
}
