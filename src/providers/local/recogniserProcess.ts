import { type ChildProcess, spawn } from 'node:child_process';
import type { Clock } from '../../base/clock.ts';
import { ModelError } from '../ports/modelError.ts';
import type { PocketsphinxInstallation } from './pocketsphinxInstallation.ts';

/** The general model decodes about as fast as people speak, on a busy core; more is a hang. */
const TIME_LIMIT_MS = 20_000;
const LONGEST_COMPLAINT_CHARACTERS = 2000;

/** One utterance's process: it loads its model and decodes while the person still speaks. */
export interface RecogniserProcess {
  /** 16 kHz. */
  write(samples: Int16Array): void;
  /** Nothing more comes. @throws {ModelError} When the process fails, or takes too long. */
  finish(): Promise<string>;
  /** Idempotent. */
  kill(): void;
}

/**
 * Starts the recogniser on a pipe. Node's own pipes to a child are sockets, which a program that opens `/dev/stdin`
 * cannot read, so that a shell with `cat` stands between; all of them are one group of processes.
 */
export function startRecogniser(
  installation: PocketsphinxInstallation,
  language: readonly string[],
  clock: Clock,
): RecogniserProcess {
  const args = installation.arguments(language);
  const child = spawn('sh', ['-c', 'cat | "$0" "$@"', installation.program, ...args], {
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: true,
  });
  let output = '';
  let complaint = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaint = (complaint + text).slice(-LONGEST_COMPLAINT_CHARACTERS);
  });
  // A process that ended early breaks the pipe; how it ended says more.
  child.stdin.on('error', () => undefined);
  const ended = new Promise<string>((resolve, reject) => {
    child.once('error', (error) => reject(failure('cannot be started', error)));
    child.once('close', (code) => {
      if (code === 0) resolve(installation.words(output));
      else reject(failure(`ended with code ${code}`, new Error(complaint)));
    });
  });
  ended.catch(() => undefined);
  return {
    write(samples) {
      const { buffer, byteOffset, byteLength } = samples;
      if (child.stdin.writable) child.stdin.write(Buffer.from(buffer, byteOffset, byteLength));
    },
    async finish() {
      child.stdin.end();
      const timer = clock.setTimer(() => killGroup(child), TIME_LIMIT_MS);
      try {
        return await ended;
      } finally {
        timer.cancel();
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
    // It has just ended by itself.
  }
}

function failure(what: string, cause: Error): ModelError {
  return new ModelError('model_unavailable', `The offline speech recogniser ${what}`, {
    beforeFirstToken: true,
    cause,
  });
}
