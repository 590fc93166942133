import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findPocketsphinx, INSTALL_COMMAND, type PocketsphinxInstallation } from './installation.ts';
import { createLanguageModels, type LanguageModels } from './languageModel.ts';
import { type RecognizerProcess, startRecognizer } from './recognizerProcess.ts';
import { createSpectralFolding } from './spectralFolding.ts';

/** The acoustic model's. */
export const RECOGNIZER_SAMPLE_RATE_HZ = 16_000;
/** The recognizer needs some silence before and after the words. */
const SILENCE_SAMPLES = RECOGNIZER_SAMPLE_RATE_HZ / 10;

export class PocketsphinxNotInstalledError extends Error {
  constructor() {
    super(`pocketsphinx is not installed; install it with: ${INSTALL_COMMAND}`);
    this.name = 'PocketsphinxNotInstalledError';
  }
}

export interface UtteranceOptions {
  /** Where there are any, only one of these phrases is recognized. */
  readonly expectedAnswers?: readonly string[];
  /** Whether the audio was resampled from 8 kHz. */
  readonly isNarrowband: boolean;
}

export interface Utterance {
  /** @param samples - At {@link RECOGNIZER_SAMPLE_RATE_HZ}; copied. */
  push(samples: Int16Array): void;
  /**
   * Recognizes everything that was pushed so far. May be called again after more was pushed.
   *
   * @throws {PocketsphinxNotInstalledError}
   * @throws {Error} When the recognizer fails; the signal's reason when it is aborted.
   */
  finalize(signal: AbortSignal): Promise<string>;
  /** Idempotent. */
  close(): void;
}

export interface Pocketsphinx {
  open(options: UtteranceOptions): Utterance;
  /** Closes every utterance and removes temporary files. Idempotent. */
  close(): Promise<void>;
}

interface Recognizer {
  readonly installation: PocketsphinxInstallation;
  readonly languageModels: LanguageModels;
}

/**
 * English speech recognition by PocketSphinx, with one process per utterance. With expected answers a grammar makes it
 * fast and accurate; else the general language model is used.
 *
 * @param searchPath - Folders of programs, as in `PATH`.
 * @see https://github.com/cmusphinx/pocketsphinx
 */
export function createPocketsphinx(searchPath: string): Pocketsphinx {
  const folder = cacheSuccess(() => mkdtemp(join(tmpdir(), 'pocketsphinx-grammars-')));
  const recognizer = cacheSuccess(async (): Promise<Recognizer> => {
    const installation = await findPocketsphinx(searchPath);
    if (!installation) throw new PocketsphinxNotInstalledError();
    return { installation, languageModels: createLanguageModels(installation, folder.get) };
  });
  const open = new Set<Utterance>();
  // Loads the dictionary before the first utterance needs it; a failure is thrown where it is needed.
  recognizer.get().catch(() => undefined);
  return {
    open(options) {
      const utterance = new PocketsphinxUtterance(recognizer.get, options, () => open.delete(utterance));
      open.add(utterance);
      return utterance;
    },
    async close() {
      for (const utterance of open) utterance.close();
      if (folder.isRequested()) await rm(await folder.get(), { recursive: true, force: true });
    },
  };
}

class PocketsphinxUtterance implements Utterance {
  readonly #recognizer: () => Promise<Recognizer>;
  readonly #expectedAnswers: readonly string[];
  readonly #onClose: () => void;
  readonly #fold: ((samples: Int16Array) => void) | undefined;
  readonly #chunks: Int16Array[] = [new Int16Array(SILENCE_SAMPLES)];
  #starting: Promise<RecognizerProcess> | undefined;
  #process: RecognizerProcess | undefined;
  #wasFinalized = false;
  #isClosed = false;

  constructor(
    recognizer: () => Promise<Recognizer>,
    { expectedAnswers = [], isNarrowband }: UtteranceOptions,
    onClose: () => void,
  ) {
    this.#recognizer = recognizer;
    this.#expectedAnswers = expectedAnswers;
    this.#onClose = onClose;
    this.#fold = isNarrowband ? createSpectralFolding() : undefined;
    this.#start();
  }

  push(samples: Int16Array): void {
    if (this.#isClosed) return;
    const chunk = Int16Array.from(samples);
    this.#fold?.(chunk);
    this.#chunks.push(chunk);
    // After the first result what follows may be only silence: the next finalize() starts the next process.
    if (!this.#wasFinalized) this.#start();
    this.#process?.write(chunk);
  }

  async finalize(signal: AbortSignal): Promise<string> {
    signal.throwIfAborted();
    this.#wasFinalized = true;
    const process = await this.#start();
    // A process ends with its result; audio that follows needs a new one, which gets all chunks again.
    this.#starting = undefined;
    this.#process = undefined;
    const abort = () => {
      process.kill();
      // The utterance continues, so that everything has to be decoded again.
      if (!this.#isClosed) this.#start();
    };
    signal.addEventListener('abort', abort, { once: true });
    try {
      if (signal.aborted) abort();
      process.write(new Int16Array(SILENCE_SAMPLES));
      return await process.finish();
    } finally {
      signal.removeEventListener('abort', abort);
      signal.throwIfAborted();
    }
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#process?.kill();
    this.#onClose();
  }

  #start(): Promise<RecognizerProcess> {
    this.#starting ??= this.#startProcess();
    this.#starting.catch(() => undefined); // thrown by finalize()
    return this.#starting;
  }

  async #startProcess(): Promise<RecognizerProcess> {
    const { installation, languageModels } = await this.#recognizer();
    const languageModel = await languageModels.argumentsFor(this.#expectedAnswers);
    if (this.#isClosed) throw new Error('the utterance was closed');
    const process = startRecognizer(installation, languageModel);
    this.#process = process;
    for (const chunk of this.#chunks) process.write(chunk);
    return process;
  }
}

/** Runs an operation once, when it is first requested; after a failure the next request runs it again. */
export function cacheSuccess<Value>(operation: () => Promise<Value>) {
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
