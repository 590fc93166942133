/** Keeps a bounded number of values; the one that was unused for the longest time goes first. */
export interface LruCache<Value> {
  /** Counts as a use. */
  get(key: string): Value | undefined;
  set(key: string, value: Value): void;
}

/** @param maxEntries - At least 1. */
export function createLruCache<Value>(maxEntries: number): LruCache<Value> {
  // A map keeps its keys in the order of their insertion: a use takes one out and puts it at the end.
  const entries = new Map<string, Value>();
  const touch = (key: string, value: Value) => {
    entries.delete(key);
    entries.set(key, value);
  };
  return {
    get(key) {
      const value = entries.get(key);
      if (value !== undefined) touch(key, value);
      return value;
    },
    set(key, value) {
      touch(key, value);
      const [oldest] = entries.keys();
      if (entries.size > maxEntries && oldest !== undefined) entries.delete(oldest);
    },
  };
}
