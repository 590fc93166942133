/** @param limit - How many it remembers; the oldest go first. */
export function createRecent(clock, keepMs, limit) {
  const entries = new Map();
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
