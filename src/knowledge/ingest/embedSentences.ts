import type { Embedder, EmbeddingModelName } from '../../models/ports/embedder.ts';
import { sentencesOf } from '../chunking/sentences.ts';
import type { ChunkStore } from '../stores.ts';

/** Chunks that are read at once. */
const PAGE = 64;

export interface EmbedSentencesDeps {
  readonly chunks: ChunkStore;
  readonly findEmbedder: (encoder: EmbeddingModelName) => Embedder | undefined;
}

/**
 * Embeds the sentences of a dataset's chunks where the encoder needs it; chunks that have theirs are left out.
 *
 * @param onStored - Called after each chunk; its error ends the work.
 */
export async function embedSentences(
  { chunks, findEmbedder }: EmbedSentencesDeps,
  { datasetId, encoder }: { readonly datasetId: string; readonly encoder: EmbeddingModelName },
  onStored: () => void,
  signal: AbortSignal,
): Promise<void> {
  const embedder = findEmbedder(encoder);
  if (!embedder?.model.embedsSentences) return;
  for (let offset = 0; ; offset += PAGE) {
    const { missing, pageLength } = await chunks.listWithoutSentences(datasetId, { limit: PAGE, offset });
    for (const { id, content } of missing) {
      const sentences = sentencesOf(content);
      if (sentences.length === 0) continue;
      await chunks.storeSentences(datasetId, id, await embedder.embed(sentences, signal));
      onStored();
    }
    if (pageLength < PAGE) return;
  }
}
