/** Words before and after an answer that do not change it. */
const LEADS = ['um', 'uh'];
const TAILS = ['please', 'thank you', 'thanks'];

const ONES = [
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen',
  'seventeen eighteen nineteen',
]
  .join(' ')
  .split(' ');
const TENS = ' ten twenty thirty forty fifty sixty seventy eighty ninety'.split(' ');

export interface AnswerGrammar {
  /** @see https://www.w3.org/TR/jsgf/ */
  readonly text: string;
  /** Every word in it. */
  readonly words: ReadonlySet<string>;
}

/**
 * A grammar of the expected answers, each between optional filler words.
 *
 * @param isKnown - Whether the recognizer's dictionary has a word. Phrases with unknown words are left out, since the
 *   recognizer refuses a grammar with them.
 * @returns Undefined where no phrase is left.
 */
export function answerGrammar(
  expectedAnswers: readonly string[],
  isKnown: (word: string) => boolean,
): AnswerGrammar | undefined {
  const phrases = [...new Set(expectedAnswers.map(spokenForm))].filter(
    (phrase) => phrase !== '' && phrase.split(' ').every(isKnown),
  );
  if (phrases.length === 0) return undefined;
  const known = (list: readonly string[]) => list.filter((phrase) => phrase.split(' ').every(isKnown));
  const optional = (list: readonly string[]) => (list.length > 0 ? ` [ ${list.join(' | ')} ]` : '');
  const [leads, tails] = [known(LEADS), known(TAILS)];
  const text = [
    '#JSGF V1.0;',
    'grammar answers;',
    `public <answer> =${optional(leads)} ( ${phrases.join(' | ')} )${optional(tails)};`,
    '',
  ].join('\n');
  return { text, words: new Set([...leads, ...phrases, ...tails].flatMap((phrase) => phrase.split(' '))) };
}

/** A phrase as it is spoken: lower case, numbers in words, no punctuation but apostrophes. */
export function spokenForm(phrase: string): string {
  return phrase
    .toLowerCase()
    .replaceAll('’', "'")
    .replace(/\d+/g, (digits) => ` ${spokenNumber(digits)} `)
    .replace(/[^\p{L}']+/gu, ' ')
    .trim();
}

/** Up to 99 as a number, longer ones digit by digit, as telephone numbers are spoken. */
function spokenNumber(digits: string): string {
  const value = Number(digits);
  if (digits.length > 2 || (digits.length > 1 && digits.startsWith('0'))) {
    return [...digits].map((digit) => ONES[Number(digit)]).join(' ');
  }
  if (value < ONES.length) return ONES[value] ?? '';
  return [TENS[Math.floor(value / 10)], value % 10 === 0 ? '' : ONES[value % 10]].join(' ').trim();
}
