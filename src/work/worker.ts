import { LRUCache } from 'lru-cache';

import { repeat } from '../base/async/repeat.ts';
import type { Clock, Timer } from '../base/values/clock.ts';
import type { Again, ClaimCapacity, ClaimedWork, DueWork, LeasedWork, WakeWork } from './work.ts';

/** Work of failed nodes, and what other nodes have added, is found within this time. */
const POLL_MS = 1_000;
/** What becomes due within this time is claimed together. */
const DUE_TOGETHER_MS = 50;
/** What was announced to all nodes, and none has claimed: the one that woke may be full. Its own node claims it then. */
const PASSED_ON_MS = 250;
/** Another node takes over what this one has claimed and not renewed by then. */
export const CLAIM_LEASE_MS = 30_000;
/** Bounds of the delay after a failure, which doubles. */
const FIRST_RETRY_MS = 2_000;
const LONGEST_RETRY_MS = 60_000;
/** Work whose failures in a row are counted. */
const MAX_FAILING = 1_000;

/** A kind of durable work and its policy. */
export interface WorkKind {
  /** The name of the work in log messages. */
  readonly name: string;
  /**
   * The rows. The claim of a {@link LeasedWork} is renewed while it runs, and settled at its end; the steps of other work
   * move its row on themselves.
   */
  readonly rows: DueWork | LeasedWork;
  /**
   * Runs claimed work. What throws is repeated later.
   *
   * @param signal - Aborted when the node stops, or another node has the claim.
   * @returns When to go on; undefined when it is done.
   */
  readonly run: (work: ClaimedWork, signal: AbortSignal) => Promise<Again | undefined>;
  /** The most work of a node at once. */
  readonly maxRunning: number;
  /**
   * The most work of one project on a node. By default a project gets a row only while more rows are free than it has:
   * one project alone gets half of them, so that another one always finds some.
   *
   * @see A. K. Choudhury, E. L. Hahne, "Dynamic queue length thresholds for shared-memory packet switches"
   */
  readonly maxPerProject?: number | undefined;
  /** Returns how much more the node can take at the moment, where that is less. */
  readonly room?: (() => number) | undefined;
  /** Other work that a stop waits for. */
  readonly beside?: (() => readonly Promise<unknown>[]) | undefined;
  /** The time for which a closing node still does what is due. The rest is then available to other nodes at once. */
  readonly finishMs?: number | undefined;
}

export interface WorkerDeps extends WorkKind {
  /** Wakes one of the nodes for work that goes on at once. By default this node does. */
  readonly announce?: WakeWork | undefined;
  readonly clock: Clock;
  readonly onError: (error: unknown, what: string) => void;
}

interface Running {
  readonly projectId: string;
  readonly task: Promise<void>;
  /** Aborts it when its claim is lost. */
  readonly lost: AbortController;
  /** Its claim is being released: who claims it from now on claims it anew. */
  isSettling: boolean;
}

/**
 * Does the due work of one kind for all projects, on any number of nodes: claims it, each project up to its share of the
 * node, and runs it. All state is in the database, so that any node continues after a crash.
 */
export class Worker {
  readonly #deps: WorkerDeps;
  readonly #leased: LeasedWork | undefined;
  readonly #running = new Map<string, Running>();
  /** Running work that was claimed again meanwhile. */
  readonly #claimedAgain = new Set<string>();
  readonly #failures = new LRUCache<string, number>({ max: MAX_FAILING });
  readonly #closing = new AbortController();
  #claiming: Promise<void> | undefined;
  /** How many rows are to be claimed. */
  #wanted = 0;
  /** Claims at the next poll, or when a row is due before it; undefined before the start and after the end. */
  #timer: Timer | undefined;
  #timerAtMs = 0;
  #stopRenewing: (() => Promise<void>) | undefined;

  constructor(deps: WorkerDeps) {
    this.#deps = deps;
    this.#leased = 'renew' in deps.rows ? deps.rows : undefined;
  }

  get signal(): AbortSignal {
    return this.#closing.signal;
  }

  /** Claims due work now, every second, when a row is due, and when woken. */
  start(): void {
    if (this.#timer || this.signal.aborted) return;
    this.#tick();
    const { clock, name, onError } = this.#deps;
    if (this.#leased)
      this.#stopRenewing = repeat(
        clock,
        CLAIM_LEASE_MS / 3,
        () => this.#renew(),
        (error) => onError(error, `claims of ${name} not renewed, retrying`),
      );
  }

  /** Something may be due. @param rows - The most rows to claim, since other nodes are woken for the others. */
  wake(rows = Number.POSITIVE_INFINITY): void {
    if (this.signal.aborted) return;
    this.#wanted += rows;
    this.#claiming ??= this.#claimDue()
      .catch((error: unknown) => this.#deps.onError(error, `due ${this.#deps.name} not claimed, retrying`))
      .finally(() => {
        this.#claiming = undefined;
        // Woken after the last claim.
        if (this.#wanted > 0) this.wake(0);
      });
  }

  /** Runs claimed work; once more after its end where it runs already. */
  run(work: ClaimedWork): void {
    const { id, projectId } = work;
    const before = this.#running.get(id);
    if (before) {
      // A claim that was not renewed in time is renewed from now on.
      if (!this.#leased || before.isSettling) this.#claimedAgain.add(id);
      return;
    }
    const lost = new AbortController();
    const task = this.#runToEnd(work, lost.signal)
      .catch((error: unknown) => this.#deps.onError(error, `${this.#deps.name} not finished, retrying later`))
      .then((isAnnounced) => {
        const { maxPerProject } = this.#deps;
        // Without a fixed share the others' shares grow too.
        const wasFull =
          maxPerProject === undefined || this.#capacity().rows <= 0 || this.#left(projectId) <= 0;
        this.#running.delete(id);
        // On a node that stops, this releases the second claim.
        if (this.#claimedAgain.delete(id)) this.run(work);
        else if (wasFull && !isAnnounced) this.wake();
      });
    this.#running.set(id, { projectId, task, lost, isSettling: false });
  }

  /** Does what is due within `finishMs`, waits for what runs, and releases the rest. Idempotent. */
  async close(): Promise<void> {
    const { clock, finishMs = 0 } = this.#deps;
    this.#timer?.cancel();
    this.#timer = undefined;
    const stop = () => this.#closing.abort(new Error('the service stops'));
    if (finishMs > 0) {
      const limit = clock.setTimer(stop, finishMs);
      this.wake();
      await this.#idle();
      limit.cancel();
    }
    stop();
    await this.#idle();
    await this.#stopRenewing?.();
  }

  /** @returns Whether a node is woken to go on with it, which may be another one. */
  async #runToEnd(work: ClaimedWork, lost: AbortSignal): Promise<boolean> {
    const { clock, run, announce } = this.#deps;
    const settle = async (afterMs: number | null) => {
      if (lost.aborted) return false;
      const running = this.#running.get(work.id);
      if (running) running.isSettling = true;
      await this.#leased?.settle(work.id, afterMs === null ? null : new Date(clock.now() + afterMs));
      if (afterMs === 0 && announce) {
        void announce(work.id);
        this.#claimAt(clock.now() + PASSED_ON_MS);
        return true;
      }
      if (afterMs !== null) this.#claimAt(clock.now() + afterMs);
      return false;
    };
    if (this.#leased && this.signal.aborted) return await settle(0);
    try {
      const again = await run(work, AbortSignal.any([this.signal, lost]));
      this.#failures.delete(work.id);
      return await settle(again ? again.afterMs : null);
    } catch (error) {
      if (!this.#leased) throw error;
      if (this.signal.aborted) return await settle(0);
      const failures = (this.#failures.get(work.id) ?? 0) + 1;
      this.#failures.set(work.id, failures);
      await settle(Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** (failures - 1)));
      throw error;
    }
  }

  async #renew(): Promise<void> {
    const ids = [...this.#running.keys()];
    if (ids.length === 0) return;
    const until = new Date(this.#deps.clock.now() + CLAIM_LEASE_MS);
    const held = await this.#leased?.renew(ids, until);
    for (const id of ids)
      if (!held?.has(id)) this.#running.get(id)?.lost.abort(new Error('another node has the claim'));
  }

  #tick(): void {
    this.wake();
    this.#setTimer(this.#deps.clock.now() + POLL_MS);
  }

  /** A row is due then, which may be before the next poll. */
  #claimAt(atMs: number): void {
    if (this.#timer && atMs < this.#timerAtMs) this.#setTimer(atMs);
  }

  #setTimer(atMs: number): void {
    const { clock } = this.#deps;
    this.#timer?.cancel();
    this.#timerAtMs = atMs;
    this.#timer = clock.setTimer(() => this.#tick(), atMs - clock.now());
  }

  async #claimDue(): Promise<void> {
    const { rows, clock } = this.#deps;
    do {
      const wanted = this.#wanted;
      this.#wanted = 0;
      const capacity = this.#capacity();
      const most = Math.min(capacity.rows, wanted);
      if (most <= 0) return;
      const nowMs = clock.now();
      const { claimed, nextDueAt } = await rows.claimDue(new Date(nowMs), new Date(nowMs + CLAIM_LEASE_MS), {
        ...capacity,
        rows: most,
      });
      for (const work of claimed) this.run(work);
      if (nextDueAt) this.#claimAt(Math.max(nextDueAt.getTime(), nowMs + DUE_TOGETHER_MS));
      // A claim takes half of what is free, so that its projects get even shares.
      if (claimed.length === most) this.#wanted += wanted - most;
    } while (this.#wanted > 0 && !this.signal.aborted);
  }

  #capacity(): ClaimCapacity {
    const { maxRunning, maxPerProject, room } = this.#deps;
    const free = Math.min(maxRunning - this.#running.size, room?.() ?? Number.POSITIVE_INFINITY);
    const projects = new Set([...this.#running.values()].map(({ projectId }) => projectId));
    return {
      rows: maxPerProject === undefined ? Math.ceil(free / 2) : free,
      perProject: maxPerProject ?? Math.floor((free + 1) / 2),
      leftByProject: new Map([...projects].map((projectId) => [projectId, this.#left(projectId)])),
    };
  }

  /** Returns how many more rows a project may have. */
  #left(projectId: string): number {
    const { maxRunning, maxPerProject } = this.#deps;
    let running = 0;
    for (const other of this.#running.values()) if (other.projectId === projectId) running += 1;
    const left =
      maxPerProject === undefined
        ? Math.floor((maxRunning - this.#running.size - running + 1) / 2)
        : maxPerProject - running;
    return Math.max(0, left);
  }

  async #idle(): Promise<void> {
    const beside = () => this.#deps.beside?.() ?? [];
    while (this.#claiming || this.#running.size + beside().length > 0) {
      const tasks = [...this.#running.values()].map(({ task }) => task);
      await Promise.allSettled([this.#claiming, ...tasks, ...beside()]);
    }
  }
}
