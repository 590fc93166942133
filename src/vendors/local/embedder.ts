import { createSentenceEncoder } from '../../../offline/sentenceEncoder.ts';
import { startThread } from '../../base/threads/thread.ts';
import { type Embedder, LOCAL_EMBEDDING_MODEL } from '../../models/ports/embedder.ts';
import { ModelError } from '../../models/ports/modelError.ts';

const BATCH_SIZE = 4;

export interface LocalEmbedder extends Embedder {
  /** Rejects pending requests. Idempotent. */
  close(): Promise<void>;
}

/** Creates an embedder for English that works offline. */
export function createLocalEmbedder(): LocalEmbedder {
  const encoder = createSentenceEncoder(startThread);
  return {
    model: LOCAL_EMBEDDING_MODEL,
    batchSize: BATCH_SIZE,
    async embed(texts, signal) {
      try {
        return await encoder.embed(texts, signal);
      } catch (cause) {
        signal.throwIfAborted();
        const reason = cause instanceof Error ? cause.message : String(cause);
        const message = `The local embedding model failed: ${reason}`;
        throw new ModelError('model_unavailable', message, { beforeFirstToken: true, cause });
      }
    },
    close: () => encoder.close(),
  };
}
