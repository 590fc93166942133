/** `retryAfterSeconds` is the time until the next window. */
export type Allowance =
  | { readonly allowed: true }
  | { readonly allowed: false; readonly retryAfterSeconds: number };

/** Counts by UTC day, over all nodes. */
export interface DailyCounter {
  /** Counts one, unless the day's limit is reached. */
  take(key: string, limit: number): Promise<Allowance>;
  /** Today's count. */
  read(key: string): Promise<number>;
}

export interface RateLimiter {
  /** Counts one request of `key`: over all nodes, at most `limit` pass per clock minute. 0 means no limit. */
  take(key: string, limit: number): Allowance | Promise<Allowance>;
  /** Checks, without counting, whether this node knows that the limit of `key` is reached. */
  isExhausted(key: string): Allowance;
}
