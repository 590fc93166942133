import { getPriority } from 'node:os';
import type { PocketsphinxInstallation } from './installation.ts';
import type { ProgramEnd, RecognizerHost } from './recognizerHost.ts';

/** The general model decodes about in real time on a busy core; a longer wait is a hang. */
const TIMEOUT_MS = 20_000;
/** Beyond that of this process: recognition may be late, the audio of running calls may not. */
const NICENESS = 4;
/**
 * The niceness of recognizers that a thread of raised priority starts. Audio must not wait for them, but an answer
 * does.
 */
const NICENESS_BESIDE_RAISED = 1;
/** The calling thread. On Linux each thread has its own priority. */
const THIS_THREAD = 0;

/** The process ended before its result. */
export class RecognizerCrashedError extends Error {
  constructor({ code, stderr }: ProgramEnd) {
    super(`pocketsphinx exited with code ${code}`, { cause: new Error(stderr) });
    this.name = 'RecognizerCrashedError';
  }
}

/** The process of one utterance, which loads its model and decodes while audio arrives. */
export interface RecognizerProcess {
  /** Resolves when the process is gone. */
  readonly ended: Promise<unknown>;
  /** @param samples - The samples at 16 kHz. */
  write(samples: Int16Array): void;
  /**
   * Ends the audio.
   *
   * @returns The words of each stretch of speech between pauses.
   * @throws {RecognizerCrashedError}
   * @throws {Error} When the process times out.
   */
  finish(): Promise<readonly string[]>;
  kill(): void;
}

/** Starts the recognizer, at a lower priority. */
export function startRecognizer(
  host: RecognizerHost,
  installation: PocketsphinxInstallation,
  languageModel: readonly string[],
): RecognizerProcess {
  const ofProcess = getPriority(process.pid);
  const isRaised = getPriority(THIS_THREAD) < ofProcess;
  const program = host.start({
    program: installation.program,
    args: installation.arguments(languageModel),
    priority: ofProcess + (isRaised ? NICENESS_BESIDE_RAISED : NICENESS),
  });
  return {
    ended: program.ended,
    write: program.write,
    kill: program.kill,
    async finish() {
      program.end();
      let hasTimedOut = false;
      const timer = setTimeout(() => {
        hasTimedOut = true;
        program.kill();
      }, TIMEOUT_MS);
      const end = await program.ended;
      clearTimeout(timer);
      if (hasTimedOut) throw new Error(`pocketsphinx has no result after ${TIMEOUT_MS} ms`);
      if (end.code !== 0) throw new RecognizerCrashedError(end);
      return installation.parseWords(end.stdout);
    },
  };
}
