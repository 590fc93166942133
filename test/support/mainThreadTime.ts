import { readFileSync, readlinkSync } from 'node:fs';

const SAMPLE_MS = 1;

/**
 * The longest time for which a work held up all others on the event loop. It is measured in processor time of this
 * thread, which other processes and threads do not lengthen.
 *
 * @returns Milliseconds.
 */
export async function longestTaskMs(work: () => Promise<unknown>): Promise<number> {
  const threadMs = threadTime();
  let longestMs = 0;
  let sampledMs = threadMs();
  const sample = () => {
    const nowMs = threadMs();
    longestMs = Math.max(longestMs, nowMs - sampledMs);
    sampledMs = nowMs;
  };
  const timer = setInterval(sample, SAMPLE_MS);
  try {
    await work();
    sample();
    return longestMs;
  } finally {
    clearInterval(timer);
  }
}

/** @returns Reads the processor time of this thread in ms; where the system does not count it, that of the process. */
export function threadTime(): () => number {
  try {
    const file = `/proc/${readlinkSync('/proc/thread-self')}/schedstat`;
    const read = () => Number(readFileSync(file, 'utf8').split(' ', 1)[0]) / 1_000_000;
    read();
    return read;
  } catch {
    return () => {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1000;
    };
  }
}
