/** Whether a request may go on; `retryAfterSeconds` until the next window opens. */
export type Allowance =
  | { readonly allowed: true }
  | { readonly allowed: false; readonly retryAfterSeconds: number };

export interface RateLimiter {
  /**
   * Takes one from the minute's allowance of `key`, counted over all nodes: never more than `limit` a minute
   * (clock minutes) pass in all. A limit of 0 is none.
   */
  take(key: string, limit: number): Allowance | Promise<Allowance>;
  /** Whether this node knows that nothing is left; takes nothing. */
  isExhausted(key: string): Allowance;
}
