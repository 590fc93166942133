import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

import type { Installation } from './installation.ts';

/** How long events took, in ms. */
export interface EventTimes {
  /** From happening, by the event's own time, to the client of the project's stream. */
  readonly streamedMs: readonly number[];
  /** From a publish to the subscriber of a plain Redis, in the client's thread; empty without a Redis of its own. */
  readonly plainMs: readonly number[];
}

/** Follows the events of the installation's project, beside messages of its Redis alone. */
export async function watchEvents({ project, redisUrl }: Installation) {
  const headers = { authorization: `Bearer ${project.key}` };
  const thread = new Worker(new URL('eventsThread.mjs', import.meta.url), {
    workerData: { url: `${project.baseUrl}/events`, headers, redisUrl },
  });
  await once(thread, 'message');
  return {
    /** What came since the last reading. */
    async read(): Promise<EventTimes> {
      thread.postMessage('read');
      const [times] = (await once(thread, 'message')) as [EventTimes];
      return times;
    },
    close: () => thread.terminate(),
  };
}
