import type { TextChunk } from '../chunking/chunker.ts';
import type { DocumentType } from '../documentType.ts';

/** The thread's `workerData`. */
export interface ParseRequest {
  readonly path: string;
  /** Name of the uploaded file. */
  readonly name: string;
  readonly type: DocumentType;
  readonly chunkSize: number;
  readonly chunkOverlap: number;
}

/** From the thread. After `chunks` it waits for {@link CONTINUE}, so that chunks do not pile up. */
export type ParseMessage =
  | { readonly type: 'chunks'; readonly chunks: readonly TextChunk[] }
  | { readonly type: 'done' }
  /** The document is unreadable; the reason is for the user. */
  | { readonly type: 'refused'; readonly reason: string }
  /** An unexpected error. */
  | { readonly type: 'broken'; readonly message: string };

export const CONTINUE = 'continue';
