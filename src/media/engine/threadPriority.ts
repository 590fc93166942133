import { setPriority } from 'node:os';

/** The calling thread. On Linux each thread has its own priority. @see setpriority(2), "C library/kernel differences" */
const THIS_THREAD = 0;

/**
 * Sets the calling thread's scheduling priority: what a caller hears must not wait for other work of the machine.
 *
 * @param priority - One of `os.constants.priority`. Threads and processes that the thread starts inherit it.
 * @returns False on other systems than Linux, and for a higher priority without root or CAP_SYS_NICE.
 */
export function setThreadPriority(priority: number): boolean {
  if (process.platform !== 'linux') return false;
  try {
    setPriority(THIS_THREAD, priority);
    return true;
  } catch {
    return false;
  }
}
