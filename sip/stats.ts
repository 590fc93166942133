/** Counters and gauges by name; a name comes to be when it is first counted. */
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
