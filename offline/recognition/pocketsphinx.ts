import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { findPocketsphinx, INSTALL_COMMAND } from './installation.ts';
import { createLanguageModels, type LanguageModels } from './languageModel.ts';
import { RecognizerHost, type StartProcess } from './recognizerHost.ts';
import { RecognizerPool } from './recognizerPool.ts';
import { startRecognizer } from './recognizerProcess.ts';
import { PocketsphinxUtterance, type Utterance } from './utterance.ts';

export class PocketsphinxNotInstalledError extends Error {
  constructor() {
    super(`pocketsphinx is not installed; install it with: ${INSTALL_COMMAND}`);
    this.name = 'PocketsphinxNotInstalledError';
  }
}

interface UtteranceOptions {
  /** The expected answers. When there are any, only they are recognized and all other speech is rejected. */
  readonly expectedAnswers?: readonly string[];
  /** True when the audio was resampled from 8 kHz. */
  readonly isNarrowband: boolean;
}

export interface Pocketsphinx {
  open(options: UtteranceOptions): Utterance;
  /** Closes every utterance, kills the processes and removes temporary files. Idempotent. */
  close(): Promise<void>;
}

interface Recognizer {
  readonly pool: RecognizerPool;
  readonly languageModels: LanguageModels;
}

/**
 * English speech recognition by PocketSphinx, with one process per utterance, and at most one per core. With expected
 * answers a grammar makes it fast and accurate; else the general language model is used.
 *
 * @param searchPath - Folders of programs, as in `PATH`.
 * @see https://github.com/cmusphinx/pocketsphinx
 */
export function createPocketsphinx(searchPath: string, startProcess: StartProcess): Pocketsphinx {
  const host = new RecognizerHost(startProcess);
  const folder = cacheSuccess(() => mkdtemp(join(tmpdir(), 'pocketsphinx-grammars-')));
  const recognizer = cacheSuccess(async (): Promise<Recognizer> => {
    const installation = await findPocketsphinx(searchPath);
    if (!installation) throw new PocketsphinxNotInstalledError();
    const pool = new RecognizerPool({
      size: availableParallelism(),
      startProcess: (args) => startRecognizer(host, installation, args),
    });
    return { pool, languageModels: createLanguageModels(installation, folder.get) };
  });
  const open = new Set<Utterance>();
  // Loads the dictionary before the first utterance needs it; a failure is thrown where it is needed.
  recognizer.get().catch(() => undefined);
  return {
    open({ expectedAnswers = [], isNarrowband }) {
      const prepare = async () => {
        const { pool, languageModels } = await recognizer.get();
        return { pool, args: await languageModels.argumentsFor(expectedAnswers) };
      };
      const onClose = () => open.delete(utterance);
      const utterance = new PocketsphinxUtterance({ prepare, isNarrowband, onClose });
      open.add(utterance);
      return utterance;
    },
    async close() {
      for (const utterance of open) utterance.close();
      (await recognizer.get().catch(() => undefined))?.pool.close();
      host.close();
      if (folder.isRequested()) await rm(await folder.get(), { recursive: true, force: true });
    },
  };
}

/** Runs an operation once, when it is first requested; after a failure the next request runs it again. */
function cacheSuccess<Value>(operation: () => Promise<Value>) {
  let result: Promise<Value> | undefined;
  return {
    isRequested: () => result !== undefined,
    get(): Promise<Value> {
      result ??= operation().catch((error: unknown) => {
        result = undefined;
        throw error;
      });
      return result;
    },
  };
}
