import { z } from 'zod';

import type { IngestionQueue } from '../../../knowledge/intake/documents.ts';
import type { JobHandler, JobQueues, QueueDefinition } from './jobQueues.ts';

const payload = z.object({ datasetId: z.string(), projectId: z.string() });
export type IngestionPayload = z.infer<typeof payload>;

/** The attempts while the database is unavailable. After them the sweep queues the dataset again. */
const ATTEMPTS = 8;
const FIRST_DELAY_MS = 2_000;

const KIND: QueueDefinition<IngestionPayload> = {
  name: 'ingestion',
  schema: payload,
  options: {
    attempts: ATTEMPTS,
    backoff: { type: 'exponential', delay: FIRST_DELAY_MS },
    // The dataset's row keeps the outcome.
    removeOnComplete: true,
    removeOnFail: true,
  },
};

/** Queues one job for each dataset; the job id is the dataset id. */
export function ingestionQueue(jobs: JobQueues): IngestionQueue {
  const queue = jobs.queue(KIND);
  return {
    add: (datasetId, projectId) => queue.add(datasetId, { datasetId, projectId }),
    remove: (datasetId) => queue.remove(datasetId),
  };
}

export function startIngestionWorker(
  jobs: JobQueues,
  handler: JobHandler<IngestionPayload>,
  concurrency: number,
): void {
  jobs.work(KIND, handler, concurrency);
}
