/** Scripts without spaces between words, which a tokenizer cannot split without a dictionary. */
const RUN =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}々ー]+/gu;

/**
 * Bigrams of characters in place of words, for scripts without spaces, and single characters that stand alone.
 *
 * @returns Unique, in text order; empty for other scripts.
 */
export function characterPairs(text: string): string[] {
  const pairs = new Set<string>();
  for (const [run] of text.normalize('NFKC').matchAll(RUN)) {
    const characters = [...run];
    if (characters.length === 1) pairs.add(run);
    for (let index = 1; index < characters.length; index += 1) {
      pairs.add(`${characters[index - 1]}${characters[index]}`);
    }
  }
  return [...pairs];
}
