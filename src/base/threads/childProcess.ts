import { type ChildProcess, fork } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { setPriority } from 'node:os';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Port } from './remote.ts';

/** A third of the service's share of a busy processor, since its calls go first. */
const LOW_PRIORITY = 5;
/** Linux kills this process first when the machine has no memory left. @see proc(5) */
const KILLED_FIRST = '1000';
const KILOBYTES_PER_MB = 1024;
const NS_PER_MS = 1_000_000;

export interface ProcessOptions {
  /** Maximum of V8's heap, beyond which the process aborts. */
  readonly heapMb?: number;
  /** Discards what it prints. */
  readonly isSilent?: boolean;
}

/**
 * Starts a Node process from a TypeScript module, or from what the build makes of it, with a channel for messages.
 *
 * It shares this process's terminal, whose Ctrl-C it should ignore; it sees `disconnect` when this process ends. It keeps no
 * process alive.
 *
 * @param module - The module's URL, such as `new URL('./recognizerHost.ts', import.meta.url)`; in the build the file
 *   ends in `.js`.
 */
export function startProcess(module: URL, { heapMb, isSilent = false }: ProcessOptions = {}): ChildProcess {
  const isBuild = !import.meta.url.endsWith('.ts');
  const file = isBuild ? new URL(module.href.replace(/\.ts$/, '.js')) : module;
  const isSource = file.href.endsWith('.ts');
  const output = isSilent ? 'ignore' : 'inherit';
  const child = fork(fileURLToPath(file), [], {
    // Not this process's arguments of Node: an inspector's port is taken.
    execArgv: [
      ...(isSource ? ['--import', typeScriptLoader()] : []),
      ...(heapMb === undefined ? [] : [`--max-old-space-size=${heapMb}`]),
    ],
    env: { PATH: process.env.PATH },
    serialization: 'advanced',
    stdio: ['inherit', output, output, 'ipc'],
  });
  child.unref();
  child.channel?.unref();
  return child;
}

/** @returns The channel to a child process, or to the parent. What is sent to a process that has ended is lost. */
export function portOf(other: ChildProcess | NodeJS.Process): Port {
  return {
    postMessage: (message) => void other.send?.(message as object, undefined, undefined, () => undefined),
    on: (_name, listener) => other.on('message', listener),
  };
}

/** Lets all other processes go first, where the system allows it. */
export function putLast({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    setPriority(pid, LOW_PRIORITY);
  } catch {
    // It has ended already.
  }
  writeFile(`/proc/${pid}/oom_score_adj`, KILLED_FIRST).catch(() => undefined);
}

/** The resources that a process has used. */
export interface ProcessUsage {
  /** The processor time of its main thread. */
  readonly cpuMs: number;
  /** Resident memory now. */
  readonly memoryMb: number;
}

/**
 * @returns The usage; undefined when the process has ended, and on systems other than Linux, which do not report it.
 * @see proc(5)
 */
export async function usageOf({ pid }: ChildProcess): Promise<ProcessUsage | undefined> {
  try {
    const [status, times] = await Promise.all(
      ['status', 'schedstat'].map((name) => readFile(`/proc/${pid}/${name}`, 'latin1')),
    );
    const kilobytes = /^VmRSS:\s+(\d+)/m.exec(status ?? '')?.[1];
    if (kilobytes === undefined) return undefined;
    return {
      cpuMs: Number.parseInt(times ?? '0', 10) / NS_PER_MS,
      memoryMb: Number(kilobytes) / KILOBYTES_PER_MB,
    };
  } catch {
    return undefined;
  }
}

function typeScriptLoader(): string {
  return pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;
}
