import { z } from 'zod';

import type { EmbeddingModelName, OpenAiEmbeddingModelName } from '../providers/ports/embedder.ts';

export const DEFAULT_CHUNK_SIZE = 500;
export const DEFAULT_CHUNK_OVERLAP = 50;
const CHUNK_SIZE = { least: 50, most: 8_000 } as const;
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
  chunkSize: z.int().min(CHUNK_SIZE.least).max(CHUNK_SIZE.most).describe('Most characters of a chunk.'),
  chunkOverlap: z.int().min(0).describe('Characters that neighbouring chunks share; below chunkSize.'),
};

/** What a user sends to make one. */
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

/** As it is shown. */
export const knowledgebase = z.object({ id: z.string(), ...fields }).meta({ id: 'Knowledgebase' });

/** A project's documents, cut into chunks and embedded. */
export interface Knowledgebase extends z.infer<typeof knowledgebase> {
  readonly projectId: string;
  /** What really makes the vectors; differs from the model's name where the service embeds by itself. */
  readonly encoder: EmbeddingModelName;
  /** ISO 8601. */
  readonly createdAt: string;
}

export const dataset = z
  .object({
    id: z.string(),
    name: z.string().describe('The file’s name as it was uploaded.'),
    mimeType: z.string().describe('By the content; the name does not count.'),
    bytes: z.number(),
    status: z
      .enum(['pending', 'processing', 'ready', 'failed'])
      .describe('`pending` until its turn has come; `ready` when all of it can be found.'),
    error: z.string().optional().describe('Why it failed.'),
    chunkCount: z.int(),
    embeddedCount: z.int().describe('How many of the chunks can be found already.'),
    encoder: z.string().describe('What really makes the vectors.'),
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
    isEnabled: z.boolean().describe('Whether it takes part in search.'),
    startOffset: z.int().describe('Where it begins in the document’s cleaned text.'),
    endOffset: z.int(),
  })
  .meta({ id: 'Chunk' });

/** A part of a document, as small as an answer needs it. */
export type Chunk = z.infer<typeof chunk>;
