import type { TextChunk } from '../chunking/chunker.ts';
import type { DocumentType } from '../documentType.ts';

/** What the parsing thread is started with. */
export interface ParseRequest {
  readonly path: string;
  /** The file's name as it was uploaded. */
  readonly name: string;
  readonly type: DocumentType;
  readonly chunkSize: number;
  readonly chunkOverlap: number;
}

/** From the thread. After `chunks` it waits until it hears `go on`, so that it is never ahead of who keeps them. */
export type ParseMessage =
  | { readonly type: 'chunks'; readonly chunks: readonly TextChunk[] }
  | { readonly type: 'done' }
  /** The document cannot be read. */
  | { readonly type: 'refused'; readonly reason: string }
  /** Something that was not foreseen. */
  | { readonly type: 'broken'; readonly message: string };

export const CONTINUE = 'go on';
