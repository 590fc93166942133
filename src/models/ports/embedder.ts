/** Vectors of different models cannot be compared, even where their dimensions are equal. */
export interface EmbeddingModel {
  /** The model's name, which is stored with every vector. */
  readonly name: EmbeddingModelName;
  readonly dimensions: 512 | 1536 | 3072;
  /** Sentences have vectors of their own beside their chunk's, since one of several sentences is near none of them. */
  readonly embedsSentences?: boolean;
}

export type EmbeddingModelName =
  | 'text-embedding-ada-002'
  | 'text-embedding-3-small'
  | 'text-embedding-3-large'
  | 'energetic-ai-embeddings-en';

/** Converts texts to vectors; similar texts have close vectors. */
export interface Embedder {
  readonly model: EmbeddingModel;
  /** The recommended number of texts per call. */
  readonly batchSize: number;
  /**
   * @param texts - Any number of texts, none of them empty.
   * @returns One vector per text, in order.
   * @throws {ModelError}
   */
  embed(texts: readonly string[], signal: AbortSignal): Promise<Float32Array[]>;
}

/** Ships with the service; for English sentences. */
export const LOCAL_EMBEDDING_MODEL: EmbeddingModel = {
  name: 'energetic-ai-embeddings-en',
  dimensions: 512,
  embedsSentences: true,
};

export const OPENAI_EMBEDDING_MODELS = {
  'text-embedding-ada-002': { name: 'text-embedding-ada-002', dimensions: 1536 },
  'text-embedding-3-small': { name: 'text-embedding-3-small', dimensions: 1536 },
  'text-embedding-3-large': { name: 'text-embedding-3-large', dimensions: 3072 },
} as const satisfies Record<string, EmbeddingModel>;

export type OpenAiEmbeddingModelName = keyof typeof OPENAI_EMBEDDING_MODELS;
