/** The answer to a POST, as it is kept for a repetition. */
export interface KeptAnswer {
  readonly fingerprint: string;
  readonly status: number;
  readonly body: unknown;
}

/** Keeps answers for `Idempotency-Key`, in the transaction that did what they answer. */
export interface IdempotencyStore {
  /** Waits for a claim of the same key that is under way. @returns What is kept already, if anything. */
  claim(scope: string, key: string, fingerprint: string, now: Date): Promise<KeptAnswer | undefined>;
  keep(scope: string, key: string, status: number, body: unknown): Promise<void>;
  removeOlderThan(time: Date): Promise<void>;
}

export interface LegacyUse {
  readonly projectId: string;
  readonly route: string;
  /** As `2026-11-21`, in UTC. */
  readonly day: string;
  readonly requests: number;
}

export interface LegacyUsageStore {
  add(uses: readonly LegacyUse[]): Promise<void>;
  since(projectId: string, day: string): Promise<Omit<LegacyUse, 'projectId'>[]>;
}
