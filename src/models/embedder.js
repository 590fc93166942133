/** The encoder that ships with the service: for English sentences. */
export const LOCAL_ENCODER = { name: 'energetic-ai-embeddings-en', dimensions: 512 };
export const OPENAI_ENCODERS = {
  'text-embedding-ada-002': { name: 'text-embedding-ada-002', dimensions: 1536 },
  'text-embedding-3-small': { name: 'text-embedding-3-small', dimensions: 1536 },
  'text-embedding-3-large': { name: 'text-embedding-3-large', dimensions: 3072 },
};
