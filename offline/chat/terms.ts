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

/** A normalized content word, and whether its clause negates it. */
export interface Term {
  readonly word: string;
  readonly negated: boolean;
}

export const CJK = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u;
const CJK_RUN = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー]+/gu;
/** Shorter common prefixes are often coincidence. */
const MIN_SHARED_PREFIX = 5;

/** Lower case, half width, without accents, contractions expanded. Punctuation stays. */
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

/** The words of a text, without punctuation; a run of Chinese or Japanese is one word. */
export function tokenize(text: string): string[] {
  return normalize(text).match(/[\p{L}\p{N}ー]+/gu) ?? [];
}

/** The words of a text, separated by single spaces. */
export function normalizedPhrase(text: string): string {
  return tokenize(text).join(' ');
}

/** Returns true when a text contains a phrase at word boundaries, which Chinese and Japanese do not have. */
export function containsPhrase(text: string, phrase: string): boolean {
  const sought = normalizedPhrase(phrase);
  if (sought === '') return false;
  return CJK.test(sought)
    ? normalizedPhrase(text).includes(sought)
    : ` ${normalizedPhrase(text)} `.includes(` ${sought} `);
}

/** The unique terms of a text, negated by clause. */
export function termsOf(text: string): Term[] {
  const meanings = new Map<string, Term>();
  for (const clause of clausesOf(text)) {
    const negated = isNegated(clause);
    for (const word of termsOfClause(clause)) {
      // The last mention counts: "not Monday, Tuesday, well, Monday".
      meanings.set(word, { word, negated });
    }
  }
  return [...meanings.values()];
}

/** Returns true when a clause is negated. */
export function isNegated(clause: string): boolean {
  const plain = FALSE_NEGATIONS.reduce((rest, phrase) => rest.replaceAll(phrase, ' '), normalize(clause));
  return CJK_NEGATION.test(plain) || tokenize(plain).some((word) => NEGATORS.has(word));
}

export function clausesOf(text: string): string[] {
  return normalize(text)
    .split(CLAUSE_BREAK)
    .filter((clause) => clause !== undefined && clause.trim() !== '');
}

/** Returns true when two terms of {@link termsOf} have the same stem. */
export function isSameTerm(one: string, other: string): boolean {
  if (one === other) return true;
  const [short, long] = one.length < other.length ? [one, other] : [other, one];
  return short.length >= MIN_SHARED_PREFIX && !CJK.test(short) && long.startsWith(short);
}

/**
 * Overlap of two texts: 1 when each has all terms of the other, 0 when they share none, below 0 when one negates the
 * other's terms.
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

/** Returns the number of terms of `sought` that a text has, negated or not. */
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

/** Bigrams, since most Chinese and Japanese words have two characters. */
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

/** Removes the most common English suffixes. */
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
