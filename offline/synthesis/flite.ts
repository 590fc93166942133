import { type StartThread, WorkerPool } from '../workerPool.ts';

export const FLITE_SAMPLE_RATE_HZ = 16_000;
/** Speech recognizers understand `rms` best; `slt` is the other voice of this rate. */
const DEFAULT_VOICE = 'rms';
/** A sentence takes 40 to 240 ms of one core, so that two threads serve about twenty concurrent calls. */
const DEFAULT_THREADS = 2;
/**
 * The longest part. Longer texts are synthesized in parts, so that the first samples do not wait for the whole text.
 */
const MAX_PART_CHARACTERS = 220;

export interface FliteOptions {
  readonly startThread: StartThread;
  /** The voice, `rms` or `slt`. */
  readonly voice?: string;
  /** Most threads; each starts when it is first needed. */
  readonly threads?: number;
}

export interface Flite {
  /**
   * English speech, 16 bit mono at {@link FLITE_SAMPLE_RATE_HZ}.
   *
   * @throws {Error} When the voice is unknown or a thread fails; the signal's reason when it is aborted.
   */
  synthesize(text: string, signal: AbortSignal, options?: FliteVoice): AsyncIterable<Int16Array>;
  /** Idempotent. */
  close(): Promise<void>;
}

interface FliteVoice {
  /** The voice, `rms` or `slt`. */
  readonly voice?: string | undefined;
  /** 1 is the voice's own pace. */
  readonly speed?: number | undefined;
}

export interface FliteRequest {
  readonly text: string;
  readonly voice: string;
  readonly speed: number;
}

/** Flite as WebAssembly in worker threads. @see http://www.festvox.org/flite/ */
export function createFlite({
  startThread,
  voice: defaultVoice = DEFAULT_VOICE,
  threads: size = DEFAULT_THREADS,
}: FliteOptions): Flite {
  const module = new URL('./fliteThread.ts', import.meta.url);
  const pool = new WorkerPool<FliteRequest, Int16Array>({ module, size, startThread });
  return {
    async *synthesize(text, signal, { voice = defaultVoice, speed = 1 } = {}) {
      for (const part of splitText(text)) {
        const samples = await pool.run({ text: part, voice, speed }, signal);
        if (samples.length > 0) yield samples;
      }
    },
    close: () => pool.close(),
  };
}

/** Splits at the ends of sentences and clauses; a part without letters and digits is dropped. */
export function splitText(text: string): string[] {
  const parts: string[] = [];
  for (const clause of text.trim().split(/(?<=[.!?;:,])\s+/)) {
    const last = parts.at(-1);
    const joined = last === undefined ? clause : `${last} ${clause}`;
    if (last !== undefined && joined.length <= MAX_PART_CHARACTERS) parts[parts.length - 1] = joined;
    else parts.push(clause);
  }
  return parts.filter((part) => /[\p{L}\p{N}]/u.test(part));
}
