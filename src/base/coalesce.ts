/** Looks a key up, together with whoever else asks for it. */
export type CoalescedRead<Value> = (key: string) => Promise<Value>;

interface Lookups<Value> {
  running: Promise<unknown>;
  /** Begins when the running one is over; who asks until then gets what it finds. */
  waiting: Promise<Value> | undefined;
}

/**
 * Lets those who ask for the same key at the same time share a look-up. Nobody gets what was read before they asked: who
 * comes while one runs shares the next, so that for each key there is one that runs and at most one that waits.
 *
 * @param lookUp - A failure goes to all who share it, and is not kept.
 */
export function coalesceReads<Value>(lookUp: (key: string) => Promise<Value>): CoalescedRead<Value> {
  const lookups = new Map<string, Lookups<Value>>();

  const begin = (key: string): Promise<Value> => {
    const found = lookUp(key);
    const own: Lookups<Value> = { running: found, waiting: undefined };
    lookups.set(key, own);
    const settle = () => {
      if (lookups.get(key) === own && !own.waiting) lookups.delete(key);
    };
    found.then(settle, settle);
    return found;
  };

  return (key) => {
    const now = lookups.get(key);
    if (!now) return begin(key);
    const next = () => begin(key);
    now.waiting ??= now.running.then(next, next);
    return now.waiting;
  };
}
