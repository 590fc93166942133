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

/** Words are seldom longer. */
const LOOK_AHEAD = 64;

/** Limits in UTF-16 code units. */
export interface SpanLimits {
  /** The longest sentence or word that is not split. */
  readonly maxLength: number;
  /** The longest part of a longer sentence; at most `maxLength`. */
  readonly maxPartLength: number;
}

/** The sentences of a text. A longer one is split between words, or between graphemes where a word is longer still. */
export function* sentenceSpans(text: string, limits: SpanLimits): Generator<Span> {
  for (const { segment, index } of SENTENCES.segment(text)) {
    const span = trimmed(text, index, index + segment.length);
    if (!span) continue;
    if (span.end - span.start <= limits.maxLength) yield span;
    else yield* split(text, span, limits);
  }
}

/** Returns where the first word starts at or after `from`; undefined when none does. */
export function nextWordStart(text: string, from: number): number | undefined {
  for (const { index, isWordLike } of WORDS.segment(text)) {
    if (index >= from && isWordLike) return index;
  }
  return undefined;
}

/** Looks at each part alone, not at each word: a text of punctuation has as many "words" as characters. */
function* split(text: string, { start, end }: Span, limits: SpanLimits): Generator<Span> {
  for (let from = start; from < end; ) {
    // Where a word ends depends on what follows it.
    const window = text.slice(from, Math.min(end, from + limits.maxLength + LOOK_AHEAD));
    const length = window.length <= limits.maxPartLength ? window.length : partLength(window, limits);
    const span = trimmed(text, from, from + length);
    if (span) yield span;
    from += length;
  }
}

/** The longest part that ends between two words, a whole word that is longer, or one that ends between two graphemes. */
function partLength(window: string, { maxLength, maxPartLength }: SpanLimits): number {
  const word = WORDS.segment(window).containing(maxPartLength);
  if (word && word.index > 0) return word.index;
  if (word && word.segment.length <= maxLength) return word.segment.length;
  // It is 0 in one grapheme with more combining marks than a chunk holds.
  return GRAPHEMES.segment(window).containing(maxPartLength)?.index || cutPoint(window, maxLength);
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
