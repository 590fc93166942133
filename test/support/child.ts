import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { startWatchdog } from './watchdog.ts';

const POLL_MS = 20;

/** How a process exited. */
export interface ExitStatus {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A process that a test started. */
export interface Child {
  readonly pid: number;
  /** Output lines of both streams in order of arrival; grows. */
  readonly lines: readonly string[];
  readonly ended: Promise<ExitStatus>;
  isRunning(): boolean;
  /** Does nothing after the process has exited. */
  kill(signal: NodeJS.Signals): void;
}

export interface ChildOptions {
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
  /** User to run as; only root may set it. */
  readonly uid?: number | undefined;
  readonly gid?: number | undefined;
  /** Signal that the watchdog sends when this process dies first. */
  readonly watchdogSignal?: 'KILL' | 'QUIT';
  /** Folder that the watchdog removes when this process dies first. */
  readonly folder?: string;
}

/**
 * Starts a program that does not outlive this process.
 *
 * @throws When the program cannot be started.
 */
export async function startChild(program: string, args: string[], options: ChildOptions): Promise<Child> {
  const { env, cwd, uid, gid } = options;
  const child = spawn(program, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true, // Ctrl-C is for the test run, which then ends its servers in order
    ...(env && { env }),
    ...(cwd !== undefined && { cwd }),
    ...(uid !== undefined && { uid }),
    ...(gid !== undefined && { gid }),
  });
  await once(child, 'spawn');
  const pid = child.pid;
  if (pid === undefined) throw new Error(`${program} has no process id`);
  const dismissWatchdog = startWatchdog(pid, options.watchdogSignal ?? 'KILL', options.folder);
  const ended = new Promise<ExitStatus>((resolve) => {
    child.once('close', (code, signal) => resolve({ code, signal }));
  });
  const isRunning = () => child.exitCode === null && child.signalCode === null;
  child.once('exit', dismissWatchdog);
  return {
    pid,
    lines: collectLines(child),
    ended,
    isRunning,
    kill(signal) {
      if (isRunning()) child.kill(signal);
    },
  };
}

/**
 * Waits until `isReady` returns true.
 *
 * @throws When the process exits first or is not ready within `timeoutMs`; the message has its last lines.
 */
export async function waitUntilReady(
  name: string,
  child: Child,
  isReady: () => boolean | Promise<boolean>,
  timeoutMs: number,
): Promise<void> {
  const giveUpAtMs = performance.now() + timeoutMs;
  while (!(await isReady())) {
    const lastLines = () => child.lines.slice(-20).join('\n');
    if (!child.isRunning()) throw new Error(`${name} ended before it was ready:\n${lastLines()}`);
    if (performance.now() > giveUpAtMs) {
      throw new Error(`${name} was not ready within ${timeoutMs} ms:\n${lastLines()}`);
    }
    await sleep(POLL_MS);
  }
}

function collectLines(child: ChildProcess): string[] {
  const lines: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    if (stream) createInterface({ input: stream }).on('line', (line) => lines.push(line));
  }
  return lines;
}
