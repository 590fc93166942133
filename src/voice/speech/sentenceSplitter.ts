/** Splits streamed text into pieces to be spoken, sentences as a rule. The pieces joined are the text. */
export interface SentenceSplitter {
  /** @returns The pieces that this text completes. */
  push(text: string): string[];
  /** Ends the text. @returns The remaining pieces. */
  flush(): string[];
}

/** The first piece may end at a clause of this many words, so that the agent speaks sooner. */
const MIN_FIRST_CLAUSE_WORDS = 4;
/** A longer sentence is cut at a clause, or between words. */
const MAX_PIECE_CHARACTERS = 240;

const UNSPACED_SCRIPT = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/gu;
const CLOSING_MARKS = '["\'”’»」』）)\\]]*';
/** Latin full stops need a space after them, Chinese and Japanese ones do not. */
const SENTENCE_END = new RegExp(
  `(?:[.!?…]+${CLOSING_MARKS}(?=\\s)|[。！？；]+${CLOSING_MARKS}|\\n)\\s*`,
  'gu',
);
const CLAUSE_END = /(?:[,;:](?=\s)|[，、：]|\s[–—](?=\s))\s*/gu;
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
      if (!isSpeakable(piece) && pieces.length === 0 && !isLast) {
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

/** Whether a text has anything to speak. */
export function isSpeakable(text: string): boolean {
  return /[\p{L}\p{N}]/u.test(text);
}

/** Removes Markdown, which models write despite their prompts. */
export function speakable(text: string): string {
  return text
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/^\s*(?:[-*•]|#{1,6}|>)\s+/gm, '')
    .replace(/[*_`~#|]+/g, '')
    .replace(/\s+/g, ' ')
    .trim();
}

/** @returns Length of the next piece; 0 while it is incomplete. */
function nextEnd(text: string, isFirst: boolean, isLast: boolean): number {
  const sentence = firstMatch(text, SENTENCE_END, (at, end) => isSentenceEnd(text, at, end, isLast));
  if (isFirst) {
    const clause = firstMatch(
      text,
      CLAUSE_END,
      (at) => wordCount(text.slice(0, at)) >= MIN_FIRST_CLAUSE_WORDS,
    );
    const isEarlier = clause > 0 && (sentence === 0 || clause < sentence);
    // The rest of the sentence must be long enough for a piece of its own.
    if (isEarlier && (sentence === 0 || wordCount(text.slice(clause, sentence)) >= MIN_FIRST_CLAUSE_WORDS))
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
  return clauses.at(-1) ?? (space > 0 ? space : MAX_PIECE_CHARACTERS);
}

/** Number of words; two characters of a script without spaces count as one. */
function wordCount(text: string): number {
  const unspaced = text.match(UNSPACED_SCRIPT)?.length ?? 0;
  const words = text.replace(UNSPACED_SCRIPT, ' ').match(/[\p{L}\p{N}'’-]+/gu)?.length ?? 0;
  return words + unspaced / 2;
}
