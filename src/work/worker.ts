import type { Clock, Timer } from '../base/values/clock.ts';

/** Work of failed nodes, and what other nodes have added, is found within this time. */
const POLL_MS = 1_000;
/** The most tasks of a node; each may wait ten seconds for its receiver. */
const MAX_RUNNING = 100;
/**
 * The most tasks of one project on a node; however slow a project's receiver, nine tenths of the node remain for
 * others.
 */
const MAX_RUNNING_PER_PROJECT = 10;
/** Another node takes over what this one has claimed and not finished by then. */
export const CLAIM_LEASE_MS = 30_000;

/** The amount of work that a node can take. */
export interface ClaimCapacity {
  readonly running: number;
  /** The limit of a project, running work included. */
  readonly perProject: number;
  readonly runningByProject: ReadonlyMap<string, number>;
}

export interface ClaimedWork {
  readonly id: string;
  readonly projectId: string;
}

export interface FairWorkerDeps {
  /** Claims due work for this node: no other node gets it before `until`. The longest overdue first. */
  readonly claimDue: (now: Date, until: Date, capacity: ClaimCapacity) => Promise<readonly ClaimedWork[]>;
  /** @param signal - Aborted when the node stops. */
  readonly run: (work: ClaimedWork, signal: AbortSignal) => Promise<void>;
  /** Other work that a stop waits for. */
  readonly beside?: (() => readonly Promise<unknown>[]) | undefined;
  readonly clock: Clock;
  /** The time for which a closing node still does what is due. The rest is then available to other nodes at once. */
  readonly finishMs: number;
  /** The name of the work in log messages. */
  readonly name: string;
  readonly onError: (error: unknown, what: string) => void;
}

/**
 * Does the due work of all projects, on any number of nodes: claims it, each project up to its share of the node, and
 * runs it. All state is in the database, so that any node continues after a crash.
 */
export class FairWorker {
  readonly #deps: FairWorkerDeps;
  readonly #running = new Map<string, { readonly projectId: string; readonly task: Promise<void> }>();
  /** Running work that was claimed again meanwhile. */
  readonly #claimedAgain = new Set<string>();
  readonly #closing = new AbortController();
  #claiming: Promise<void> | undefined;
  #claimAgain = false;
  #timer: Timer | undefined;

  constructor(deps: FairWorkerDeps) {
    this.#deps = deps;
  }

  get signal(): AbortSignal {
    return this.#closing.signal;
  }

  /** Claims due work now, every second, and when woken. */
  start(): void {
    if (!this.#timer && !this.signal.aborted) this.#tick();
  }

  /** Something may be due. */
  wake(): void {
    if (this.signal.aborted) return;
    this.#claimAgain = true;
    this.#claiming ??= this.#claimDue()
      .catch((error: unknown) => this.#deps.onError(error, `due ${this.#deps.name} not claimed, retrying`))
      .finally(() => {
        this.#claiming = undefined;
        // Woken after the last claim.
        if (this.#claimAgain) this.wake();
      });
  }

  /** Runs claimed work; once more after its end where it runs already. */
  run(work: ClaimedWork): void {
    const { id, projectId } = work;
    if (this.#running.has(id)) {
      this.#claimedAgain.add(id);
      return;
    }
    const { run, onError, name } = this.#deps;
    const task = run(work, this.signal)
      .catch((error: unknown) => onError(error, `${name} not finished, retrying later`))
      .finally(() => {
        const ofProject = this.#runningByProject().get(projectId) ?? 0;
        const wasFull = this.#running.size >= MAX_RUNNING || ofProject >= MAX_RUNNING_PER_PROJECT;
        this.#running.delete(id);
        // On a node that stops, this releases the second claim.
        if (this.#claimedAgain.delete(id)) this.run(work);
        else if (wasFull) this.wake();
      });
    this.#running.set(id, { projectId, task });
  }

  /** Does what is due within `finishMs`, waits for what runs, and releases the rest. Idempotent. */
  async close(): Promise<void> {
    const { clock, finishMs } = this.#deps;
    this.#timer?.cancel();
    const stop = () => this.#closing.abort(new Error('the service stops'));
    if (finishMs > 0) {
      const limit = clock.setTimer(stop, finishMs);
      this.wake();
      await this.#idle();
      limit.cancel();
    }
    stop();
    await this.#idle();
  }

  #tick(): void {
    this.wake();
    this.#timer = this.#deps.clock.setTimer(() => this.#tick(), POLL_MS);
  }

  async #claimDue(): Promise<void> {
    const { claimDue, clock } = this.#deps;
    do {
      this.#claimAgain = false;
      const room = MAX_RUNNING - this.#running.size;
      if (room <= 0) return;
      const nowMs = clock.now();
      const claimed = await claimDue(new Date(nowMs), new Date(nowMs + CLAIM_LEASE_MS), {
        running: room,
        perProject: MAX_RUNNING_PER_PROJECT,
        runningByProject: this.#runningByProject(),
      });
      for (const work of claimed) this.run(work);
    } while (this.#claimAgain && !this.signal.aborted);
  }

  #runningByProject(): Map<string, number> {
    const counts = new Map<string, number>();
    for (const { projectId } of this.#running.values())
      counts.set(projectId, (counts.get(projectId) ?? 0) + 1);
    return counts;
  }

  async #idle(): Promise<void> {
    const beside = () => this.#deps.beside?.() ?? [];
    while (this.#claiming || this.#running.size + beside().length > 0) {
      const tasks = [...this.#running.values()].map(({ task }) => task);
      await Promise.allSettled([this.#claiming, ...tasks, ...beside()]);
    }
  }
}
