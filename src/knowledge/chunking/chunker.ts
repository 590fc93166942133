import type { Block } from '../parse/block.ts';
import { cleanText } from '../parse/clean.ts';
import { firstWordFrom, type Span, sentenceSpans } from './segments.ts';

/** A part of a document's cleaned text. */
export interface TextChunk {
  readonly position: number;
  readonly content: string;
  /** In the document's cleaned text, in UTF-16 code units. */
  readonly startOffset: number;
  readonly endOffset: number;
}

export interface ChunkerOptions {
  /** Most characters of a chunk, in UTF-16 code units. */
  readonly size: number;
  /** Most characters that a chunk takes over from the one before it. */
  readonly overlap: number;
}

/** Cuts a document while it comes; needs no more memory than a block and a chunk. */
export interface Chunker {
  push(block: Block): TextChunk[];
  end(): TextChunk[];
  /** Characters of cleaned text so far. */
  readonly length: number;
}

/** A heading begins a new chunk where the one before it has come to this share of its size. */
const HEADING_BREAK_SHARE = 1 / 3;

/**
 * Gathers sentences into chunks: as many as fit, never parted where they need not be. A heading goes with what
 * follows it. Each chunk begins with the end of the one before it, from the beginning of a sentence, or at least of a
 * word, within the overlap; not so after a heading, since there another matter begins.
 */
export function createChunker({ size, overlap }: ChunkerOptions): Chunker {
  let text = '';
  /** Offset of `text`, of which what is done is dropped. */
  let base = 0;
  let lastKind: Block['kind'] | undefined;
  let open: Span[] = [];
  /** How many spans at the end of the open chunk are headings. */
  let headings = 0;
  let done: TextChunk[] = [];
  let position = 0;

  const lengthWith = (span: Span) => span.end - (open[0]?.start ?? span.start);

  const emit = (spans: readonly Span[]) => {
    const [first, last] = [spans[0], spans.at(-1)];
    if (!first || !last) return;
    const content = text.slice(first.start - base, last.end - base);
    done.push({ position, content, startOffset: first.start, endOffset: last.end });
    position += 1;
  };
  const breakBeforeHeading = (span: Span) => {
    const start = open[0]?.start;
    if (start === undefined || headings === open.length) return;
    const length = (open.at(-1)?.end ?? start) - start;
    if (length < size * HEADING_BREAK_SHARE && lengthWith(span) <= size) return;
    emit(open);
    open = [];
    headings = 0;
  };
  const breakBefore = (span: Span) => {
    const kept = headings > 0 && headings < open.length ? open.slice(-headings) : [];
    const closed = open.slice(0, open.length - kept.length);
    emit(closed);
    const keptStart = kept[0]?.start;
    if (keptStart !== undefined && span.end - keptStart <= size) {
      open = kept;
      return;
    }
    if (keptStart !== undefined) {
      emit(kept);
      open = [];
      return;
    }
    open = overlapOf(closed, span);
  };
  const overlapOf = (closed: readonly Span[], next: Span): Span[] => {
    const last = closed.at(-1);
    const first = closed[0];
    if (overlap === 0 || !last || !first) return [];
    const earliest = Math.max(first.start + 1, last.end - overlap, next.end - size);
    if (earliest >= last.end) return [];
    const whole = closed.filter(({ start }) => start >= earliest);
    if (whole.length > 0) return whole;
    const word = firstWordFrom(text.slice(last.start - base, last.end - base), earliest - last.start);
    return word === undefined ? [] : [{ start: last.start + word, end: last.end }];
  };
  const take = (span: Span, isHeading: boolean) => {
    if (isHeading) breakBeforeHeading(span);
    if (open.length > 0 && lengthWith(span) > size) breakBefore(span);
    open.push(span);
    headings = isHeading ? headings + 1 : 0;
  };
  const drop = () => {
    const from = (open[0]?.start ?? base + text.length) - base;
    text = text.slice(from);
    base += from;
  };
  const taken = () => {
    const result = done;
    done = [];
    return result;
  };

  return {
    push({ kind, text: raw }) {
      const cleaned = cleanText(raw);
      if (cleaned === '') return [];
      const separator = lastKind === undefined ? '' : kind === 'row' && lastKind === 'row' ? '\n' : '\n\n';
      lastKind = kind;
      const start = base + text.length + separator.length;
      text += separator + cleaned;
      for (const span of sentenceSpans(cleaned, size)) {
        take({ start: start + span.start, end: start + span.end }, kind === 'heading');
      }
      drop();
      return taken();
    },
    end() {
      emit(open);
      open = [];
      drop();
      return taken();
    },
    get length() {
      return base + text.length;
    },
  };
}
