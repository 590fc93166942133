/** Words, numbers, and characters of scripts without spaces. */
const WORD = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]|[\p{L}\p{M}\p{N}]+/gu;

/** The words of a text, without case and punctuation. */
export function wordsIn(text: string): string[] {
  return text.normalize('NFC').toLowerCase().match(WORD) ?? [];
}

/**
 * Finds a sequence of words in linear time: both are written by users.
 *
 * @returns The index at which it begins, searched from `from` on; -1 when it does not occur.
 * @see Knuth, Morris, Pratt: Fast Pattern Matching in Strings (1977)
 */
export function indexOfWords(words: readonly string[], wanted: readonly string[], from = 0): number {
  if (wanted.length === 0) return from <= words.length ? from : -1;
  const restarts = restartsOf(wanted);
  let matched = 0;
  for (let at = from; at < words.length; at += 1) {
    matched = extended(wanted, restarts, matched, words[at]);
    if (matched === wanted.length) return at - matched + 1;
  }
  return -1;
}

/** Returns, for each word, how many words before and with it begin the sequence again. */
function restartsOf(wanted: readonly string[]): number[] {
  const restarts = [0];
  for (let at = 1; at < wanted.length; at += 1)
    restarts.push(extended(wanted, restarts, restarts[at - 1] ?? 0, wanted[at]));
  return restarts;
}

function extended(
  wanted: readonly string[],
  restarts: readonly number[],
  before: number,
  word: string | undefined,
): number {
  let matched = before;
  while (matched > 0 && wanted[matched] !== word) matched = restarts[matched - 1] ?? 0;
  return wanted[matched] === word ? matched + 1 : 0;
}
