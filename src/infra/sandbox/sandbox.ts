import type { Worker } from 'node:worker_threads';
import type { PathwayChecker } from '../../agents/pathway/pathwayChecker.ts';
import type { Review, ReviewOptions } from '../../agents/pathway/review/review.ts';
import type { Pathway } from '../../agents/pathway/schema/pathwaySchema.ts';
import type { KnownNames } from '../../agents/pathway/structure.ts';
import type { PatternMatcher, SchemaChecker } from '../../agents/schemaChecker.ts';
import { processCpuMs } from '../../base/async/stopwatch.ts';
import { CallwayError, invalid, nodeDraining } from '../../base/errors.ts';
import { startThread } from '../../base/threads/thread.ts';
import type { Clock, Timer } from '../../base/values/clock.ts';
import type { CheckAnswer, CheckJob } from './checkJobs.ts';

/** Processor time. A check takes a millisecond, that of a large schema or pathway some tens. */
const TIME_LIMIT_MS = 3_000;
/** The longest wall-clock time of a check, which other programs' load lengthens. */
const MAX_PASSED_MS = 30_000;
const RECHECK_MS = 250;
/** A project whose check was stopped gets no other for this long, so that it has a tenth of one thread at most. */
const REST_MS = 10_000;
/** The number of threads. A project holds one at most, so that the others have the second. */
const MAX_THREADS = 2;
/** Checks of a project that wait. */
const MAX_WAITING = 200;
const MEMORY_LIMIT_MB = 64;
const YOUNG_MEMORY_MB = 8;

interface Waiting {
  readonly projectId: string;
  readonly job: CheckJob;
  resolve(answer: CheckAnswer): void;
  reject(error: Error): void;
}

interface CheckThread {
  readonly worker: Worker;
  isReady: boolean;
  running: { readonly check: Waiting; timer: Timer } | undefined;
}

export interface SandboxDeps {
  readonly clock: Clock;
  /** CPU time of the process with all its threads. */
  readonly cpuMs?: () => number;
}

/**
 * Runs what users write as JSON Schema and regular expressions, and checks their pathways, in threads that are stopped when a check takes too long.
 * The projects take turns.
 */
export class Sandbox implements SchemaChecker, PatternMatcher, PathwayChecker {
  readonly #clock: Clock;
  readonly #cpuMs: () => number;
  readonly #threads = new Set<CheckThread>();
  /** The waiting jobs by project. The first project is next. */
  readonly #waiting = new Map<string, Waiting[]>();
  readonly #restUntilMs = new Map<string, number>();
  #isClosed = false;

  constructor({ clock, cpuMs = processCpuMs }: SandboxDeps) {
    this.#clock = clock;
    this.#cpuMs = cpuMs;
  }

  async checkSchema(projectId: string, schema: object): Promise<string | undefined> {
    const { problem } = await this.#run(projectId, { type: 'schema', schema: JSON.stringify(schema) });
    return problem;
  }

  async checkArguments(projectId: string, schema: object, args: object): Promise<string | undefined> {
    const job = { type: 'arguments', schema: JSON.stringify(schema), args: JSON.stringify(args) } as const;
    return (await this.#run(projectId, job)).problem;
  }

  async checkPattern(projectId: string, pattern: string): Promise<string | undefined> {
    return (await this.#run(projectId, { type: 'pattern', pattern, text: '' })).problem;
  }

  async findPattern(projectId: string, pattern: string, text: string): Promise<boolean> {
    return (await this.#run(projectId, { type: 'pattern', pattern, text })).found === true;
  }

  async parsePathway(projectId: string, input: unknown, known: KnownNames): Promise<Pathway> {
    const job = { type: 'pathway', graph: jsonOf(input), known } as const;
    const { graph, refusal, problem } = await this.#run(projectId, job);
    if (graph !== undefined) return JSON.parse(graph);
    const { code, message, details } = refusal ?? {
      code: 'invalid_request',
      message: problem ?? 'The pathway cannot be checked',
      details: [],
    };
    throw invalid(code, message, details);
  }

  async reviewPathway(projectId: string, input: unknown, options: ReviewOptions): Promise<Review> {
    const job = { type: 'review', graph: jsonOf(input), options } as const;
    const { review, problem = 'the pathway cannot be reviewed' } = await this.#run(projectId, job);
    if (!review) throw invalid('invalid_request', problem);
    return review;
  }

  /** Stops all threads; checks that wait are refused. Idempotent. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#refuseWaiting(nodeDraining());
    await Promise.all([...this.#threads].map((thread) => this.#stop(thread, nodeDraining())));
  }

  #run(projectId: string, job: CheckJob): Promise<CheckAnswer> {
    return new Promise((resolve, reject) => {
      if (this.#isClosed) return reject(nodeDraining());
      const restMs = (this.#restUntilMs.get(projectId) ?? 0) - this.#clock.monotonicMs();
      const own = this.#waiting.get(projectId) ?? [];
      if (restMs > 0 || own.length >= MAX_WAITING) return reject(busy(Math.max(restMs, TIME_LIMIT_MS)));
      this.#restUntilMs.delete(projectId);
      own.push({ projectId, job, resolve, reject });
      this.#waiting.set(projectId, own);
      this.#next();
    });
  }

  /** Gives the free threads a check each of the next projects that hold no thread. */
  #next(): void {
    const holders = new Set([...this.#threads].map(({ running }) => running?.check.projectId));
    const projectId = [...this.#waiting.keys()].find((waiting) => !holders.has(waiting));
    if (projectId === undefined || this.#isClosed) return;
    const isFree = ({ running }: CheckThread) => running === undefined;
    const free = [...this.#threads].find((thread) => isFree(thread) && thread.isReady);
    if (!free) {
      if (this.#threads.size < MAX_THREADS && ![...this.#threads].some(isFree)) this.#start();
      return;
    }
    const check = this.#takeWaiting(projectId);
    if (check) this.#give(free, check);
    this.#next();
  }

  /** The project's oldest check. Its others wait until all other projects have had their turn. */
  #takeWaiting(projectId: string): Waiting | undefined {
    const [check, ...others] = this.#waiting.get(projectId) ?? [];
    this.#waiting.delete(projectId);
    if (others.length > 0) this.#waiting.set(projectId, others);
    return check;
  }

  #refuseWaiting(error: Error): void {
    for (const check of [...this.#waiting.values()].flat()) check.reject(error);
    this.#waiting.clear();
  }

  #give(thread: CheckThread, check: Waiting): void {
    const startedCpuMs = this.#cpuMs();
    const latestMs = this.#clock.monotonicMs() + MAX_PASSED_MS;
    const checkAfter = (ms: number): Timer =>
      this.#clock.setTimer(() => {
        if (this.#cpuMs() - startedCpuMs >= TIME_LIMIT_MS || this.#clock.monotonicMs() >= latestMs) {
          this.#rest(check.projectId);
          void this.#stop(thread, tooSlow());
        } else if (thread.running) thread.running.timer = checkAfter(RECHECK_MS);
      }, ms);
    thread.running = { check, timer: checkAfter(TIME_LIMIT_MS) };
    thread.worker.postMessage(check.job);
  }

  #start(): void {
    const worker = startThread(new URL('./checkThread.ts', import.meta.url), {
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: MEMORY_LIMIT_MB, maxYoungGenerationSizeMb: YOUNG_MEMORY_MB },
    });
    const thread: CheckThread = { worker, isReady: false, running: undefined };
    this.#threads.add(thread);
    worker.on('message', (message: 'ready' | CheckAnswer) => {
      const { running } = thread;
      thread.isReady = true;
      thread.running = undefined;
      running?.timer.cancel();
      if (running && message !== 'ready') running.check.resolve(message);
      this.#next();
    });
    worker.on('error', (error) => {
      // Out of memory, such as for a schema that unfolds without end.
      if (thread.running) this.#rest(thread.running.check.projectId);
      // A thread that cannot start is not started again and again.
      if (!thread.isReady) this.#refuseWaiting(error);
      void this.#stop(thread, tooSlow());
    });
  }

  #rest(projectId: string): void {
    this.#restUntilMs.set(projectId, this.#clock.monotonicMs() + REST_MS);
  }

  async #stop(thread: CheckThread, error: Error): Promise<void> {
    if (!this.#threads.delete(thread)) return;
    thread.running?.timer.cancel();
    thread.running?.check.reject(error);
    await thread.worker.terminate();
    this.#next();
  }
}

function jsonOf(input: unknown): string {
  return JSON.stringify(input) ?? 'null';
}

function tooSlow(): CallwayError {
  return new CallwayError(
    'invalid',
    'check_too_slow',
    `The JSON Schema, the regular expression or the pathway takes more than ${TIME_LIMIT_MS} ms to check; make it simpler`,
  );
}

function busy(restMs: number): CallwayError {
  const message =
    'This project has used up its time for checking schemas, patterns and pathways; try again shortly';
  return new CallwayError('rate_limited', 'project_busy', message, {
    retryAfterSeconds: Math.ceil(restMs / 1000),
  });
}
