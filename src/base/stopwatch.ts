/** Measures the work since its start, in milliseconds. @see startStopwatch */
export interface Stopwatch {
  elapsedMs(): number;
  /** Cheap while little time has passed. */
  isOver(limitMs: number): boolean;
}

/**
 * Starts measuring synchronous work: the shorter of the time that passes and of the processor time that this process
 * takes. Time also passes while other processes have the processor, and other threads of the process take it, too.
 */
export function startStopwatch(): Stopwatch {
  const startedMs = performance.now();
  const startedCpuMs = processCpuMs();
  const passedMs = () => performance.now() - startedMs;
  const workedMs = () => processCpuMs() - startedCpuMs;
  return {
    elapsedMs: () => Math.min(passedMs(), workedMs()),
    isOver: (limitMs) => passedMs() > limitMs && workedMs() > limitMs,
  };
}

function processCpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
