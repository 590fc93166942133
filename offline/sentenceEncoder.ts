import { type StartThread, WorkerPool } from './workerPool.ts';

/** The texts per request. A request lasts about 0.25 s, so that a query does not wait long behind a document. */
const TEXTS_PER_REQUEST = 2;

export interface SentenceEncoder {
  /**
   * @returns A vector of 512 dimensions per text, in order.
   * @throws {Error} When the thread fails.
   */
  embed(texts: readonly string[], signal: AbortSignal): Promise<Float32Array[]>;
  /** Rejects pending requests. Idempotent. */
  close(): Promise<void>;
}

/**
 * Universal Sentence Encoder, for English, in a worker thread that starts, and loads its model, with the first request.
 *
 * @see Cer et al., Universal Sentence Encoder (2018)
 */
export function createSentenceEncoder(startThread: StartThread): SentenceEncoder {
  const module = new URL('./sentenceEncoderThread.ts', import.meta.url);
  const pool = new WorkerPool<readonly string[], Float32Array[]>({ module, size: 1, startThread });
  return {
    async embed(texts, signal) {
      const vectors: Float32Array[] = [];
      for (let index = 0; index < texts.length; index += TEXTS_PER_REQUEST)
        vectors.push(...(await pool.run(texts.slice(index, index + TEXTS_PER_REQUEST), signal)));
      return vectors;
    },
    close: () => pool.close(),
  };
}
