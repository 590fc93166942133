import type { TextChunk } from '../chunking/chunker.ts';
import type { DocumentType } from '../documentType.ts';
import type { TableSize } from '../parse/table.ts';

/** A document that is to be chunked. */
export interface ParseRequest {
  readonly path: string;
  /** Name of the uploaded file. */
  readonly name: string;
  readonly type: DocumentType;
  readonly chunkSize: number;
  readonly chunkOverlap: number;
}

/** A table whose rows are wanted. */
export interface TableRequest {
  readonly path: string;
  readonly type: 'csv' | 'xlsx';
  readonly size: TableSize;
}

/** The cells of a row. */
export type TableRow = readonly string[];
/** What is read of a file: {@link TextChunk} of a document, {@link TableRow} of a table. */
export type ParsedItem = TextChunk | TableRow;

export interface ParseLimits {
  /** The processor time, without the time in which chunks are stored. */
  readonly timeMs: number;
  /** Resident memory of the process. */
  readonly memoryMb: number;
}

/** What a parser's process does, once. */
export interface ParserMethods {
  parse(request: ParseRequest | TableRequest): Promise<ParseEnd>;
}

/** What a parser's process asks. */
export interface ParserEvents {
  /** Resolves when the items are stored, so that they do not pile up. */
  store(items: readonly ParsedItem[]): Promise<void>;
}

/** What the parsers' host does. */
export interface HostMethods {
  /** Parses a file in a process of its own. @param id - Names the parser. */
  parse(id: number, request: ParseRequest | TableRequest, limits: ParseLimits): Promise<ParseEnd>;
  /** Ends a parser at once. */
  stop(id: number): void;
}

/** What the parsers' host asks. @see ParserEvents */
export interface HostEvents {
  store(id: number, items: readonly ParsedItem[]): Promise<void>;
}

/** How the parsing of a file ended. */
export type ParseEnd =
  | { readonly kind: 'done' }
  /** The document is unreadable; the reason is for the user. */
  | { readonly kind: 'refused'; readonly reason: string }
  /** An unexpected error. */
  | { readonly kind: 'broken'; readonly message: string }
  | { readonly kind: 'exceeded'; readonly limit: keyof ParseLimits }
  /** The process ended, and nothing says why. */
  | { readonly kind: 'died'; readonly how: string };
