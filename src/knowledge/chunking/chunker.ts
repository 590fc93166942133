import type { Block } from '../parse/block.ts';
import { cleanText, cutPoint, MAX_BLOCK_CHARACTERS } from '../parse/clean.ts';
import { nextWordStart, type Span, type SpanLimits, sentenceSpans } from './segments.ts';

/** A part of a document's cleaned text. */
export interface TextChunk {
  readonly position: number;
  readonly content: string;
  /** The position in the document's cleaned text, in UTF-16 code units. */
  readonly startOffset: number;
  readonly endOffset: number;
}

export interface ChunkerOptions {
  /** Maximum characters of a chunk, in UTF-16 code units. */
  readonly size: number;
  /** Maximum characters that a chunk repeats from the one before it; below `size`. */
  readonly overlap: number;
}

/** Lines, brackets and dots alone answer no question. */
const WITH_MEANING = /[\p{L}\p{N}\p{So}\p{Sc}]/u;
/** A heading starts a new chunk when the open one has this share of its size. */
const HEADING_BREAK_SHARE = 1 / 3;
/** Minimum share of a chunk that is not overlap, in a text without sentence marks: bounds the number of chunks. */
const MIN_NEW_SHARE = 1 / 2;

/**
 * Splits a document into chunks of whole sentences while it is read; keeps a block and a chunk in memory. A sentence
 * that is longer than a chunk is split between words. A heading goes with what follows it. Each chunk repeats the end of
 * the one before it, from the start of a sentence or at least of a word, but not across a heading.
 */
export class Chunker {
  readonly #size: number;
  readonly #overlap: number;
  readonly #spanLimits: SpanLimits;
  #text = '';
  /** Offset of `#text` in the document, whose finished part is dropped. */
  #textOffset = 0;
  #lastKind: Block['kind'] | undefined;
  #open: Span[] = [];
  /** The number of headings at the end of the open chunk. */
  #openHeadings = 0;
  #finished: TextChunk[] = [];
  #nextPosition = 0;

  constructor({ size, overlap }: ChunkerOptions) {
    this.#size = size;
    this.#overlap = overlap;
    // Parts of a long sentence leave room for the overlap.
    const maxPartLength = Math.max(size - overlap, Math.ceil(size * MIN_NEW_SHARE));
    this.#spanLimits = { maxLength: size, maxPartLength };
  }

  /** A block without letters, numbers or symbols is left out. @returns The chunks that this block completes. */
  push({ kind, text }: Block): TextChunk[] {
    const finished: TextChunk[] = [];
    for (let rest = text; rest !== ''; ) {
      const cut = cutPoint(rest, MAX_BLOCK_CHARACTERS);
      this.#addPart(cleanText(rest.slice(0, cut)), kind);
      finished.push(...this.#takeFinished());
      rest = rest.slice(cut);
    }
    return finished;
  }

  /** @returns The last chunks. */
  end(): TextChunk[] {
    this.#finish(this.#open);
    this.#open = [];
    return this.#takeFinished();
  }

  #addPart(cleaned: string, kind: Block['kind']): void {
    if (!WITH_MEANING.test(cleaned)) return;
    const start = this.#append(cleaned, kind);
    for (const span of sentenceSpans(cleaned, this.#spanLimits))
      this.#add({ start: start + span.start, end: start + span.end }, kind === 'heading');
  }

  /** @returns Offset of the text in the document. */
  #append(cleaned: string, kind: Block['kind']): number {
    const isNextRow = kind === 'row' && this.#lastKind === 'row';
    const separator = this.#lastKind === undefined ? '' : isNextRow ? '\n' : '\n\n';
    this.#lastKind = kind;
    const start = this.#textOffset + this.#text.length + separator.length;
    this.#text += separator + cleaned;
    return start;
  }

  #add(span: Span, isHeading: boolean): void {
    if (isHeading) this.#breakBeforeHeading(span);
    if (this.#open.length > 0 && this.#lengthWith(span) > this.#size) this.#breakBefore(span);
    this.#open.push(span);
    this.#openHeadings = isHeading ? this.#openHeadings + 1 : 0;
  }

  #lengthWith(span: Span): number {
    return span.end - (this.#open[0]?.start ?? span.start);
  }

  #breakBeforeHeading(heading: Span): void {
    const [first, last] = [this.#open[0], this.#open.at(-1)];
    if (!first || !last || this.#openHeadings === this.#open.length) return;
    const isShort = last.end - first.start < this.#size * HEADING_BREAK_SHARE;
    if (isShort && this.#lengthWith(heading) <= this.#size) return;
    this.#finish(this.#open);
    this.#open = [];
    this.#openHeadings = 0;
  }

  /** Headings at the end of the open chunk move to the next one where they fit. */
  #breakBefore(span: Span): void {
    const hasOnlyHeadings = this.#openHeadings === this.#open.length;
    const headings = hasOnlyHeadings ? [] : this.#open.slice(this.#open.length - this.#openHeadings);
    const closed = this.#open.slice(0, this.#open.length - headings.length);
    this.#finish(closed);
    const [firstHeading] = headings;
    if (!firstHeading) this.#open = this.#overlapOf(closed, span);
    else if (span.end - firstHeading.start <= this.#size) this.#open = headings;
    else {
      this.#finish(headings);
      this.#open = [];
    }
    this.#openHeadings = Math.min(this.#openHeadings, this.#open.length);
  }

  #overlapOf(closed: readonly Span[], next: Span): Span[] {
    const [first, last] = [closed[0], closed.at(-1)];
    if (this.#overlap === 0 || !first || !last) return [];
    const earliest = Math.max(first.start + 1, last.end - this.#overlap, next.end - this.#size);
    if (earliest >= last.end) return [];
    const sentences = closed.filter(({ start }) => start >= earliest);
    if (sentences.length > 0) return sentences;
    const word = nextWordStart(this.#slice(last), earliest - last.start);
    return word === undefined ? [] : [{ start: last.start + word, end: last.end }];
  }

  #finish(spans: readonly Span[]): void {
    const [first, last] = [spans[0], spans.at(-1)];
    if (!first || !last) return;
    const span = { start: first.start, end: last.end };
    const content = this.#slice(span);
    const position = this.#nextPosition;
    this.#finished.push({ position, content, startOffset: span.start, endOffset: span.end });
    this.#nextPosition += 1;
  }

  #slice({ start, end }: Span): string {
    return this.#text.slice(start - this.#textOffset, end - this.#textOffset);
  }

  /** Drops the text before the open chunk. */
  #takeFinished(): TextChunk[] {
    const documentEnd = this.#textOffset + this.#text.length;
    const openStart = this.#open[0]?.start ?? documentEnd;
    this.#text = this.#text.slice(openStart - this.#textOffset);
    this.#textOffset = openStart;
    const finished = this.#finished;
    this.#finished = [];
    return finished;
  }
}
