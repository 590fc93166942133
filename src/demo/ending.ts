import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import type { Screen } from './screen.ts';

/** For closing down; then the process is cut off. */
const CLOSING_MS = 20_000;
/** A terminal, npm and our own script may each hand on the same signal. */
const SAME_SIGNAL_MS = 1000;
/** As a shell tells of a program that Ctrl-C ended. */
export const EXIT_INTERRUPTED = 130;

/** Somebody pressed Ctrl-C, or sent a signal that means the same. */
export class Interrupted extends Error {}

export interface Ending {
  /** Its reason is why the demo ends before its time. */
  readonly signal: AbortSignal;
  /** Ends the demo where it stands; asked by the same reason's signal once more, it is cut off. */
  by(reason: Error): void;
}

export interface EndingDeps {
  readonly screen: Pick<Screen, 'note' | 'failure'>;
  /** Of the service. */
  readonly dataFolder: string;
  readonly keepsData: boolean;
  /** The service's. */
  readonly log: string;
  readonly monotonicMs: () => number;
  readonly exit: (code: number) => void;
}

/** Lets the demo end in order, and cuts it off where that takes too long or nobody will wait: with nothing left behind. */
export function createEnding(deps: EndingDeps): Ending {
  const { screen, dataFolder, keepsData, log, monotonicMs, exit } = deps;
  const ending = new AbortController();
  let askedAtMs = 0;
  const cutOff = () => {
    endRedis(dataFolder);
    if (!keepsData) rmSync(dataFolder, { recursive: true, force: true });
    exit(ending.signal.reason instanceof Interrupted ? EXIT_INTERRUPTED : 1);
  };
  return {
    signal: ending.signal,
    by(reason) {
      if (ending.signal.aborted) {
        if (reason instanceof Interrupted && monotonicMs() - askedAtMs > SAME_SIGNAL_MS) cutOff();
        return;
      }
      askedAtMs = monotonicMs();
      ending.abort(reason);
      if (reason instanceof Interrupted) screen.note('Closing down; Ctrl-C again cuts it short.');
      setTimeout(() => {
        screen.failure(`Closing down takes too long, and is cut off; see ${log}.`);
        cutOff();
      }, CLOSING_MS).unref();
    },
  };
}

/** The server for the queue outlives a process that is cut off: for a service that is right, for a demo it is not. */
function endRedis(dataFolder: string): void {
  try {
    const pid = Number(readFileSync(join(dataFolder, 'redis', 'redis.pid'), 'utf8'));
    // 0, of a file that is not written yet, would be this process and all beside it.
    if (pid > 0) process.kill(pid);
  } catch {
    // It never ran, or it ended in order; whatever else it is must not keep the demo from its end.
  }
}
