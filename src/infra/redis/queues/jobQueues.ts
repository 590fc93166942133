import { DelayedError, type Job, type JobsOptions, Queue, Worker } from 'bullmq';
import type { z } from 'zod';

import { createRedisClient, orUnavailable } from '../connection/connection.ts';

/** A job's holder renews its lock twice in this time. */
const LOCK_MS = 15_000;
/** How often jobs are looked for whose locks have run out: those of holders that died go to others. */
const STALLED_MS = 5_000;
/** One of a job's holders after the other may die so often before it is given up. */
const MAX_STALLED_COUNT = 5;
/** How soon a job goes to another node when this one stops. */
const HAND_OVER_MS = 100;

/** What a queue is: its name, and what its jobs carry. */
export interface QueueDefinition<Data> {
  readonly name: string;
  readonly schema: z.ZodType<Data>;
  readonly options: JobsOptions;
}

/** Puts jobs into a queue. */
export interface JobQueue<Data> {
  /**
   * @param id - A job of the same id that waits or runs already is left as it is, and nothing is added.
   * @throws {CallwayError} `redis_unavailable`
   */
  add(id: string, data: Data): Promise<void>;
  /** One that runs is left to end. @throws {CallwayError} `redis_unavailable` */
  remove(id: string): Promise<void>;
}

export interface JobContext {
  /** Aborted when this node stops; the job then goes to another. */
  readonly signal: AbortSignal;
  /** Whether a failure now would be the last. */
  readonly isLastAttempt: boolean;
}

/** A job that could not be done yet waits, and then goes to any node; nothing else makes a job wait. */
export interface JobRetry {
  readonly again: true;
  readonly afterMs: number;
}

export type JobHandler<Data> = (data: Data, context: JobContext) => Promise<JobRetry | undefined>;

export interface JobWorker {
  /** Takes no more jobs; those begun go on. */
  pause(): Promise<void>;
  /** Takes no more jobs, and waits for those begun. Idempotent. */
  close(): Promise<void>;
}

/** BullMQ over the Redis of the settings: its queues, its workers, and their end. */
export interface JobQueues {
  queue<Data>(kind: QueueDefinition<Data>): JobQueue<Data>;
  /** Takes jobs at once, so many at a time. A handler that throws has its job tried again as the kind's options say. */
  work<Data>(kind: QueueDefinition<Data>, handler: JobHandler<Data>, concurrency: number): JobWorker;
  /** Jobs of each queue that was asked for, as they stand. @throws {CallwayError} `redis_unavailable` */
  depths(): Promise<ReadonlyMap<string, QueueDepth>>;
  /** Workers end first, and hand over what they were at; then the queues, then the connections. Idempotent. */
  close(): Promise<void>;
}

/** Jobs by what they do: wait for a node, wait for their time, or run. */
export interface QueueDepth {
  readonly waiting: number;
  readonly delayed: number;
  readonly active: number;
}

export interface JobQueuesDeps {
  /** As `REDIS_URL` has it. */
  readonly url: string;
  readonly onError: (error: Error, queue: string) => void;
}

export function openJobQueues(deps: JobQueuesDeps): JobQueues {
  const stopping = new AbortController();
  const closers: (() => Promise<void>)[] = [];
  const connect = (use: 'command' | 'wait') => {
    const client = createRedisClient(deps.url, use);
    client.on('error', (error: Error) => deps.onError(error, 'connection'));
    closers.push(async () => client.disconnect());
    return client;
  };
  const queues = new Map<string, Queue>();
  let closing: Promise<void> | undefined;

  return {
    async depths() {
      const depths = [...queues].map(async ([name, queue]) => [name, await depthOf(queue)] as const);
      return new Map(await orUnavailable(Promise.all(depths)));
    },
    queue(kind) {
      const queue = new Queue(kind.name, {
        connection: connect('command'),
        prefix: prefixOf(kind.name),
        defaultJobOptions: kind.options,
        skipVersionCheck: true,
      });
      queue.on('error', (error) => deps.onError(error, kind.name));
      queues.set(kind.name, queue);
      closers.push(() => queue.close());
      return {
        async add(id, data) {
          await orUnavailable(queue.add(kind.name, data as object, { jobId: id }));
        },
        async remove(id) {
          await orUnavailable(queue.remove(id));
        },
      };
    },
    work(kind, handler, concurrency) {
      let paused = false;
      const worker = new Worker(
        kind.name,
        // A worker that pauses may have asked for its next job already.
        (job: Job, token) =>
          paused
            ? putOff(job, token, HAND_OVER_MS)
            : runJob(job, token, kind.schema, handler, stopping.signal),
        {
          connection: connect('wait'),
          prefix: prefixOf(kind.name),
          concurrency,
          lockDuration: LOCK_MS,
          stalledInterval: STALLED_MS,
          maxStalledCount: MAX_STALLED_COUNT,
          skipVersionCheck: true,
        },
      );
      worker.on('error', (error) => deps.onError(error, kind.name));
      closers.push(() => worker.close());
      return {
        async pause() {
          paused = true;
          await worker.pause(true);
        },
        close: () => worker.close(),
      };
    },
    close() {
      stopping.abort(new Error('the service is stopping'));
      closing ??= closeInOrder(closers);
      return closing;
    },
  };
}

async function depthOf(queue: Queue): Promise<QueueDepth> {
  const { waiting = 0, delayed = 0, active = 0 } = await queue.getJobCounts('waiting', 'delayed', 'active');
  return { waiting, delayed, active };
}

/** All keys of a queue in one hash slot, as BullMQ's scripts need it on Redis Cluster. */
function prefixOf(name: string): string {
  return `{callway:${name}}`;
}

async function runJob<Data>(
  job: Job,
  token: string | undefined,
  schema: z.ZodType<Data>,
  handler: JobHandler<Data>,
  signal: AbortSignal,
): Promise<void> {
  const isLastAttempt = job.attemptsMade + 1 >= (job.opts.attempts ?? 1);
  const outcome = await handler(schema.parse(job.data), { signal, isLastAttempt }).catch((error: unknown) => {
    if (!signal.aborted) throw error;
    return putOff(job, token, HAND_OVER_MS);
  });
  if (outcome) await putOff(job, token, outcome.afterMs);
}

/** BullMQ wants to be told by an error that the job has been moved. */
async function putOff(job: Job, token: string | undefined, byMs: number): Promise<never> {
  await job.moveToDelayed(Date.now() + byMs, token);
  throw new DelayedError();
}

async function closeInOrder(closers: readonly (() => Promise<void>)[]): Promise<void> {
  for (const close of [...closers].reverse()) await close();
}
