import type { Embedder, EmbeddingModelName } from '../../providers/ports/embedder.ts';
import { sentencesOf } from '../chunking/sentences.ts';
import type { ChunkStore } from '../stores.ts';

/** Chunks that are read at once. */
const PAGE = 64;

export interface EmbedSentencesDeps {
  readonly chunks: Pick<ChunkStore, 'listWithoutSentences' | 'storeSentences'>;
  readonly findEmbedder: (encoder: EmbeddingModelName) => Embedder | undefined;
}

/** Embeds the sentences of a dataset's chunks where the encoder needs it; chunks that have theirs are left out. */
export async function embedSentences(
  { chunks, findEmbedder }: EmbedSentencesDeps,
  { datasetId, encoder }: { readonly datasetId: string; readonly encoder: EmbeddingModelName },
  signal: AbortSignal,
): Promise<void> {
  const embedder = findEmbedder(encoder);
  if (!embedder?.model.embedsSentences) return;
  for (let offset = 0; ; offset += PAGE) {
    const { missing, pageLength } = await chunks.listWithoutSentences(datasetId, { limit: PAGE, offset });
    for (const { id, content } of missing) {
      const sentences = sentencesOf(content);
      if (sentences.length > 0)
        await chunks.storeSentences(datasetId, id, await embedder.embed(sentences, signal));
    }
    if (pageLength < PAGE) return;
  }
}
