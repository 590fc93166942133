import { repeat } from '../../base/async/repeat.ts';
import type { Clock } from '../../base/values/clock.ts';

/**
 * What a project used, by UTC day. `billedMs` is the talk time of the legs that it pays for, and `costMillionths` their
 * price; the daily limits of calls go by these. `sessions` are those that were begun, and
 * `chats` the ones of them that are no phone calls. The `installation…` kinds are what vendors did on the installation's
 * credentials; quotas go by these.
 */
const USAGE_KINDS = [
  'calls',
  'callMs',
  'billedMs',
  'costMillionths',
  'sessions',
  'chats',
  'tokens',
  'characters',
  'installationTokens',
  'installationCharacters',
  'installationRecognitionMs',
] as const;
export type UsageKind = (typeof USAGE_KINDS)[number];

export interface DayUsage {
  readonly projectId: string;
  /** The UTC day, as `2026-11-21`. */
  readonly day: string;
  readonly kind: UsageKind;
  readonly amount: number;
}

export interface UsageStore {
  add(used: readonly DayUsage[]): Promise<void>;
  /** Lists the usage, newest day first. */
  since(projectId: string, day: string): Promise<Omit<DayUsage, 'projectId'>[]>;
}

export interface UsageCounter {
  add(projectId: string, used: Partial<Record<UsageKind, number>>): void;
}

export interface UsageMeterDeps {
  readonly store: UsageStore;
  readonly clock: Clock;
  readonly onError: (error: unknown, what: string) => void;
}

/** The longest delay until another node or thread sees the usage. */
const FLUSH_INTERVAL_MS = 1000;

/** Adds up usage and stores it every second, so that no call or turn waits for it; at once where a limit goes by it. */
export class UsageMeter implements UsageCounter {
  readonly #deps: UsageMeterDeps;
  readonly #stopFlushing: () => Promise<void>;
  #pending = new Map<string, DayUsage>();
  /** The batch that is being stored. Never rejects. */
  #storing: Promise<void> = Promise.resolve();
  #nextBatch: Promise<void> | undefined;
  #closing: Promise<void> | undefined;

  constructor(deps: UsageMeterDeps) {
    this.#deps = deps;
    this.#stopFlushing = repeat(deps.clock, FLUSH_INTERVAL_MS, () => this.#flush(), this.#onError);
  }

  add(projectId: string, used: Partial<Record<UsageKind, number>>): void {
    const day = this.#today();
    for (const kind of USAGE_KINDS) this.#add({ projectId, day, kind, amount: used[kind] ?? 0 });
  }

  /** Adds usage and waits until it is stored; what could not be stored is tried again. Never rejects. */
  async record(projectId: string, used: Partial<Record<UsageKind, number>>): Promise<void> {
    this.add(projectId, used);
    await this.#flush().catch(this.#onError);
  }

  /** Returns what all nodes have stored of today's usage, and this one has added. */
  async today(projectId: string): Promise<Partial<Record<UsageKind, number>>> {
    await this.#flush().catch(this.#onError);
    const rows = await this.#deps.store.since(projectId, this.#today());
    return Object.fromEntries(rows.map(({ kind, amount }) => [kind, amount]));
  }

  /** Stores what is pending. Idempotent. */
  close(): Promise<void> {
    this.#closing ??= this.#stopFlushing().then(() => this.#flush().catch(this.#onError));
    return this.#closing;
  }

  #today(): string {
    return new Date(this.#deps.clock.now()).toISOString().slice(0, 10);
  }

  readonly #onError = (error: unknown): void =>
    this.#deps.onError(error, 'usage of projects not stored, retrying');

  #add(added: DayUsage): void {
    if (added.amount === 0) return;
    const key = `${added.projectId} ${added.day} ${added.kind}`;
    const amount = (this.#pending.get(key)?.amount ?? 0) + added.amount;
    this.#pending.set(key, { ...added, amount });
  }

  /** Stores one batch at a time; what is added meanwhile goes with the next. */
  #flush(): Promise<void> {
    this.#nextBatch ??= this.#storing.then(() => {
      this.#nextBatch = undefined;
      const stored = this.#storePending();
      this.#storing = stored.catch(() => undefined);
      return stored;
    });
    return this.#nextBatch;
  }

  async #storePending(): Promise<void> {
    const batch = [...this.#pending.values()];
    if (batch.length === 0) return;
    this.#pending = new Map();
    await this.#deps.store.add(batch).catch((error: unknown) => {
      for (const used of batch) this.#add(used);
      throw error;
    });
  }
}
