import type { KnowledgeRetriever } from '../../engine/tools/knowledge.ts';
import type { Retrieval } from './retrieval.ts';

/** Callers ask for names and numbers, which the embedding alone misses. */
const MODE = 'hybrid';

/** The knowledge port of the engine. */
export function createKnowledgeRetriever(retrieval: Retrieval): KnowledgeRetriever {
  return {
    async search(projectId, query, options, signal) {
      const found = await retrieval.search(projectId, query, { ...options, mode: MODE });
      signal.throwIfAborted();
      return found.map(({ id, content, score, datasetId, datasetName }) => ({
        chunkId: id,
        content,
        score,
        datasetId,
        source: datasetName,
      }));
    },
    prefetch: (projectId, query, options) => retrieval.prefetch(projectId, query, { ...options, mode: MODE }),
  };
}
