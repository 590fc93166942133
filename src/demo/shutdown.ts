import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import type { Screen } from './screen.ts';

/** Time for an orderly shutdown; the process is killed afterwards. */
const CLOSING_MS = 20_000;
/** The terminal, npm and our script may each forward the same signal. */
const SAME_SIGNAL_MS = 1000;
/** The exit code of a shell for a program that was ended by Ctrl-C. */
export const EXIT_INTERRUPTED = 130;

/** Ctrl-C, or a signal with the same meaning. */
export class Interrupted extends Error {}

export interface Shutdown {
  /** Aborted when the demo ends early, with the cause as its reason. */
  readonly signal: AbortSignal;
  /** Ends the demo; a second interruption kills it. */
  start(reason: Error): void;
}

export interface ShutdownDeps {
  readonly screen: Screen;
  /** The service's data folder. */
  readonly dataFolder: string;
  readonly keepsData: boolean;
  /** Log file of the service. */
  readonly log: string;
  readonly monotonicMs: () => number;
  readonly exit: (code: number) => void;
}

/** Shuts the demo down, and kills it when that takes too long or is interrupted again; leaves nothing behind. */
export function createShutdown(deps: ShutdownDeps): Shutdown {
  const { screen, dataFolder, keepsData, log, monotonicMs, exit } = deps;
  const controller = new AbortController();
  let startedMs = 0;
  const kill = () => {
    endRedis(dataFolder);
    if (!keepsData) rmSync(dataFolder, { recursive: true, force: true });
    exit(controller.signal.reason instanceof Interrupted ? EXIT_INTERRUPTED : 1);
  };
  return {
    signal: controller.signal,
    start(reason) {
      if (controller.signal.aborted) {
        if (reason instanceof Interrupted && monotonicMs() - startedMs > SAME_SIGNAL_MS) kill();
        return;
      }
      startedMs = monotonicMs();
      controller.abort(reason);
      if (reason instanceof Interrupted) screen.note('Shutting down; press Ctrl-C again to exit at once.');
      setTimeout(() => {
        screen.failure(`The shutdown takes too long and was aborted; see ${log}.`);
        kill();
      }, CLOSING_MS).unref();
    },
  };
}

/** The Redis server survives a killed process, which is right for a service but not for a demo. */
function endRedis(dataFolder: string): void {
  try {
    const pid = Number(readFileSync(join(dataFolder, 'redis', 'redis.pid'), 'utf8'));
    // A pid of 0 from a partial file would kill this process group.
    if (pid > 0) process.kill(pid);
  } catch {
    // It never ran, or has exited. No failure may keep the demo from exiting.
  }
}
