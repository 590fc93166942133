import { cutPoint } from '../parse/clean.ts';

/** A part of a text, from and to these indices; without spaces at its ends. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Sentences by Unicode's rules, which hold for Chinese and Japanese as for English. @see UAX #29 */
const SENTENCES = new Intl.Segmenter('und', { granularity: 'sentence' });
/** Words of Chinese, Japanese and Thai, which have no spaces between them, come from a dictionary. */
const WORDS = new Intl.Segmenter('und', { granularity: 'word' });
const CHARACTERS = new Intl.Segmenter('und', { granularity: 'grapheme' });

/**
 * The sentences of a text; one that is too long in parts, cut between words where that can be, and else between
 * characters as a reader sees them.
 *
 * @param most - No span is longer.
 */
export function* sentenceSpans(text: string, most: number): Generator<Span> {
  for (const { segment, index } of SENTENCES.segment(text)) {
    const span = trimmed(text, index, index + segment.length);
    if (!span) continue;
    if (span.end - span.start <= most) yield span;
    else yield* split(text, span, most, WORDS);
  }
}

/** Where the first word at or after `from` begins; `undefined` when none does before the end. */
export function firstWordFrom(text: string, from: number): number | undefined {
  for (const { index, isWordLike } of WORDS.segment(text)) {
    if (index >= from && isWordLike) return index;
  }
  return undefined;
}

function* split(text: string, whole: Span, most: number, segmenter: Intl.Segmenter): Generator<Span> {
  let start = whole.start;
  let end = whole.start;
  const part = function* (): Generator<Span> {
    const span = trimmed(text, start, end);
    if (span) yield span;
  };
  for (const { segment, index } of segmenter.segment(text.slice(whole.start, whole.end))) {
    const from = whole.start + index;
    const to = from + segment.length;
    if (to - start > most) {
      yield* part();
      start = from;
      if (segment.length > most) {
        yield* smaller(text, { start: from, end: to }, most, segmenter);
        start = to;
      }
    }
    end = to;
  }
  yield* part();
}

function* smaller(text: string, span: Span, most: number, segmenter: Intl.Segmenter): Generator<Span> {
  if (segmenter === WORDS) {
    yield* split(text, span, most, CHARACTERS);
    return;
  }
  // One character of more marks than a chunk can hold.
  for (let { start } = span; start < span.end; ) {
    const end = start + cutPoint(text.slice(start, span.end), most);
    yield { start, end };
    start = end;
  }
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
