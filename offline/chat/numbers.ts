const UNITS: readonly string[] =
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen'.split(
    ' ',
  );
const TENS: readonly string[] = 'twenty thirty forty fifty sixty seventy eighty ninety'.split(' ');
const UNIT_VALUES = new Map(UNITS.map((word, value) => [word, value]));
const TEN_VALUES = new Map(TENS.map((word, index) => [word, (index + 2) * 10]));
/** Words before "one" that make it a pronoun: "this one", "no one". */
const NOT_A_COUNT_BEFORE_ONE = new Set('this that no any some every which other the'.split(' '));

const CJK_DIGITS = '零一二三四五六七八九';

/** Replaces English number words up to ninety-nine by digits. */
export function numberWordsToDigits(words: readonly string[]): string[] {
  const written: string[] = [];
  for (let index = 0; index < words.length; index++) {
    const word = words[index] ?? '';
    const tens = TEN_VALUES.get(word);
    const units = UNIT_VALUES.get(words[index + 1] ?? '') ?? 0;
    if (tens !== undefined) {
      const joins = units > 0 && units < 10;
      written.push(String(tens + (joins ? units : 0)));
      if (joins) index++;
    } else if (word === 'one' && NOT_A_COUNT_BEFORE_ONE.has(words[index - 1] ?? '')) written.push(word);
    else written.push(String(UNIT_VALUES.get(word) ?? word));
  }
  return written;
}

/**
 * A Chinese or Japanese number up to 99, such as 二十三 or 兩.
 *
 * @returns Undefined when the text is not a number.
 */
export function cjkNumber(text: string): number | undefined {
  const plain = text.replaceAll('兩', '二').replaceAll('两', '二').replaceAll('〇', '零');
  const match = /^([一二三四五六七八九]?)(十?)([零一二三四五六七八九]?)$/u.exec(plain);
  if (!match || plain === '') return undefined;
  const [, first = '', ten = '', last = ''] = match;
  if (ten === '') return first !== '' && last !== '' ? undefined : CJK_DIGITS.indexOf(first || last);
  return (
    (first === '' ? 1 : CJK_DIGITS.indexOf(first)) * 10 +
    Math.max(0, last === '' ? 0 : CJK_DIGITS.indexOf(last))
  );
}
