/** Foreground tasks run before background tasks. */
export type Priority = 'foreground' | 'background';

/** Runs the task when the mutex is free. */
export type RunExclusive = <Result>(priority: Priority, work: () => Promise<Result>) => Promise<Result>;

/**
 * A mutex with two priorities, for a resource that blocks this thread while it works. Between two tasks the event
 * loop runs once.
 */
export function createPriorityMutex(): RunExclusive {
  const waiting: Record<Priority, (() => void)[]> = { foreground: [], background: [] };
  let isLocked = false;
  const runNext = () => {
    const next = waiting.foreground.shift() ?? waiting.background.shift();
    if (next) next();
    else isLocked = false;
  };
  return async (priority, work) => {
    if (isLocked) await new Promise<void>((resolve) => waiting[priority].push(resolve));
    isLocked = true;
    try {
      return await work();
    } finally {
      setImmediate(runNext);
    }
  };
}
