/** @param maxEntries - At least 1. */
export function createLruCache(maxEntries) {
  // A map keeps its keys in the order of their insertion: a use takes one out and puts it at the end.
  const entries = new Map();
  const touch = (key, value) => {
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
