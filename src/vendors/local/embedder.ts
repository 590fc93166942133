import type { WorkerOptions } from 'node:worker_threads';
import { startThread } from '../../base/threads/thread.ts';
import { ThreadPool } from '../../base/threads/threadPool.ts';
import { type Embedder, LOCAL_EMBEDDING_MODEL } from '../../models/ports/embedder.ts';
import { ModelError } from '../../models/ports/modelError.ts';
import type { SentenceEncoderMethods } from './sentenceEncoderThread.ts';

const BATCH_SIZE = 4;
/** The texts per request to the thread. A request lasts about 0.25 s, so that a query does not wait long behind a document. */
const TEXTS_PER_REQUEST = 2;

export interface LocalEmbedder extends Embedder {
  /** Rejects pending requests. Idempotent. */
  close(): Promise<void>;
}

/**
 * Creates an embedder for English that works offline, in a thread that loads its model with the first request.
 *
 * @param threadOptions - Replaced in tests.
 */
export function createLocalEmbedder(threadOptions: WorkerOptions = {}): LocalEmbedder {
  const pool = new ThreadPool<SentenceEncoderMethods>({
    size: 1,
    startThread: () => startThread(new URL('./sentenceEncoderThread.ts', import.meta.url), threadOptions),
  });
  return {
    model: LOCAL_EMBEDDING_MODEL,
    batchSize: BATCH_SIZE,
    async embed(texts, signal) {
      try {
        const vectors: Float32Array[] = [];
        for (let index = 0; index < texts.length; index += TEXTS_PER_REQUEST) {
          const some = texts.slice(index, index + TEXTS_PER_REQUEST);
          vectors.push(...(await pool.run((thread) => thread.encode(some), signal)));
        }
        return vectors;
      } catch (cause) {
        signal.throwIfAborted();
        const reason = cause instanceof Error ? cause.message : String(cause);
        const message = `The local embedding model failed: ${reason}`;
        throw new ModelError('model_unavailable', message, { beforeFirstToken: true, cause });
      }
    },
    close: () => pool.close(),
  };
}
