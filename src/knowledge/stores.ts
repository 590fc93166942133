import type { Page } from '../base/page.ts';
import type { EmbeddingModelName } from '../providers/ports/embedder.ts';
import type { Chunk, Dataset, Knowledgebase } from './knowledgebase.ts';

export interface KnowledgebaseStore {
  /** @throws {CallwayError} 400 `knowledgebase_exists`: a project has one. */
  insert(knowledgebase: Knowledgebase): Promise<void>;
  /** One at most. */
  list(projectId: string): Promise<Knowledgebase[]>;
  find(projectId: string, knowledgebaseId: string): Promise<Knowledgebase | undefined>;
  /** @returns The project's only one, where there is one, with how many vectors it has. */
  findSearchable(projectId: string): Promise<SearchableKnowledgebase | undefined>;
}

export interface SearchableKnowledgebase {
  readonly id: string;
  readonly encoder: EmbeddingModelName;
  readonly embeddedCount: number;
}

export interface NewDataset {
  readonly id: string;
  readonly knowledgebaseId: string;
  readonly name: string;
  readonly mimeType: string;
  readonly bytes: number;
  /** Of its file. @see DocumentFiles */
  readonly fileKey: string;
  /** ISO 8601. */
  readonly createdAt: string;
}

/** What a worker must know to make a dataset ready. */
export interface IngestionTask {
  readonly datasetId: string;
  readonly knowledgebaseId: string;
  readonly projectId: string;
  readonly name: string;
  readonly mimeType: string;
  readonly fileKey: string;
  readonly encoder: EmbeddingModelName;
  readonly chunkSize: number;
  readonly chunkOverlap: number;
  /** This one counted. */
  readonly attempts: number;
  /** Whether all of its chunks are kept already. */
  readonly isParsed: boolean;
}

export interface DatasetStore {
  insert(dataset: NewDataset): Promise<void>;
  list(knowledgebaseId: string): Promise<Dataset[]>;
  find(knowledgebaseId: string, datasetId: string): Promise<Dataset | undefined>;
  /** Whether there is such a one anywhere. */
  exists(datasetId: string): Promise<boolean>;
  /** Takes its chunks and their vectors with it, and notes its file for removal. */
  remove(knowledgebaseId: string, datasetId: string): Promise<boolean>;
  /** All of a project's, one after the other: for a project that goes, which would take too many chunks with it at once. */
  removeAll(projectId: string): Promise<void>;

  /** Counts an attempt. @returns `undefined` when it is gone, ready or failed. */
  startIngestion(datasetId: string, at: string): Promise<IngestionTask | undefined>;
  /** All of its chunks are kept. @returns False when it is gone. */
  markParsed(datasetId: string, at: string): Promise<boolean>;
  finish(datasetId: string, at: string): Promise<void>;
  /** Takes away what was kept of it first: a document is found whole or not at all. */
  fail(datasetId: string, reason: string, at: string): Promise<void>;
  /** Those that nobody has touched since then, the oldest first. */
  listUnfinished(before: string, limit: number): Promise<{ datasetId: string; projectId: string }[]>;
}

/** A chunk as the parser makes it. */
export interface NewChunk {
  readonly id: string;
  readonly position: number;
  readonly content: string;
  readonly startOffset: number;
  readonly endOffset: number;
}

export interface UnembeddedChunk {
  readonly id: string;
  readonly content: string;
}

export interface ChunkStore {
  /** In the order of the document, from a position on. */
  list(datasetId: string, page: Page): Promise<Chunk[]>;
  /** @returns The chunk as it is now. */
  setEnabled(datasetId: string, chunkId: string, isEnabled: boolean): Promise<Chunk | undefined>;

  /** Before the document is parsed anew. */
  clear(datasetId: string): Promise<void>;
  /** What is there already stays as it is. @returns False when the dataset is gone. */
  append(
    task: Pick<IngestionTask, 'datasetId' | 'knowledgebaseId'>,
    chunks: readonly NewChunk[],
  ): Promise<boolean>;
  /**
   * Looks through one page of the document, and at nothing else of it.
   *
   * @returns Its chunks without a vector, and how many chunks it has in all: none behind the document's end.
   */
  listWithoutVector(
    datasetId: string,
    page: Page,
  ): Promise<{ readonly missing: readonly UnembeddedChunk[]; readonly pageLength: number }>;
  /** @returns False when the dataset is gone. */
  storeVectors(
    task: Pick<IngestionTask, 'datasetId' | 'encoder'>,
    vectors: readonly { readonly chunkId: string; readonly vector: Float32Array }[],
    at: string,
  ): Promise<boolean>;
}

/** Files whose dataset is gone. */
export interface FileRemovalStore {
  list(limit: number): Promise<string[]>;
  markDone(fileKey: string): Promise<void>;
}

/** A chunk that was found. */
export interface FoundChunk extends Chunk {
  /** Cosine similarity to the query, -1 to 1. */
  readonly score: number;
  readonly datasetId: string;
  /** The dataset's. */
  readonly datasetName: string;
}

/** A chunk that shares words with a question. */
export interface MatchingChunk extends FoundChunk {
  /** How much of the question's words it has, each weighed by how well it tells chunks apart; above 0, at most 1. */
  readonly wordShare: number;
}

export interface ChunkQuery {
  readonly knowledgebase: SearchableKnowledgebase;
  readonly vector: Float32Array;
  readonly limit: number;
}

/** Searches the enabled chunks of one knowledgebase. */
export interface ChunkSearch {
  /** The nearest first. */
  nearest(query: ChunkQuery): Promise<FoundChunk[]>;
  /**
   * The nearest, and those that share words with the text, each the best first; seen at the same moment.
   *
   * @returns `matching` has the `limit` that share most, and what else shares words among the nearest.
   */
  nearestAndMatching(
    query: ChunkQuery & { readonly text: string },
  ): Promise<{ nearest: FoundChunk[]; matching: MatchingChunk[] }>;
}
