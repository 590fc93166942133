import { constants, type NodeGCPerformanceDetail, PerformanceObserver } from 'node:perf_hooks';

/** Sweeping takes milliseconds of a processor, which a thread without priority gets late on a busy machine. */
const ACTIVE_MS = 2000;
/** Short beside a tick, long beside a turn of the event loop. */
const SLEEP_MS = 0.25;

interface SleepDeps {
  /** Blocks the calling thread. */
  readonly sleep: (ms: number) => void;
  readonly nowMs: () => number;
}

/**
 * Lets the calling thread sleep for a moment in each turn of its event loop, for two seconds after each full garbage
 * collection. V8 then sweeps its C++ objects on a thread of the process that has no priority, and asks in each turn of the
 * event loop whether that has ended, without a pause. A thread with the real-time policy would take a whole processor for
 * that, for up to seconds: its own calls go on, but no thread without the policy runs there, perhaps not even the sweeper.
 *
 * @returns A function that ends it.
 * @see v8/src/heap/cppgc/sweeper.cc, IncrementalSweepTask
 */
export function sleepAfterCollections({ sleep, nowMs }: SleepDeps): () => void {
  let activeUntilMs = Number.NEGATIVE_INFINITY;
  let next: NodeJS.Immediate | undefined;
  // Not counted by the event loop, which waits for events all the same where V8 has no question.
  const sleepNextTurn = () => setImmediate(sleepOnce).unref();
  const sleepOnce = () => {
    next = undefined;
    if (nowMs() >= activeUntilMs) return;
    sleep(SLEEP_MS);
    next = sleepNextTurn();
  };
  const observer = new PerformanceObserver((list) => {
    if (!list.getEntries().some(isFullCollection)) return;
    activeUntilMs = nowMs() + ACTIVE_MS;
    next ??= sleepNextTurn();
  });
  observer.observe({ entryTypes: ['gc'] });
  return () => {
    observer.disconnect();
    clearImmediate(next);
  };
}

/** @param entry - A performance entry of type `gc`. */
function isFullCollection(entry: object): boolean {
  const { kind } = (entry as { readonly detail: NodeGCPerformanceDetail }).detail;
  return kind === constants.NODE_PERFORMANCE_GC_MAJOR;
}
