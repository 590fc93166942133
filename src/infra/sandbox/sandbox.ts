import type { PathwayChecker } from '../../agents/pathway/pathwayChecker.ts';
import type { Review, ReviewOptions } from '../../agents/pathway/review/review.ts';
import type { Pathway } from '../../agents/pathway/schema/pathwaySchema.ts';
import type { KnownNames } from '../../agents/pathway/structure.ts';
import type { PatternMatcher, SchemaChecker } from '../../agents/schemaChecker.ts';
import { processCpuMs } from '../../base/async/stopwatch.ts';
import { CallwayError, nodeDraining } from '../../base/errors.ts';
import type { Calls } from '../../base/threads/remote.ts';
import { startThread } from '../../base/threads/thread.ts';
import { ThreadPool } from '../../base/threads/threadPool.ts';
import type { Clock, Timer } from '../../base/values/clock.ts';
import type { CheckMethods } from './checkMethods.ts';

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
const MEMORY_LIMITS = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 8 };

type Thread = Calls<CheckMethods>;

interface Waiting {
  /** Has the check done, and resolves when it is done or refused. */
  start(): Promise<void>;
  reject(error: Error): void;
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
  readonly #pool = new ThreadPool<CheckMethods>({
    size: MAX_THREADS,
    startThread: () =>
      startThread(new URL('./checkThread.ts', import.meta.url), { env: {}, resourceLimits: MEMORY_LIMITS }),
    terminatesAborted: true,
  });
  /** The waiting checks by project. The first project is next. */
  readonly #waiting = new Map<string, Waiting[]>();
  /** The projects that hold a thread. */
  readonly #running = new Set<string>();
  readonly #restUntilMs = new Map<string, number>();
  #isClosed = false;

  constructor({ clock, cpuMs = processCpuMs }: SandboxDeps) {
    this.#clock = clock;
    this.#cpuMs = cpuMs;
  }

  checkSchema(projectId: string, schema: object): Promise<string | undefined> {
    return this.#run(projectId, (thread) => thread.checkSchema(JSON.stringify(schema)));
  }

  checkArguments(projectId: string, schema: object, args: object): Promise<string | undefined> {
    return this.#run(projectId, (thread) =>
      thread.checkArguments(JSON.stringify(schema), JSON.stringify(args)),
    );
  }

  checkPattern(projectId: string, pattern: string): Promise<string | undefined> {
    return this.#run(projectId, (thread) => thread.checkPattern(pattern));
  }

  findPattern(projectId: string, pattern: string, text: string): Promise<boolean> {
    return this.#run(projectId, (thread) => thread.findPattern(pattern, text));
  }

  async parsePathway(projectId: string, input: unknown, known: KnownNames): Promise<Pathway> {
    const graph = jsonOf(input);
    return JSON.parse(await this.#run(projectId, (thread) => thread.parsePathway(graph, known)));
  }

  async reviewPathway(projectId: string, input: unknown, options: ReviewOptions): Promise<Review> {
    const graph = jsonOf(input);
    return await this.#run(projectId, (thread) => thread.reviewPathway(graph, options));
  }

  /** Stops all threads; checks that wait are refused. Idempotent. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#refuseWaiting(nodeDraining());
    await this.#pool.close(nodeDraining());
  }

  #run<Result>(projectId: string, check: (thread: Thread) => Promise<Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      if (this.#isClosed) return reject(nodeDraining());
      const restMs = (this.#restUntilMs.get(projectId) ?? 0) - this.#clock.monotonicMs();
      const own = this.#waiting.get(projectId) ?? [];
      if (restMs > 0 || own.length >= MAX_WAITING) return reject(busy(Math.max(restMs, TIME_LIMIT_MS)));
      this.#restUntilMs.delete(projectId);
      const start = () => this.#perform(projectId, check).then(resolve, reject);
      this.#waiting.set(projectId, [...own, { start, reject }]);
      this.#next();
    });
  }

  /** Starts a check each of the next projects that hold no thread, while there are threads. */
  #next(): void {
    const projectId = [...this.#waiting.keys()].find((waiting) => !this.#running.has(waiting));
    if (projectId === undefined || this.#running.size >= MAX_THREADS) return;
    const check = this.#takeWaiting(projectId);
    this.#running.add(projectId);
    void check?.start().then(() => {
      this.#running.delete(projectId);
      this.#next();
    });
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

  /** Stops the thread of a check that has had its time. */
  async #perform<Result>(projectId: string, check: (thread: Thread) => Promise<Result>): Promise<Result> {
    const stop = new AbortController();
    let watch: Timer | undefined;
    const onLate = () => stop.abort(tooSlow());
    try {
      return await this.#pool.run((thread) => {
        watch = this.#watch(onLate);
        return check(thread);
      }, stop.signal);
    } catch (error) {
      if (error instanceof CallwayError && !stop.signal.aborted) throw error;
      if (!watch) {
        this.#refuseWaiting(new Error('checks cannot be done', { cause: error }));
        throw error;
      }
      // Late, or out of memory, such as for a schema that unfolds without end.
      this.#restUntilMs.set(projectId, this.#clock.monotonicMs() + REST_MS);
      throw tooSlow();
    } finally {
      watch?.cancel();
    }
  }

  #watch(onLate: () => void): Timer {
    const startedCpuMs = this.#cpuMs();
    const latestMs = this.#clock.monotonicMs() + MAX_PASSED_MS;
    const checkAfter = (ms: number): Timer =>
      this.#clock.setTimer(() => {
        if (this.#cpuMs() - startedCpuMs >= TIME_LIMIT_MS || this.#clock.monotonicMs() >= latestMs) onLate();
        else timer = checkAfter(RECHECK_MS);
      }, ms);
    let timer = checkAfter(TIME_LIMIT_MS);
    return { cancel: () => timer.cancel() };
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
