import { constants, setPriority } from 'node:os';

/** Of the thread that asks. @see setpriority(2), "C library/kernel differences": on Linux each thread has its own. */
const THIS_THREAD = 0;

/**
 * Lets this thread go before ordinary work of the machine: packets are due every 20 ms, and take a thread that waits
 * its turn among all others far too late. It takes little time of anybody.
 *
 * @returns False where the system has no priorities of threads, or the process may not raise its own (it has to be
 *   root's, or have CAP_SYS_NICE): audio is in time then as long as the machine has time.
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
