import type { Page } from '../base/values/page.ts';
import type { EmbeddingModelName } from '../models/ports/embedder.ts';
import type { Chunk, Dataset, Knowledgebase } from './knowledgebase.ts';

export interface KnowledgebaseStore {
  /** @throws {CallwayError} 400 `knowledgebase_exists`: a project has one. */
  insert(knowledgebase: Knowledgebase): Promise<void>;
  /** Lists the project's knowledge bases, of which there is at most one. */
  list(projectId: string): Promise<Knowledgebase[]>;
  find(projectId: string, knowledgebaseId: string): Promise<Knowledgebase | undefined>;
  /** The project's only knowledgebase, with the number of its vectors. */
  findSearchable(projectId: string): Promise<SearchableKnowledgebase | undefined>;
}

export interface SearchableKnowledgebase {
  readonly id: string;
  readonly encoder: EmbeddingModelName;
  readonly embeddedCount: number;
}

interface NewDataset {
  readonly id: string;
  readonly knowledgebaseId: string;
  readonly name: string;
  readonly mimeType: string;
  readonly bytes: number;
  /** @see DocumentFiles */
  readonly fileKey: string;
  /** ISO 8601. */
  readonly createdAt: string;
}

/** What a worker needs to ingest a dataset. */
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
  /** Attempts that a process did not live to end, and this one. */
  readonly attempts: number;
  /** Since when every attempt failed without storing a vector. */
  readonly failingSince: Date | null;
  /** Whether all of its chunks are stored already. */
  readonly isParsed: boolean;
}

export interface DatasetStore {
  insert(dataset: NewDataset): Promise<void>;
  list(knowledgebaseId: string): Promise<Dataset[]>;
  find(knowledgebaseId: string, datasetId: string): Promise<Dataset | undefined>;
  /** Whether any project has the dataset. */
  exists(datasetId: string): Promise<boolean>;
  /** Removes a dataset with its chunks and vectors, and schedules the removal of its file. */
  remove(knowledgebaseId: string, datasetId: string): Promise<boolean>;
  /** Removes a project's datasets one by one: all of their chunks at once would be too long a transaction. */
  removeAll(projectId: string): Promise<void>;

  /** Counts an attempt. @returns Undefined when the dataset is removed, ready or failed. */
  startIngestion(datasetId: string): Promise<IngestionTask | undefined>;
  /** Removes the attempt from the count, since the node stops before its end. */
  undoAttempt(datasetId: string): Promise<void>;
  /** Records that all chunks are stored. @returns False when the dataset is removed. */
  markParsed(datasetId: string, at: string): Promise<boolean>;
  /** Records a failed attempt that another one follows. */
  postpone(
    datasetId: string,
    failure: { readonly reason: string; readonly failingSince: string },
  ): Promise<void>;
  finish(datasetId: string): Promise<void>;
  /** Forgets the failures of a dataset that is not ready; a failed one is pending again. @returns False when it is ready. */
  restart(datasetId: string, at: string): Promise<boolean>;
  /** Fails a dataset and removes its chunks: a document is searchable as a whole or not at all. */
  fail(datasetId: string, reason: string): Promise<void>;
}

/** A chunk from the parser. */
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
  /** Lists chunks in document order. */
  list(datasetId: string, page: Page): Promise<Chunk[]>;
  /** @returns The updated chunk. */
  setEnabled(datasetId: string, chunkId: string, isEnabled: boolean): Promise<Chunk | undefined>;

  /** Removes all chunks, before the document is parsed again. */
  clear(datasetId: string): Promise<void>;
  /** Chunks that exist are unchanged. @returns False when the dataset is removed. */
  append(
    task: Pick<IngestionTask, 'datasetId' | 'knowledgebaseId'>,
    chunks: readonly NewChunk[],
  ): Promise<boolean>;
  /**
   * Reads one page of the document's chunks.
   *
   * @returns The page's chunks without a vector, and the number of all chunks on it: 0 past the document's end.
   */
  listWithoutVector(
    datasetId: string,
    page: Page,
  ): Promise<{ readonly missing: readonly UnembeddedChunk[]; readonly pageLength: number }>;
  /** @returns False when the dataset is removed. */
  storeVectors(
    task: Pick<IngestionTask, 'datasetId' | 'encoder'>,
    vectors: readonly { readonly chunkId: string; readonly vector: Float32Array }[],
  ): Promise<boolean>;
  /** Does the same as {@link listWithoutVector} for the vectors of their sentences. */
  listWithoutSentences: ChunkStore['listWithoutVector'];
  /** Stores all of a chunk's sentences at once. A chunk that was removed gets none. */
  storeSentences(datasetId: string, chunkId: string, vectors: readonly Float32Array[]): Promise<void>;
}

/** A search result. */
export interface FoundChunk extends Chunk {
  /** Cosine similarity to the query, -1 to 1. */
  readonly score: number;
  readonly datasetId: string;
  readonly datasetName: string;
}

/** A search result by shared words. */
export interface MatchingChunk extends FoundChunk {
  /** The share of the query's words that it has, weighted by inverse document frequency; above 0, at most 1. */
  readonly wordShare: number;
}

export interface ChunkQuery {
  readonly knowledgebase: SearchableKnowledgebase;
  readonly vector: Float32Array;
  readonly limit: number;
}

/** Searches the enabled chunks of one knowledgebase. */
export interface ChunkSearch {
  /** Finds chunks by vector, nearest first. */
  nearest(query: ChunkQuery): Promise<FoundChunk[]>;
  /**
   * Finds chunks by vector and by words, each best first, from one snapshot.
   *
   * @returns `matching` has the `limit` best by words, and those of `nearest` that share any.
   */
  nearestAndMatching(
    query: ChunkQuery & { readonly text: string },
  ): Promise<{ nearest: FoundChunk[]; matching: MatchingChunk[] }>;
}
