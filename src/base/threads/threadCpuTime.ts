import { readFileSync, readlinkSync } from 'node:fs';

/** The clock tick of `/proc/PID/stat`, on every architecture. @see sysconf(3), _SC_CLK_TCK */
const TICK_MS = 10;
/** Fields of `/proc/PID/stat` that follow the command, which may contain blanks. @see proc_pid_stat(5) */
const [USER_TIME, SYSTEM_TIME] = [11, 12];

/** @returns The operating system's id of the calling thread; undefined where there is no `/proc`, as on macOS. */
export function systemThreadId(): string | undefined {
  try {
    return readlinkSync('/proc/thread-self').split('/').at(-1);
  } catch {
    return undefined;
  }
}

/**
 * Reads how long a thread of this process has run, in steps of 10 ms.
 *
 * @param threadId - The id that {@link systemThreadId} returned.
 * @returns The thread's CPU time; undefined when it is not known, as on macOS, and for a thread that has ended.
 */
export function threadCpuMs(threadId: string): number | undefined {
  try {
    const stat = readFileSync(`/proc/self/task/${threadId}/stat`, 'latin1');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[USER_TIME]) + Number(fields[SYSTEM_TIME])) * TICK_MS;
  } catch {
    return undefined;
  }
}
