import { cutPoint } from '../parse/clean.ts';

/** A part of a text by start and end index, without white space at its ends. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Sentences by Unicode's rules, also of Chinese and Japanese. @see UAX #29 */
const SENTENCES = new Intl.Segmenter('und', { granularity: 'sentence' });
/** Words of Chinese, Japanese and Thai, which have no spaces between them, are found by a dictionary. */
const WORDS = new Intl.Segmenter('und', { granularity: 'word' });
const GRAPHEMES = new Intl.Segmenter('und', { granularity: 'grapheme' });

/** Limits in UTF-16 code units. */
export interface SpanLimits {
  /** Of a sentence, or a word, that is not split. */
  readonly maxLength: number;
  /** Of a part of a longer sentence; at most `maxLength`. */
  readonly maxPartLength: number;
}

/** The sentences of a text. A longer one is split between words, or between graphemes where a word is longer still. */
export function* sentenceSpans(text: string, limits: SpanLimits): Generator<Span> {
  for (const { segment, index } of SENTENCES.segment(text)) {
    const span = trimmed(text, index, index + segment.length);
    if (!span) continue;
    if (span.end - span.start <= limits.maxLength) yield span;
    else yield* split(text, span, limits, WORDS);
  }
}

/** Where the first word starts at or after `from`; undefined when none does. */
export function nextWordStart(text: string, from: number): number | undefined {
  for (const { index, isWordLike } of WORDS.segment(text)) {
    if (index >= from && isWordLike) return index;
  }
  return undefined;
}

function* split(text: string, whole: Span, limits: SpanLimits, segmenter: Intl.Segmenter): Generator<Span> {
  let { start, start: end } = whole;
  for (const { segment, index } of segmenter.segment(text.slice(whole.start, whole.end))) {
    const segmentStart = whole.start + index;
    const segmentEnd = segmentStart + segment.length;
    if (segmentEnd - start > limits.maxPartLength) {
      yield* nonEmpty(trimmed(text, start, end));
      start = segmentStart;
    }
    if (segment.length > limits.maxLength) {
      yield* splitSegment(text, { start: segmentStart, end: segmentEnd }, limits, segmenter);
      start = segmentEnd;
    }
    end = segmentEnd;
  }
  yield* nonEmpty(trimmed(text, start, end));
}

function* splitSegment(
  text: string,
  span: Span,
  limits: SpanLimits,
  segmenter: Intl.Segmenter,
): Generator<Span> {
  if (segmenter === WORDS) {
    yield* split(text, span, limits, GRAPHEMES);
    return;
  }
  // One grapheme with more combining marks than a chunk holds.
  for (let { start } = span; start < span.end; ) {
    const end = start + cutPoint(text.slice(start, span.end), limits.maxLength);
    yield { start, end };
    start = end;
  }
}

function nonEmpty(span: Span | undefined): Span[] {
  return span ? [span] : [];
}

function trimmed(text: string, start: number, end: number): Span | undefined {
  let from = start;
  let to = end;
  while (from < to && isSpace(text, from)) from += 1;
  while (to > from && isSpace(text, to - 1)) to -= 1;
  return from < to ? { start: from, end: to } : undefined;
}

function isSpace(text: string, index: number): boolean {
  return /\s/.test(text.charAt(index));
}
