/** Counters by name, created on first use. */
export interface Counters {
  count(name: string, by?: number): void;
  read(): Record<string, number>;
}

export function createCounters(): Counters {
  const values: Record<string, number> = {};
  return {
    count(name, by = 1) {
      values[name] = (values[name] ?? 0) + by;
    },
    read: () => ({ ...values }),
  };
}
