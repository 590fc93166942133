/** What makes vectors of texts. Vectors of two encoders cannot be compared, even where their lengths are the same. */
export interface EmbeddingModel {
  /** Stable: it stands beside every vector that is kept. */
  readonly name: EmbeddingModelName;
  readonly dimensions: 512 | 1536 | 3072;
}

export type EmbeddingModelName =
  | 'text-embedding-ada-002'
  | 'text-embedding-3-small'
  | 'text-embedding-3-large'
  | 'energetic-ai-embeddings-en';

/** Turns texts into vectors, so that texts of like meaning lie close to each other. */
export interface Embedder {
  readonly model: EmbeddingModel;
  /** How many texts it is best asked for at once. */
  readonly batchSize: number;
  /**
   * @param texts - None empty; any number.
   * @returns One vector a text, in their order, each of the encoder's length.
   * @throws {ModelError} When the encoder is away or refuses a text.
   */
  embed(texts: readonly string[], signal: AbortSignal): Promise<Float32Array[]>;
}

/** The encoder that ships with the service: for English sentences. */
export const LOCAL_EMBEDDING_MODEL: EmbeddingModel = { name: 'energetic-ai-embeddings-en', dimensions: 512 };

export const OPENAI_EMBEDDING_MODELS = {
  'text-embedding-ada-002': { name: 'text-embedding-ada-002', dimensions: 1536 },
  'text-embedding-3-small': { name: 'text-embedding-3-small', dimensions: 1536 },
  'text-embedding-3-large': { name: 'text-embedding-3-large', dimensions: 3072 },
} as const satisfies Record<string, EmbeddingModel>;

export type OpenAiEmbeddingModelName = keyof typeof OPENAI_EMBEDDING_MODELS;
