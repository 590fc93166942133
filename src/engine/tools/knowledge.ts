export interface RetrievalOptions {
  readonly topK?: number;
  readonly scoreThreshold?: number;
}

/** Searches a project's documents. */
export interface KnowledgeRetriever {
  /** @returns The best passages first. */
  search(
    projectId: string,
    query: string,
    options: RetrievalOptions,
    signal: AbortSignal,
  ): Promise<readonly KnowledgePassage[]>;
  /** Starts a search whose result answers the same {@link search} within seconds. Never rejects. */
  prefetch?(projectId: string, query: string, options: RetrievalOptions): Promise<void>;
}

export interface KnowledgePassage {
  readonly content: string;
  readonly score: number;
  readonly datasetId: string;
  readonly chunkId: string;
  readonly source?: string;
}

/** The part of a passage that a model is shown. */
export type Passage = Pick<KnowledgePassage, 'content' | 'source'>;

/** The passage with its document's name, as the model reads it. */
export function shownPassage({ content, source }: Passage): string {
  return source === undefined ? content : `(${source}) ${content}`;
}
