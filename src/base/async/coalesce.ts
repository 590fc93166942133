/** Reads the value of a key; concurrent reads of one key are shared. */
export type CoalescedRead<Value> = (key: string) => Promise<Value>;

interface Reads<Value> {
  running: Promise<unknown>;
  /** Starts after the running read; later callers share it. */
  waiting: Promise<Value> | undefined;
}

/**
 * Lets concurrent readers of one key share a read. No caller gets a value that was read before it asked: callers that
 * arrive during a read share the next one. For each key at most one read runs and one waits.
 *
 * @param read - A failure reaches all callers that share the read, and is not cached.
 */
export function coalesceReads<Value>(read: (key: string) => Promise<Value>): CoalescedRead<Value> {
  const reads = new Map<string, Reads<Value>>();

  const start = (key: string): Promise<Value> => {
    const found = read(key);
    const own: Reads<Value> = { running: found, waiting: undefined };
    reads.set(key, own);
    const settle = () => {
      if (reads.get(key) === own && !own.waiting) reads.delete(key);
    };
    found.then(settle, settle);
    return found;
  };

  return (key) => {
    const now = reads.get(key);
    if (!now) return start(key);
    const next = () => start(key);
    now.waiting ??= now.running.then(next, next);
    return now.waiting;
  };
}
