import {
  CJK_NEGATION,
  CJK_STOP,
  CLAUSE_BREAK,
  FALSE_NEGATIONS,
  NEGATORS,
  STOP_WORDS,
  SYNONYM_OF,
} from './lexicon.ts';
import { numberWordsToDigits } from './numbers.ts';

/** A word that carries meaning, and whether it was said to be so or not to be so. */
export interface Term {
  readonly word: string;
  readonly negated: boolean;
}

export const CJK = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u;
const CJK_RUN = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー]+/gu;
/** Shorter words that begin alike are too often strangers. */
const SHORTEST_SHARED_BEGINNING = 5;

/** Lower case, full width made half, accents off, contractions in full. Punctuation stays. */
export function normalize(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .normalize('NFD')
    .replace(/\p{Script=Latin}\p{M}+/gu, (letter) => letter.charAt(0))
    .normalize('NFC')
    .replace(/[’‘`]/g, "'")
    .replace(/\bcan't\b|\bcannot\b/g, 'can not')
    .replace(/\bwon't\b/g, 'will not')
    .replace(/n't\b/g, ' not')
    .replace(/'(?:d)\b/g, ' would')
    .replace(/\bi'm\b/g, 'i am')
    .replace(/\b(it|that|he|she|what|where|this)'s\b/g, '$1 is')
    .replace(/'(?:ve)\b/g, ' have')
    .replace(/'(?:ll)\b/g, ' will')
    .trim();
}

/** The words of a text, without punctuation; runs of Chinese and Japanese are one word each. */
export function tokenize(text: string): string[] {
  return normalize(text).match(/[\p{L}\p{N}ー]+/gu) ?? [];
}

/** The words of a text as one line with single spaces, to look for phrases in. */
export function normalizedPhrase(text: string): string {
  return tokenize(text).join(' ');
}

/** Whether a phrase stands in a text, at the bounds of words; Chinese and Japanese have none. */
export function containsPhrase(text: string, phrase: string): boolean {
  const sought = normalizedPhrase(phrase);
  if (sought === '') return false;
  return CJK.test(sought)
    ? normalizedPhrase(text).includes(sought)
    : ` ${normalizedPhrase(text)} `.includes(` ${sought} `);
}

/** What a text is about, each word once, with negations told apart clause by clause. */
export function termsOf(text: string): Term[] {
  const meanings = new Map<string, Term>();
  for (const clause of clausesOf(text)) {
    const negated = isNegated(clause);
    for (const word of termsOfClause(clause)) {
      // What is said in the end counts: "not Monday, Tuesday, well, Monday".
      meanings.set(word, { word, negated });
    }
  }
  return [...meanings.values()];
}

/** Whether a text denies what it speaks of. */
export function isNegated(clause: string): boolean {
  const plain = FALSE_NEGATIONS.reduce((rest, phrase) => rest.replaceAll(phrase, ' '), normalize(clause));
  return CJK_NEGATION.test(plain) || tokenize(plain).some((word) => NEGATORS.has(word));
}

export function clausesOf(text: string): string[] {
  return normalize(text)
    .split(CLAUSE_BREAK)
    .filter((clause) => clause !== undefined && clause.trim() !== '');
}

/** Whether two words, as {@link termsOf} gives them, mean the same. */
export function isSameTerm(one: string, other: string): boolean {
  if (one === other) return true;
  const [short, long] = one.length < other.length ? [one, other] : [other, one];
  return short.length >= SHORTEST_SHARED_BEGINNING && !CJK.test(short) && long.startsWith(short);
}

/**
 * How much two texts speak of the same: 1 when every word of each is in the other, 0 when none is, and below 0 when
 * one denies what the other says.
 */
export function termOverlap(one: readonly Term[], other: readonly Term[]): number {
  if (one.length === 0 || other.length === 0) return 0;
  let shared = 0;
  let denied = 0;
  for (const { word, negated } of one) {
    const match = other.find((candidate) => isSameTerm(candidate.word, word));
    if (!match) continue;
    if (match.negated === negated) shared++;
    else denied++;
  }
  const balance = shared - denied;
  return (balance / one.length + balance / other.length) / 2;
}

/** How many of the words of `sought` a text has, whatever it says of them. */
export function countSharedTerms(sought: readonly Term[], text: readonly Term[]): number {
  return sought.filter(({ word }) => text.some((candidate) => isSameTerm(candidate.word, word))).length;
}

function termsOfClause(clause: string): string[] {
  const latin = numberWordsToDigits(tokenize(clause.replace(CJK_RUN, ' ')))
    .filter((word) => !STOP_WORDS.has(word))
    .map((word) => SYNONYM_OF.get(word) ?? stem(word))
    .map((word) => SYNONYM_OF.get(word) ?? word);
  return [...latin, ...(clause.match(CJK_RUN) ?? []).flatMap(bigramsOf)];
}

/** Neighbouring characters: Chinese and Japanese words are mostly two of them long. */
function bigramsOf(run: string): string[] {
  return run
    .replace(CJK_STOP, ' ')
    .split(' ')
    .filter((part) => part !== '')
    .flatMap((part) => {
      const characters = [...part];
      if (characters.length < 2) return [part];
      return characters.slice(1).map((character, index) => `${characters[index]}${character}`);
    });
}

/** Takes the commonest English endings off; what is left need not be a word. */
function stem(word: string): string {
  if (word.length < 5 || /\d/.test(word))
    return word.length === 4 && /[^su]s$/.test(word) ? word.slice(0, -1) : word;
  const base = word
    .replace(/(?:ings|ing|ed|ment|ments)$/, '')
    .replace(/ies$/, 'y')
    .replace(/([sxz]|ch|sh)es$/, '$1')
    .replace(/([^su])s$/, '$1');
  const undoubled = base !== word ? base.replace(/([bdgmnprt])\1$/, '$1') : base;
  return undoubled.length < 3 ? word : undoubled.replace(/e$/, '');
}
