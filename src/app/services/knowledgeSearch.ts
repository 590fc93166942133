import type { KnowledgeRetriever } from '../../engine/tools/knowledge.ts';
import { createKnowledgeRetriever } from '../../knowledge/search/knowledgeRetriever.ts';
import { createRetrieval, type Retrieval } from '../../knowledge/search/retrieval.ts';
import type { ThreadContext } from '../node/threadContext.ts';
import { buildEmbedders, type EmbedderLookup } from './providers.ts';

/** A caller waits for a query, and not for a document. */
const QUERY_RETRIES = { maxAttempts: 2, timeoutMs: 8_000 } as const;

/** Search of documents. */
export interface KnowledgeSearch {
  readonly embedders: EmbedderLookup;
  readonly retrieval: Retrieval;
  /** The port of the engine. */
  readonly search: KnowledgeRetriever;
}

export async function buildKnowledgeSearch(context: ThreadContext): Promise<KnowledgeSearch> {
  const { storage, clock, logger } = context;
  const embedders = await buildEmbedders(context, logger.child({ part: 'knowledge' }));
  const retrieval = createRetrieval({
    knowledgebases: storage.stores.knowledgebases,
    chunks: storage.chunkSearch,
    findEmbedder: embedders(QUERY_RETRIES),
    clock,
  });
  return { embedders, retrieval, search: createKnowledgeRetriever(retrieval) };
}
