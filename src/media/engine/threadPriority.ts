import { spawnSync } from 'node:child_process';
import { constants, getPriority, setPriority } from 'node:os';

import { systemThreadId } from '../../base/threads/threadCpuTime.ts';

/**
 * The calling thread. On Linux each thread has its own priority.
 *
 * @see setpriority(2), "C library/kernel differences"
 */
const THIS_THREAD = 0;

/**
 * Sets the calling thread's scheduling priority: what a caller hears must not wait for other work of the machine.
 *
 * @param priority - One of `os.constants.priority`, added to the priority of the process, which is its main thread's.
 *   Threads and processes that the thread starts inherit the sum.
 * @returns False on systems other than Linux, and for a higher priority without root or CAP_SYS_NICE.
 */
export function setThreadPriority(priority: number): boolean {
  if (process.platform !== 'linux') return false;
  try {
    const sum = getPriority(process.pid) + priority;
    const { PRIORITY_HIGHEST, PRIORITY_LOW } = constants.priority;
    setPriority(THIS_THREAD, Math.min(Math.max(sum, PRIORITY_HIGHEST), PRIORITY_LOW));
    return true;
  } catch {
    return false;
  }
}

/** Real-time priorities: audio of calls comes before that of simulated phones. */
export const REAL_TIME = { phones: 1, calls: 2 } as const;

/**
 * Lets the calling thread run as soon as it has work, before everything without a real-time policy: by its priority alone
 * it waits for the end of other threads' time slices, 4 to 8 ms. Blocks while util-linux's `chrt` runs, since Node cannot
 * set a policy. Threads and processes that the thread starts do not inherit it.
 *
 * @param priority - One of {@link REAL_TIME}.
 * @returns False on systems other than Linux, without `chrt` or /proc, and without root or CAP_SYS_NICE.
 * @see sched(7), SCHED_RR
 */
export function setRealTime(priority: number): boolean {
  const threadId = systemThreadId();
  if (threadId === undefined) return false;
  const options = ['--rr', '--reset-on-fork', '--pid', String(priority), threadId];
  return spawnSync('chrt', options).status === 0;
}
