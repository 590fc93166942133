import { constants, setPriority } from 'node:os';

/** The calling thread. On Linux each thread has its own priority. @see setpriority(2), "C library/kernel differences" */
const THIS_THREAD = 0;

/**
 * Raises the calling thread's scheduling priority: a media thread sends packets every 20 ms and takes little CPU.
 *
 * @returns False on other systems than Linux, and without root or CAP_SYS_NICE.
 */
export function raiseThreadPriority(): boolean {
  if (process.platform !== 'linux') return false;
  try {
    setPriority(THIS_THREAD, constants.priority.PRIORITY_HIGH);
    return true;
  } catch {
    return false;
  }
}
