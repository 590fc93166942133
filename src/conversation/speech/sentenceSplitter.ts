import { isSpoken } from './editedText.ts';
import { UNSPACED_SCRIPT } from './scripts.ts';

/** Splits streamed text into pieces to be spoken, sentences as a rule. The pieces joined are the text. */
export interface SentenceSplitter {
  /** @returns The pieces that this text completes. */
  push(text: string): string[];
  /** Ends the text. @returns The remaining pieces. */
  flush(): string[];
}

/** The first piece may end at a clause of this many words, so that the agent speaks sooner; any piece in Thai. */
const MIN_CLAUSE_WORDS = 4;
/** A longer sentence is cut at a clause, or between words. */
const MAX_PIECE_CHARACTERS = 240;

const UNSPACED_CHARACTER = new RegExp(UNSPACED_SCRIPT, 'gv');
/** Scripts with spaces between clauses and sentences alone, and without full stops. */
const SPACED_CLAUSES = '[\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}]';
const SPACED_CLAUSE_CHARACTER = new RegExp(SPACED_CLAUSES, 'gv');
const CLOSING_MARKS = '["\'”’»」』）)\\]]*';
/**
 * Full stops of scripts that need no space after them: Chinese, Japanese, Urdu, Arabic, Hindi, Armenian, Ethiopic,
 * Burmese, Khmer.
 */
const FULL_STOPS = '[。！？；｡．۔؟।॥։።፧။។]';
/** Latin full stops need a space after them. */
const SENTENCE_END = new RegExp(
  `(?:[.!?…]+${CLOSING_MARKS}(?=\\s)|${FULL_STOPS}+${CLOSING_MARKS}|\\n|(?<=${SPACED_CLAUSES}) (?=\\S))\\s*`,
  'gu',
);
const CLAUSE_END = new RegExp(
  `(?:[,;:](?=\\s)|[，、：،؛၊]|\\s[–—](?=\\s)|(?<=${SPACED_CLAUSES})(?= ))\\s*`,
  'gu',
);
const ABBREVIATIONS = new Set(
  'mr mrs ms mx dr prof sr jr st mt vs etc e.g i.e approx no tel ext inc ltd co dept fig vol a.m p.m u.s u.k'.split(
    ' ',
  ),
);

export function createSentenceSplitter(): SentenceSplitter {
  let rest = '';
  let isFirst = true;
  const take = (isLast: boolean): string[] => {
    const pieces: string[] = [];
    for (let end = nextEnd(rest, isFirst, isLast); end > 0; end = nextEnd(rest, isFirst, isLast)) {
      const piece = rest.slice(0, end);
      rest = rest.slice(end);
      if (!isSpoken(piece) && pieces.length === 0 && !isLast) {
        // Marks without words belong to the next piece.
        rest = piece + rest;
        break;
      }
      pieces.push(piece);
      isFirst = false;
    }
    return pieces;
  };
  return {
    push(text) {
      rest += text;
      return take(false);
    },
    flush() {
      const pieces = take(true);
      if (rest !== '') pieces.push(rest);
      rest = '';
      return pieces;
    },
  };
}

/** @returns Length of the next piece; 0 while it is incomplete. */
function nextEnd(text: string, isFirst: boolean, isLast: boolean): number {
  const sentence = firstMatch(text, SENTENCE_END, (at, end) => isSentenceEnd(text, at, end, isLast));
  if (isFirst) {
    const clause = firstMatch(text, CLAUSE_END, (at) => wordCount(text.slice(0, at)) >= MIN_CLAUSE_WORDS);
    const isEarlier = clause > 0 && (sentence === 0 || clause < sentence);
    // The rest of the sentence must be long enough for a piece of its own.
    if (isEarlier && (sentence === 0 || wordCount(text.slice(clause, sentence)) >= MIN_CLAUSE_WORDS))
      return clause;
  }
  if (sentence > 0 && sentence <= MAX_PIECE_CHARACTERS) return sentence;
  return text.length > MAX_PIECE_CHARACTERS ? cutLong(text) : sentence;
}

function firstMatch(text: string, pattern: RegExp, holds: (at: number, end: number) => boolean): number {
  for (const match of text.matchAll(pattern)) {
    const end = match.index + match[0].length;
    if (holds(match.index, end)) return end;
  }
  return 0;
}

function isSentenceEnd(text: string, at: number, end: number, isLast: boolean): boolean {
  if (text[at] === ' ') return wordCount(text.slice(0, at)) >= MIN_CLAUSE_WORDS;
  if (text[at] !== '.') return true;
  const word = /(\S+)$/.exec(text.slice(0, at))?.[1]?.toLowerCase().replace(/^\W+/, '') ?? '';
  if (ABBREVIATIONS.has(word) || /^\p{L}$/u.test(word)) return false;
  const next = text[end];
  if (next === undefined) return isLast || /\s$/.test(text);
  return !/\p{Ll}/u.test(next);
}

function cutLong(text: string): number {
  const head = text.slice(0, MAX_PIECE_CHARACTERS);
  const clauses = [...head.matchAll(CLAUSE_END)].map((match) => match.index + match[0].length);
  const space = head.lastIndexOf(' ') + 1;
  return clauses.at(-1) ?? (space > 0 ? space : lastWholeCharacter(text));
}

/** A character of several code units, or with signs above or below it, is not cut. */
function lastWholeCharacter(text: string): number {
  const [next] = /^(?:[\uDC00-\uDFFF]|\p{M}|\u200d)+/u.exec(text.slice(MAX_PIECE_CHARACTERS)) ?? [];
  return MAX_PIECE_CHARACTERS + (next?.length ?? 0);
}

/** Number of words; of scripts that write no spaces between words, two Chinese characters or four Thai ones are a word. */
function wordCount(text: string): number {
  const unspaced = text.match(UNSPACED_CHARACTER)?.length ?? 0;
  const spacedClauses = text.match(SPACED_CLAUSE_CHARACTER)?.length ?? 0;
  const others = text.replace(UNSPACED_CHARACTER, ' ').replace(SPACED_CLAUSE_CHARACTER, ' ');
  const words = others.match(/[\p{L}\p{N}\p{M}'’-]+/gu)?.length ?? 0;
  return words + unspaced / 2 + spacedClauses / 4;
}
