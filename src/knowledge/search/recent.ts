import type { Clock } from '../../base/clock.ts';

/** Remembers results for a while, and those that are still under way. */
export interface Recent<Value> {
  /** Takes what is known for the key, or has it made; a failure is not remembered. */
  get(key: string, make: () => Promise<Value>): Promise<Value>;
}

/** @param limit - How many it remembers; the oldest go first. */
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
