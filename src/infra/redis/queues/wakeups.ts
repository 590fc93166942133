import { z } from 'zod';

import type { JobQueues, QueueDefinition } from './jobQueues.ts';

const payload = z.object({});

const definitionOf = (kind: string): QueueDefinition<z.infer<typeof payload>> => ({
  name: kind,
  schema: payload,
  options: { attempts: 1, removeOnComplete: true, removeOnFail: true },
});

/**
 * Returns how one of the nodes that run this kind of work is told of due work. What is lost here is found by their polls.
 *
 * @throws {CallwayError} `redis_unavailable`
 */
export function announceOver(jobs: JobQueues, kind: string): (workId: string) => Promise<void> {
  const queue = jobs.queue(definitionOf(kind));
  return (workId) => queue.add(workId, {});
}

/** Calls the listener when this node is to claim work. */
export function listenOver(jobs: JobQueues, kind: string, onDue: () => void): void {
  const handler = async () => {
    onDue();
    return undefined;
  };
  jobs.work(definitionOf(kind), handler, 1);
}
