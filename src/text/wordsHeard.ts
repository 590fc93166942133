import { isSpoken, WORD } from '../conversation/speech/editedText.ts';

interface Word {
  /** The normalized form, for comparison. */
  readonly key: string;
  /** The word's end in the text, with the signs after it. */
  readonly end: number;
}

/**
 * Finds what was heard in what was written. A gateway reports what it has spoken: without Markdown, and with numbers in
 * words.
 *
 * @param heard - What was heard of the text, from its start or at its end.
 * @returns The heard beginning of the text; as many words as were reported where they are not found.
 */
export function textUntil(written: string, heard: string): string {
  const words = wordsOf(written);
  const said = wordsOf(heard).map(({ key }) => key);
  if (said.length === 0) return '';
  const found = words.findIndex((_word, start) => startsWith(words.slice(start), said));
  const count = (found === -1 ? 0 : found) + said.length;
  return textOfWords(written, words, count);
}

/** @param share - The share, from 0 to 1. @returns This share of the text, in whole words. */
export function shareOf(written: string, share: number): string {
  const words = wordsOf(written);
  return textOfWords(written, words, Math.floor(words.length * Math.max(0, share)));
}

function textOfWords(written: string, words: readonly Word[], count: number): string {
  return count >= words.length ? written : written.slice(0, words[count - 1]?.end ?? 0).trimEnd();
}

/** The last word may have been broken off. */
function startsWith(words: readonly Word[], said: readonly string[]): boolean {
  return said.every((key, n) => {
    const word = words[n]?.key;
    return word === key || (n === said.length - 1 && word?.startsWith(key) === true);
  });
}

function wordsOf(text: string): Word[] {
  return [...text.matchAll(WORD)]
    .filter(([word]) => isSpoken(word))
    .map((match) => ({
      key: match[0].toLowerCase().replace(/[^\p{L}\p{N}]/gu, ''),
      end: match.index + match[0].length,
    }));
}
