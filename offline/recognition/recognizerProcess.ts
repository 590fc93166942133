import { type ChildProcess, spawn } from 'node:child_process';
import { getPriority } from 'node:os';
import type { PocketsphinxInstallation } from './installation.ts';

/** The general model decodes about in real time on a busy core; a longer wait is a hang. */
const TIMEOUT_MS = 20_000;
const MAX_STDERR_CHARACTERS = 2000;
/** Recognition may be late, the audio of running calls may not. */
const NICENESS = 4;
/** Of recognizers that a thread of raised priority starts: audio does not wait for them, and an answer does. */
const NICENESS_BESIDE_RAISED = 1;
/** The calling thread. On Linux each thread has its own priority, which its processes inherit. */
const THIS_THREAD = 0;

/** The process ended before its result. */
export class RecognizerCrashedError extends Error {
  constructor(code: number | null, stderr: string) {
    super(`pocketsphinx exited with code ${code}`, { cause: new Error(stderr) });
    this.name = 'RecognizerCrashedError';
  }
}

/** The process of one utterance, which loads its model and decodes while audio arrives. */
export interface RecognizerProcess {
  /** Resolves when the process is gone. */
  readonly ended: Promise<void>;
  /** @param samples - At 16 kHz. */
  write(samples: Int16Array): void;
  /**
   * Ends the audio.
   *
   * @returns The words of each stretch of speech between pauses.
   * @throws {RecognizerCrashedError}
   * @throws {Error} When the process cannot be started or times out.
   */
  finish(): Promise<readonly string[]>;
  /** Idempotent. */
  kill(): void;
}

/**
 * Starts the recognizer on a pipe, at a lower priority. A child's standard input is a socket in Node, which a program that
 * opens `/dev/stdin` cannot read; hence a shell with `cat` between them, in one process group. When this process dies, the
 * pipe ends, and the recognizer with it.
 */
export function startRecognizer(
  installation: PocketsphinxInstallation,
  languageModel: readonly string[],
): RecognizerProcess {
  const args = installation.arguments(languageModel);
  const own = getPriority(THIS_THREAD);
  const more = own < 0 ? NICENESS_BESIDE_RAISED - own : NICENESS;
  const pipeline = ['-n', `${more}`, 'sh', '-c', 'cat | "$0" "$@"', installation.program, ...args];
  const child = spawn('nice', pipeline, { stdio: ['pipe', 'pipe', 'pipe'], detached: true });
  let stdout = '';
  let stderr = '';
  let hasTimedOut = false;
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-MAX_STDERR_CHARACTERS);
  });
  // A process that ends early breaks the pipe; its exit code says more.
  child.stdin.on('error', () => undefined);
  const words = new Promise<readonly string[]>((resolve, reject) => {
    child.once('error', (cause) => reject(new Error('pocketsphinx cannot be started', { cause })));
    child.once('close', (code) => {
      if (code === 0) resolve(installation.parseWords(stdout));
      else if (hasTimedOut) reject(new Error(`pocketsphinx has no result after ${TIMEOUT_MS} ms`));
      else reject(new RecognizerCrashedError(code, stderr));
    });
  });
  return {
    ended: words.then(
      () => undefined,
      () => undefined, // thrown by finish()
    ),
    write({ buffer, byteOffset, byteLength }) {
      if (child.stdin.writable) child.stdin.write(Buffer.from(buffer, byteOffset, byteLength));
    },
    async finish() {
      child.stdin.end();
      const timer = setTimeout(() => {
        hasTimedOut = true;
        killGroup(child);
      }, TIMEOUT_MS);
      try {
        return await words;
      } finally {
        clearTimeout(timer);
      }
    },
    kill: () => killGroup(child),
  };
}

function killGroup(child: ChildProcess): void {
  child.stdin?.destroy();
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    // The group has just ended.
  }
}
