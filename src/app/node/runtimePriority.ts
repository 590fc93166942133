import { readdirSync } from 'node:fs';
import { constants, setPriority } from 'node:os';

/**
 * Raises the priority of the runtime's own threads, which compile code and collect garbage for all others. They hold locks
 * meanwhile: a media thread, however high its priority, waits for one that a busy machine has taken off the processor.
 * Call it first: all threads but the calling one count as the runtime's.
 *
 * @returns False on other systems than Linux, and without root or CAP_SYS_NICE.
 */
export function raiseRuntimeThreads(): boolean {
  if (process.platform !== 'linux') return false;
  try {
    for (const id of readdirSync('/proc/self/task').map(Number)) {
      if (id !== process.pid) setPriority(id, constants.priority.PRIORITY_HIGH);
    }
    return true;
  } catch {
    return false;
  }
}
