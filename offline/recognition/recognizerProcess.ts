import { type ChildProcess, spawn } from 'node:child_process';
import type { PocketsphinxInstallation } from './installation.ts';

/** The general model decodes about in real time on a busy core; a longer wait is a hang. */
const TIMEOUT_MS = 20_000;
const MAX_STDERR_CHARACTERS = 2000;

/** The process of one utterance, which loads its model and decodes while audio arrives. */
export interface RecognizerProcess {
  /** @param samples - At 16 kHz. */
  write(samples: Int16Array): void;
  /**
   * Ends the audio.
   *
   * @returns The recognized words.
   * @throws {Error} When the process cannot be started, fails or times out.
   */
  finish(): Promise<string>;
  /** Idempotent. */
  kill(): void;
}

/**
 * Starts the recognizer on a pipe. A child's standard input is a socket in Node, which a program that opens `/dev/stdin`
 * cannot read; hence a shell with `cat` between them, in one process group.
 */
export function startRecognizer(
  installation: PocketsphinxInstallation,
  languageModel: readonly string[],
): RecognizerProcess {
  const args = installation.arguments(languageModel);
  const child = spawn('sh', ['-c', 'cat | "$0" "$@"', installation.program, ...args], {
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: true,
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-MAX_STDERR_CHARACTERS);
  });
  // A process that ends early breaks the pipe; its exit code says more.
  child.stdin.on('error', () => undefined);
  const words = new Promise<string>((resolve, reject) => {
    child.once('error', (error) => reject(failure('cannot be started', error)));
    child.once('close', (code) => {
      if (code === 0) resolve(installation.parseWords(stdout));
      else reject(failure(`exited with code ${code}`, new Error(stderr)));
    });
  });
  words.catch(() => undefined); // thrown by finish()
  return {
    write({ buffer, byteOffset, byteLength }) {
      if (child.stdin.writable) child.stdin.write(Buffer.from(buffer, byteOffset, byteLength));
    },
    async finish() {
      child.stdin.end();
      const timer = setTimeout(() => killGroup(child), TIMEOUT_MS);
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

function failure(reason: string, cause: Error): Error {
  return new Error(`pocketsphinx ${reason}`, { cause });
}
