const OF_512 = { name: 'vector_512', type: 'vector(512)' };
const OF_1536 = { name: 'vector_1536', type: 'vector(1536)' };
const OF_3072 = { name: 'vector_3072', type: 'halfvec(3072)' };
export const VECTOR_COLUMNS = {
  'energetic-ai-embeddings-en': OF_512,
  'text-embedding-ada-002': OF_1536,
  'text-embedding-3-small': OF_1536,
  'text-embedding-3-large': OF_3072,
};
/** A vector as pgvector reads it. */
export function vectorText(vector) {
  return `[${vector.join(',')}]`;
}
