import { DelayedError, type Job, type JobsOptions, Queue, Worker } from 'bullmq';
import type { z } from 'zod';

import { createRedisClient, orUnavailable } from '../connection/connection.ts';

/**
 * A job whose lock is not renewed for this long is given to another worker. Workers look for such jobs three times in
 * it.
 */
const LOCK_MS = 15_000;
/** A job fails for good after its worker has died this many times. */
const MAX_STALLED_COUNT = 5;
/** The delay until a job is available to other nodes when this one stops. */
const RELEASE_DELAY_MS = 100;

/** A queue's name and the schema of its jobs. */
export interface QueueDefinition<Data> {
  readonly name: string;
  readonly schema: z.ZodType<Data>;
  readonly options: JobsOptions;
}

interface JobQueue<Data> {
  /**
   * Does nothing when a job with this id is waiting or running.
   *
   * @throws {CallwayError} `redis_unavailable`
   */
  add(id: string, data: Data): Promise<void>;
  /** Does not stop a running job. @throws {CallwayError} `redis_unavailable` */
  remove(id: string): Promise<void>;
}

interface JobContext {
  /** Aborted when this node stops; the job then goes to another node. */
  readonly signal: AbortSignal;
}

/** Puts the job back into the queue; any node may take it after the delay. */
interface JobRetry {
  readonly again: true;
  readonly afterMs: number;
}

type JobHandler<Data> = (data: Data, context: JobContext) => Promise<JobRetry | undefined>;

interface JobWorker {
  /** Takes no new jobs. Running jobs continue. */
  pause(): Promise<void>;
  /** Takes no new jobs and waits for the running ones. Idempotent. */
  close(): Promise<void>;
}

/** The BullMQ queues and workers of this process. */
export interface JobQueues {
  queue<Data>(kind: QueueDefinition<Data>): JobQueue<Data>;
  /**
   * Starts a worker with `concurrency` jobs at a time. A job whose handler throws is retried as the definition's
   * options say.
   */
  work<Data>(kind: QueueDefinition<Data>, handler: JobHandler<Data>, concurrency: number): JobWorker;
  /** Current number of jobs in each queue that this process has opened. @throws {CallwayError} `redis_unavailable` */
  depths(): Promise<ReadonlyMap<string, QueueDepth>>;
  /** Closes the workers, which hand over their jobs; then the queues; then the connections. Idempotent. */
  close(): Promise<void>;
}

/** Number of jobs by state: ready for a worker, scheduled for later, running. */
interface QueueDepth {
  readonly waiting: number;
  readonly delayed: number;
  readonly active: number;
}

export interface JobQueuesDeps {
  /** The value of `REDIS_URL`. */
  readonly url: string;
  /** The time of a lock. Default: 15 seconds. */
  readonly lockMs?: number;
  readonly onError: (error: Error, queue: string) => void;
}

export function openJobQueues(deps: JobQueuesDeps): JobQueues {
  const { lockMs = LOCK_MS } = deps;
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
        // A worker may have fetched its next job before it was paused.
        (job: Job, token) =>
          paused
            ? putOff(job, token, RELEASE_DELAY_MS)
            : runJob(job, token, { kind, handler, lockMs, signal: stopping.signal }),
        {
          connection: connect('wait'),
          prefix: prefixOf(kind.name),
          concurrency,
          lockDuration: lockMs,
          skipLockRenewal: true,
          stalledInterval: lockMs / 3,
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

/** A hash tag puts all keys of a queue into one slot; BullMQ needs that on Redis Cluster. */
function prefixOf(name: string): string {
  return `{callway:${name}}`;
}

interface JobRun<Data> {
  readonly kind: QueueDefinition<Data>;
  readonly handler: JobHandler<Data>;
  readonly lockMs: number;
  readonly signal: AbortSignal;
}

async function runJob<Data>(job: Job, token: string | undefined, run: JobRun<Data>): Promise<void> {
  const { kind, handler, lockMs, signal } = run;
  const data = kind.schema.parse(job.data);
  const stopRenewing = renewLock(job, token, lockMs);
  const outcome = await handler(data, { signal })
    .finally(stopRenewing)
    .catch((error: unknown) => {
      if (!signal.aborted) throw error;
      return { afterMs: RELEASE_DELAY_MS };
    });
  if (outcome) await putOff(job, token, outcome.afterMs);
}

/**
 * BullMQ's own renewal knows a worker's jobs by their ids: it forgets a job that was put off and is running again before
 * the first run has been taken off its list.
 */
function renewLock(job: Job, token: string | undefined, lockMs: number): () => void {
  if (token === undefined) return () => undefined;
  // An outage is reported by the connection, a lost lock by the job's end.
  const renew = () => void job.extendLock(token, lockMs).catch(() => undefined);
  const timer = setInterval(renew, lockMs / 3);
  return () => clearInterval(timer);
}

/** BullMQ requires this error after a job was moved. */
async function putOff(job: Job, token: string | undefined, byMs: number): Promise<never> {
  await job.moveToDelayed(Date.now() + byMs, token);
  throw new DelayedError();
}

async function closeInOrder(closers: readonly (() => Promise<void>)[]): Promise<void> {
  for (const close of [...closers].reverse()) await close();
}
