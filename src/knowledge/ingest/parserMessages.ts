import type { TextChunk } from '../chunking/chunker.ts';
import type { DocumentType } from '../documentType.ts';

export interface ParseRequest {
  readonly path: string;
  /** Name of the uploaded file. */
  readonly name: string;
  readonly type: DocumentType;
  readonly chunkSize: number;
  readonly chunkOverlap: number;
}

export interface ParseLimits {
  /** The processor time, without the time in which chunks are stored. */
  readonly timeMs: number;
  /** Resident memory of the process. */
  readonly memoryMb: number;
}

/** A parser's message. After `chunks` it waits to be told to continue, so that chunks do not pile up. */
export type ParseMessage =
  | { readonly kind: 'chunks'; readonly chunks: readonly TextChunk[] }
  | { readonly kind: 'done' }
  /** The document is unreadable; the reason is for the user. */
  | { readonly kind: 'refused'; readonly reason: string }
  /** An unexpected error. */
  | { readonly kind: 'broken'; readonly message: string };

/** The end of a parser that sent no last message. */
export type ParserEnd =
  | { readonly kind: 'exceeded'; readonly limit: keyof ParseLimits }
  | { readonly kind: 'died'; readonly how: string };

/** An order to the parsers' host; `id` names the parser. */
export type HostOrder = { readonly id: number } & (
  | { readonly kind: 'start'; readonly request: ParseRequest; readonly limits: ParseLimits }
  | { readonly kind: 'goOn' | 'stop' }
);

/** A message from the parsers' host. */
export type HostMessage = { readonly id: number } & (ParseMessage | ParserEnd);
