import { openSync, readSync } from 'node:fs';

/** Measures the work since its start, in milliseconds. @see startStopwatch */
export interface Stopwatch {
  elapsedMs(): number;
  /** Cheap while little time has passed. */
  isOver(limitMs: number): boolean;
}

/** Linux updates the CPU time of a running thread at clock ticks: its error. */
const TICK_MS = 4;
/** Shorter work is measured without the CPU time of the thread, whose error would be too large. */
const SHORT_MS = 2 * TICK_MS;
const NS_PER_MS = 1_000_000;

/**
 * Starts measuring synchronous work: the minimum of elapsed time, CPU time of the process and, on Linux, CPU time of the
 * thread. Elapsed time includes the time in which other processes run, and CPU time of the process that of other threads.
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

/** CPU time of the process with all its threads. */
export function processCpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** CPU time of the calling thread; of the process where the system does not report it. */
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
