/** Cuts a text that is still being written into pieces to be spoken. The pieces joined are the text. */
export interface SentenceSplitter {
  /** @returns The pieces that this text completes. */
  push(text: string): string[];
  /** Nothing more comes. @returns What is left, if anything. */
  flush(): string[];
}

/** The first piece may end at a clause from here on: the sooner it is short and whole, the sooner the agent speaks. */
const FIRST_CLAUSE_UNITS = 4;
/** Where no sentence ends, a piece is cut at a clause, or between words. */
const LONGEST_PIECE_CHARACTERS = 240;

const WIDE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/gu;
const CLOSERS = '["\'”’»」』）)\\]]*';
/** Full stops of Latin script need a space after them, those of Chinese and Japanese do not. */
const SENTENCE_END = new RegExp(`(?:[.!?…]+${CLOSERS}(?=\\s)|[。！？；]+${CLOSERS}|\\n)\\s*`, 'gu');
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
        // Marks without words go with what follows them.
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

/** Whether there is anything in it to be spoken. */
export function isSpeakable(text: string): boolean {
  return /[\p{L}\p{N}]/u.test(text);
}

/** A text as a voice should get it: without the marks of Markdown, which models write in spite of their prompts. */
export function speakable(text: string): string {
  return text
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/^\s*(?:[-*•]|#{1,6}|>)\s+/gm, '')
    .replace(/[*_`~#|]+/g, '')
    .replace(/\s+/g, ' ')
    .trim();
}

/** @returns Length of the next piece; 0 while it is not complete. */
function nextEnd(text: string, isFirst: boolean, isLast: boolean): number {
  const sentence = firstMatch(text, SENTENCE_END, (at, end) => isSentenceEnd(text, at, end, isLast));
  if (isFirst) {
    const clause = firstMatch(text, CLAUSE_END, (at) => unitsOf(text.slice(0, at)) >= FIRST_CLAUSE_UNITS);
    const isInTime = clause > 0 && (sentence === 0 || clause < sentence);
    // What is left behind a clause must be worth a piece of its own, as far as one can see.
    if (isInTime && (sentence === 0 || unitsOf(text.slice(clause, sentence)) >= FIRST_CLAUSE_UNITS))
      return clause;
  }
  if (sentence > 0 && sentence <= LONGEST_PIECE_CHARACTERS) return sentence;
  return text.length > LONGEST_PIECE_CHARACTERS ? cutLong(text) : sentence;
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
  const head = text.slice(0, LONGEST_PIECE_CHARACTERS);
  const clauses = [...head.matchAll(CLAUSE_END)].map((match) => match.index + match[0].length);
  const space = head.lastIndexOf(' ') + 1;
  return clauses.at(-1) ?? (space > 0 ? space : LONGEST_PIECE_CHARACTERS);
}

/** Words, and half as many characters of scripts without spaces. */
function unitsOf(text: string): number {
  const wide = text.match(WIDE)?.length ?? 0;
  const words = text.replace(WIDE, ' ').match(/[\p{L}\p{N}'’-]+/gu)?.length ?? 0;
  return words + wide / 2;
}
