import type { Clock } from '../../base/values/clock.ts';

/** A vendor that failed is skipped this long; longer with each failure in a row. */
const FIRST_SKIP_MS = 5_000;
const LONGEST_SKIP_MS = 60_000;

/** Tracks which vendors work, by name. The calls of one set of credentials share it. */
export interface Breakers {
  /** Whether the vendor may be tried. */
  isClosed(name: string): boolean;
  succeeded(name: string): void;
  failed(name: string): void;
}

interface Failure {
  readonly count: number;
  readonly untilMs: number;
}

export function createBreakers(clock: Clock): Breakers {
  const failures = new Map<string, Failure>();
  return {
    isClosed: (name) => (failures.get(name)?.untilMs ?? Number.NEGATIVE_INFINITY) <= clock.monotonicMs(),
    succeeded: (name) => void failures.delete(name),
    failed(name) {
      const count = (failures.get(name)?.count ?? 0) + 1;
      const skipMs = Math.min(LONGEST_SKIP_MS, FIRST_SKIP_MS * 2 ** (count - 1));
      failures.set(name, { count, untilMs: clock.monotonicMs() + skipMs });
    },
  };
}
