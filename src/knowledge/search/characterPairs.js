/** Scripts that put no spaces between words, so that no tokenizer without a dictionary finds the words. */
const RUN =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}々ー]+/gu;
/**
 * What stands for words in texts of such scripts: each pair of neighbouring characters, and a character that stands
 * alone. A text and a question share pairs where they share words.
 *
 * @returns Without repetitions, in the order of the text; empty for other scripts.
 */
export function characterPairs(text) {
  const pairs = new Set();
  for (const [run] of text.normalize('NFKC').matchAll(RUN)) {
    const characters = [...run];
    if (characters.length === 1) pairs.add(run);
    for (let index = 1; index < characters.length; index += 1) {
      pairs.add(`${characters[index - 1]}${characters[index]}`);
    }
  }
  return [...pairs];
}
