import { z } from 'zod';

import type { EmbeddingModelName, OpenAiEmbeddingModelName } from '../models/ports/embedder.ts';

const DEFAULT_CHUNK_SIZE = 500;
const DEFAULT_CHUNK_OVERLAP = 50;
const CHUNK_SIZE = { min: 50, max: 8_000 } as const;
const MAX_NAME_CHARACTERS = 128;

const EMBEDDING_MODELS = [
  'text-embedding-ada-002',
  'text-embedding-3-small',
  'text-embedding-3-large',
] as const satisfies readonly OpenAiEmbeddingModelName[];

const fields = {
  name: z.string().min(1).max(MAX_NAME_CHARACTERS),
  type: z.literal('pgvector'),
  embeddingModelName: z.enum(EMBEDDING_MODELS).describe('Cannot be changed later.'),
  chunkSize: z.int().min(CHUNK_SIZE.min).max(CHUNK_SIZE.max).describe('Maximum characters of a chunk.'),
  chunkOverlap: z
    .int()
    .min(0)
    .describe('Characters that a chunk repeats from the one before it; below chunkSize.'),
};

/** The body of a create request. */
export const knowledgebaseInput = z
  .strictObject({
    ...fields,
    chunkSize: fields.chunkSize.default(DEFAULT_CHUNK_SIZE),
    chunkOverlap: fields.chunkOverlap.default(DEFAULT_CHUNK_OVERLAP),
  })
  .refine(({ chunkSize, chunkOverlap }) => chunkOverlap < chunkSize, {
    path: ['chunkOverlap'],
    message: '{field} must be below chunkSize',
  });

/** A knowledge base in API responses. */
export const knowledgebase = z.object({ id: z.string(), ...fields }).meta({ id: 'Knowledgebase' });

/** A project's documents, split into chunks and embedded. */
export interface Knowledgebase extends z.infer<typeof knowledgebase> {
  readonly projectId: string;
  /** The model that makes the vectors; differs from `embeddingModelName` where the local model embeds. */
  readonly encoder: EmbeddingModelName;
  /** ISO 8601. */
  readonly createdAt: string;
}

export const dataset = z
  .object({
    id: z.string(),
    name: z.string().describe('Name of the uploaded file.'),
    mimeType: z.string().describe('Detected from the content, not the name.'),
    bytes: z.number(),
    status: z
      .enum(['pending', 'processing', 'ready', 'failed'])
      .describe('`pending` while queued; `ready` when all chunks are searchable.'),
    error: z
      .string()
      .optional()
      .describe('Why ingestion failed; while `processing`, why its last attempt did.'),
    nextAttemptAt: z.iso
      .datetime()
      .optional()
      .describe('When ingestion is tried again after a temporary failure.'),
    chunkCount: z.int(),
    embeddedCount: z.int().describe('How many chunks are searchable already.'),
    encoder: z.string().describe('The model that makes the vectors.'),
    createdAt: z.iso.datetime(),
  })
  .meta({ id: 'Dataset' });

/** One uploaded document. */
export type Dataset = z.infer<typeof dataset>;

export const chunk = z
  .object({
    id: z.string(),
    content: z.string(),
    contentLength: z.int().describe('Characters of the content, in UTF-16 code units.'),
    isEnabled: z.boolean().describe('Whether search includes it.'),
    startOffset: z.int().describe('Start in the document’s cleaned text.'),
    endOffset: z.int(),
  })
  .meta({ id: 'Chunk' });

/** A part of a document. */
export type Chunk = z.infer<typeof chunk>;
