import { openSync, readSync } from 'node:fs';

/** Measures the work since its start, in milliseconds. @see startStopwatch */
export interface Stopwatch {
  elapsedMs(): number;
  /** Cheap while little time has passed. */
  isOver(limitMs: number): boolean;
}

/** Linux counts a running thread's time at its clock ticks. */
const TICK_MS = 4;
/** Less is as exact without the thread's time. */
const SHORT_MS = 2 * TICK_MS;
const NS_PER_MS = 1_000_000;

/**
 * Starts measuring synchronous work: the shortest of the time that passes, of the processor time that this process takes,
 * and on Linux of that which this thread takes. Time also passes while other processes have the processor, and other
 * threads of the process take it, too.
 */
export function startStopwatch(): Stopwatch {
  const startedMs = performance.now();
  const startedCpuMs = processCpuMs();
  const startedThreadMs = threadCpuMs();
  const passedMs = () => performance.now() - startedMs;
  const workedMs = () => processCpuMs() - startedCpuMs;
  const ownMs = () => threadCpuMs() - startedThreadMs + TICK_MS;
  return {
    elapsedMs() {
      const ms = Math.min(passedMs(), workedMs());
      return ms > SHORT_MS ? Math.min(ms, ownMs()) : ms;
    },
    isOver: (limitMs) => passedMs() > limitMs && workedMs() > limitMs && ownMs() > limitMs,
  };
}

function processCpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** Of the calling thread; without Linux' accounting, of the process. */
const threadCpuMs: () => number = openThreadAccount() ?? processCpuMs;

/** @see Documentation/scheduler/sched-stats.rst of Linux: the first number is the time on the processor, in nanoseconds. */
function openThreadAccount(): (() => number) | undefined {
  try {
    const file = openSync('/proc/thread-self/schedstat', 'r');
    const text = Buffer.alloc(64);
    const read = () =>
      Number.parseInt(text.toString('latin1', 0, readSync(file, text, 0, text.length, 0)), 10) / NS_PER_MS;
    return read() > 0 ? read : undefined;
  } catch {
    return undefined;
  }
}
