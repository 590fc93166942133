/** `retryAfterSeconds` is the time until the next window. */
export type Allowance =
  | { readonly allowed: true }
  | { readonly allowed: false; readonly retryAfterSeconds: number };

export interface RateLimiter {
  /** Counts one request of `key`: over all nodes, at most `limit` pass per clock minute. 0 means no limit. */
  take(key: string, limit: number): Allowance | Promise<Allowance>;
  /** Checks, without counting, whether this node knows that the limit of `key` is reached. */
  isExhausted(key: string): Allowance;
}
