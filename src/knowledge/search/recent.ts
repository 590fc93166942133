import type { Clock } from '../../base/values/clock.ts';

/** Caches results, pending ones included, for a limited time. */
export interface Recent<Value> {
  /** A failure is not cached. */
  get(key: string, make: () => Promise<Value>): Promise<Value>;
}

/** @param limit - Maximum entries; the oldest is evicted first. */
export function createRecent<Value>(clock: Clock, keepMs: number, limit: number): Recent<Value> {
  const entries = new Map<string, { value: Promise<Value>; untilMs: number }>();
  return {
    get(key, make) {
      const known = entries.get(key);
      if (known && known.untilMs > clock.monotonicMs()) return known.value;
      entries.delete(key);
      const value = make();
      entries.set(key, { value, untilMs: clock.monotonicMs() + keepMs });
      value.catch(() => {
        if (entries.get(key)?.value === value) entries.delete(key);
      });
      for (const oldest of entries.keys()) {
        if (entries.size <= limit) break;
        entries.delete(oldest);
      }
      return value;
    },
  };
}
