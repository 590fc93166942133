import { answerIn } from './grammar.ts';
import type { RecognizerPool } from './recognizerPool.ts';
import { RecognizerCrashedError, type RecognizerProcess } from './recognizerProcess.ts';
import { createSpectralFolding } from './spectralFolding.ts';

/** The sample rate of the acoustic model. */
export const RECOGNIZER_SAMPLE_RATE_HZ = 16_000;
/** The recognizer needs some silence before and after the words. */
const SILENCE_SAMPLES = RECOGNIZER_SAMPLE_RATE_HZ / 10;
/** A process that crashes is replaced once. */
const MAX_ATTEMPTS = 2;

export interface Utterance {
  /** @param samples - The samples at {@link RECOGNIZER_SAMPLE_RATE_HZ}, which are copied. */
  push(samples: Int16Array): void;
  /**
   * Recognizes everything that was pushed so far. May be called again after more was pushed.
   *
   * @returns The words; empty when nothing was said, or none of the expected answers.
   * @throws {PocketsphinxNotInstalledError}
   * @throws {RecognizerBusyError} When too many callers speak at once.
   * @throws {Error} When the recognizer fails; the signal's reason when it is aborted.
   */
  finalize(signal: AbortSignal): Promise<string>;
  /**
   * Recognizes the audio so far in a second process, if one is free.
   *
   * @returns The words so far; empty when there are none.
   * @throws {Error} When the process fails or is taken away; the signal's reason when it is aborted.
   */
  interim(signal: AbortSignal): Promise<string>;
  close(): void;
}

export interface PocketsphinxUtteranceDeps {
  readonly prepare: () => Promise<PreparedRecognizer>;
  /** True when the audio was resampled from 8 kHz. */
  readonly isNarrowband: boolean;
  readonly onClose: () => void;
}

interface PreparedRecognizer {
  readonly pool: RecognizerPool;
  /** Select the language model or grammar. */
  readonly args: readonly string[];
}

/** The recognition of one utterance. It is decoded while it is spoken if a process is free, else after its end. */
export class PocketsphinxUtterance implements Utterance {
  readonly #deps: PocketsphinxUtteranceDeps;
  readonly #fold: ((samples: Int16Array) => void) | undefined;
  readonly #chunks: Int16Array[] = [new Int16Array(SILENCE_SAMPLES)];
  readonly #prepared: Promise<PreparedRecognizer>;
  #recognizer: PreparedRecognizer | undefined;
  /** Has all chunks; undefined until there is one, and from the moment that its result is awaited. */
  #process: RecognizerProcess | undefined;
  /** The process whose result is awaited. */
  #finishing: RecognizerProcess | undefined;
  /** True while a process may start early. After the first result the remaining audio may be only silence. */
  #startsEarly = true;
  #isClosed = false;

  constructor(deps: PocketsphinxUtteranceDeps) {
    this.#deps = deps;
    this.#fold = deps.isNarrowband ? createSpectralFolding() : undefined;
    this.#prepared = deps.prepare();
    this.#prepared.then(
      (recognizer) => {
        this.#recognizer = recognizer;
        this.#startEarly();
      },
      () => undefined, // thrown by finalize()
    );
  }

  push(samples: Int16Array): void {
    if (this.#isClosed) return;
    const chunk = Int16Array.from(samples);
    this.#fold?.(chunk);
    this.#chunks.push(chunk);
    if (this.#process) this.#process.write(chunk);
    else this.#startEarly();
  }

  async finalize(signal: AbortSignal): Promise<string> {
    signal.throwIfAborted();
    this.#startsEarly = false;
    const recognizer = await this.#prepared;
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#recognize(recognizer, signal);
      } catch (error) {
        signal.throwIfAborted();
        if (this.#isClosed || attempt === MAX_ATTEMPTS || !(error instanceof RecognizerCrashedError))
          throw error;
      }
    }
  }

  async interim(signal: AbortSignal): Promise<string> {
    signal.throwIfAborted();
    if (this.#isClosed || !this.#recognizer) return '';
    const { pool, args } = this.#recognizer;
    const process = pool.startEarly(args, () => undefined);
    if (!process) return '';
    const kill = () => process.kill();
    signal.addEventListener('abort', kill, { once: true });
    try {
      this.#fed(process).write(new Int16Array(SILENCE_SAMPLES));
      return (await process.finish()).map(answerIn).join(' ').trim();
    } catch (error) {
      signal.throwIfAborted();
      throw error;
    } finally {
      signal.removeEventListener('abort', kill);
    }
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#process?.kill();
    this.#finishing?.kill();
    this.#deps.onClose();
  }

  /** A process ends with its result; audio that follows needs a new one, which gets all chunks again. */
  async #recognize({ pool, args }: PreparedRecognizer, signal: AbortSignal): Promise<string> {
    const early = this.#process;
    this.#process = undefined;
    if (early) pool.keep(early);
    const process = early ?? this.#fed(await pool.start(args, signal));
    this.#finishing = process;
    const abort = () => {
      process.kill();
      // The caller continues.
      this.#startsEarly = true;
      this.#startEarly();
    };
    signal.addEventListener('abort', abort, { once: true });
    try {
      if (signal.aborted) abort();
      if (this.#isClosed) process.kill();
      process.write(new Int16Array(SILENCE_SAMPLES));
      return (await process.finish()).map(answerIn).join(' ').trim();
    } finally {
      signal.removeEventListener('abort', abort);
      if (this.#finishing === process) this.#finishing = undefined;
    }
  }

  #startEarly(): void {
    if (!this.#startsEarly || this.#isClosed || this.#process || !this.#recognizer) return;
    const { pool, args } = this.#recognizer;
    const onRevoked = () => {
      this.#process = undefined;
    };
    const process = pool.startEarly(args, onRevoked);
    this.#process = process && this.#fed(process);
  }

  #fed(process: RecognizerProcess): RecognizerProcess {
    for (const chunk of this.#chunks) process.write(chunk);
    return process;
  }
}
