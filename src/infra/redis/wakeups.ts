import { Queue, Worker } from 'bullmq';

import { createRedisClient, orUnavailable } from './connection/connection.ts';

/** Tells one of the nodes that run a kind of work of each row that is due. What is lost here is found by their polls. */
export interface Wakeups {
  /**
   * Wakes a node for a row, once while none has been woken for it.
   *
   * @throws {CallwayError} `redis_unavailable`
   */
  announce(kind: string, workId: string): Promise<void>;
  /** Calls the listener for the rows that this node is to claim. */
  listen(kind: string, onDue: () => void): void;
  /** Idempotent. */
  close(): Promise<void>;
}

export interface WakeupsDeps {
  /** The value of `REDIS_URL`. */
  readonly url: string;
  readonly onError: (error: Error, kind: string) => void;
}

/** Announces rows as BullMQ jobs, each of which one worker takes. */
export function openWakeups({ url, onError }: WakeupsDeps): Wakeups {
  const closers: (() => Promise<void>)[] = [];
  const queues = new Map<string, Queue>();
  const optionsOf = (kind: string, use: 'command' | 'wait') => {
    const connection = createRedisClient(url, use);
    connection.on('error', (error: Error) => onError(error, kind));
    closers.push(async () => connection.disconnect());
    // A hash tag puts all keys of a queue into one slot; BullMQ needs that on Redis Cluster.
    return { connection, prefix: `{callway:${kind}}`, skipVersionCheck: true };
  };
  const queueOf = (kind: string) => {
    const queue = new Queue(kind, {
      ...optionsOf(kind, 'command'),
      defaultJobOptions: { attempts: 1, removeOnComplete: true, removeOnFail: true },
    });
    queue.on('error', (error) => onError(error, kind));
    queues.set(kind, queue);
    closers.push(() => queue.close());
    return queue;
  };
  return {
    async announce(kind, workId) {
      await orUnavailable((queues.get(kind) ?? queueOf(kind)).add(kind, {}, { jobId: workId }));
    },
    listen(kind, onDue) {
      const worker = new Worker(kind, async () => onDue(), optionsOf(kind, 'wait'));
      worker.on('error', (error) => onError(error, kind));
      // Forced: an ordinary close waits forever for a connection that is waiting to reconnect.
      closers.push(() => worker.close(true));
    },
    async close() {
      for (const close of closers.splice(0).reverse()) await close();
    },
  };
}
