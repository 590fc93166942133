import { toSql } from 'pgvector/pg';
import type { EmbeddingModelName } from '../../../models/ports/embedder.ts';

/** Column and type of an encoder's vectors. */
export interface VectorColumn {
  readonly name: 'vector_512' | 'vector_1536' | 'vector_3072';
  readonly type: 'vector(512)' | 'vector(1536)' | 'halfvec(3072)';
  /** Type in `sentence_embeddings`, of an encoder whose sentences have vectors. */
  readonly sentenceType?: 'halfvec(512)';
}

const OF_512: VectorColumn = { name: 'vector_512', type: 'vector(512)', sentenceType: 'halfvec(512)' };
const OF_1536: VectorColumn = { name: 'vector_1536', type: 'vector(1536)' };
const OF_3072: VectorColumn = { name: 'vector_3072', type: 'halfvec(3072)' };

export const VECTOR_COLUMNS: Readonly<Record<EmbeddingModelName, VectorColumn>> = {
  'energetic-ai-embeddings-en': OF_512,
  'text-embedding-ada-002': OF_1536,
  'text-embedding-3-small': OF_1536,
  'text-embedding-3-large': OF_3072,
};

/** A vector in the text format of pgvector. */
export function vectorText(vector: Float32Array): string | null {
  return toSql(Array.from(vector));
}
