import { repeat } from '../../base/async/repeat.ts';
import type { Clock } from '../../base/clock.ts';

/** What a project used, by UTC day. */
export const USAGE_KINDS = ['calls', 'callMs', 'chats', 'tokens', 'characters', 'costMillionths'] as const;
export type UsageKind = (typeof USAGE_KINDS)[number];

export interface DayUsage {
  readonly projectId: string;
  /** As `2026-11-21`. */
  readonly day: string;
  readonly kind: UsageKind;
  readonly amount: number;
}

export interface UsageStore {
  add(used: readonly DayUsage[]): Promise<void>;
  /** Newest day first. */
  since(projectId: string, day: string): Promise<Omit<DayUsage, 'projectId'>[]>;
}

export interface UsageMeterDeps {
  readonly store: Pick<UsageStore, 'add'>;
  readonly clock: Clock;
  readonly onError: (error: unknown, what: string) => void;
}

const FLUSH_INTERVAL_MS = 5000;

/** Adds up usage and stores it every few seconds, so that no call or turn waits for it. */
export class UsageMeter {
  readonly #deps: UsageMeterDeps;
  readonly #stopFlushing: () => Promise<void>;
  #pending = new Map<string, DayUsage>();
  #closing: Promise<void> | undefined;

  constructor(deps: UsageMeterDeps) {
    this.#deps = deps;
    this.#stopFlushing = repeat(deps.clock, FLUSH_INTERVAL_MS, () => this.#flush(), this.#onError);
  }

  add(projectId: string, used: Partial<Record<UsageKind, number>>): void {
    const day = new Date(this.#deps.clock.now()).toISOString().slice(0, 10);
    for (const kind of USAGE_KINDS) this.#add({ projectId, day, kind, amount: used[kind] ?? 0 });
  }

  /** Stores what is pending. Idempotent. */
  close(): Promise<void> {
    this.#closing ??= this.#stopFlushing().then(() => this.#flush().catch(this.#onError));
    return this.#closing;
  }

  readonly #onError = (error: unknown): void =>
    this.#deps.onError(error, 'usage of projects not stored, retrying');

  #add(added: DayUsage): void {
    if (added.amount === 0) return;
    const key = `${added.projectId} ${added.day} ${added.kind}`;
    const amount = (this.#pending.get(key)?.amount ?? 0) + added.amount;
    this.#pending.set(key, { ...added, amount });
  }

  async #flush(): Promise<void> {
    const batch = [...this.#pending.values()];
    if (batch.length === 0) return;
    this.#pending = new Map();
    await this.#deps.store.add(batch).catch((error: unknown) => {
      for (const used of batch) this.#add(used);
      throw error;
    });
  }
}
