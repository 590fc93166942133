/** Words that people put before and after an answer, and that change nothing. */
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
  /** All that occur in it. */
  readonly words: ReadonlySet<string>;
}

/**
 * A grammar of what a person may answer, for a recogniser that hears nothing else.
 *
 * @param knows - Whether the recogniser's dictionary has a word; phrases with others are left out, since it could not
 * start with them.
 * @returns Undefined where no phrase is left.
 */
export function answerGrammar(
  expectedAnswers: readonly string[],
  knows: (word: string) => boolean,
): AnswerGrammar | undefined {
  const phrases = [...new Set(expectedAnswers.map(spokenForm))].filter(
    (phrase) => phrase !== '' && phrase.split(' ').every(knows),
  );
  if (phrases.length === 0) return undefined;
  const known = (list: readonly string[]) => list.filter((phrase) => phrase.split(' ').every(knows));
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

/** A phrase as it is spoken: lower case, numbers in words, nothing but words and apostrophes. */
export function spokenForm(phrase: string): string {
  return phrase
    .toLowerCase()
    .replaceAll('’', "'")
    .replace(/\d+/g, (digits) => ` ${spokenNumber(digits)} `)
    .replace(/[^\p{L}']+/gu, ' ')
    .trim();
}

/** Up to 99 as a number, everything longer digit by digit, as telephone numbers are told. */
function spokenNumber(digits: string): string {
  const value = Number(digits);
  if (digits.length > 2 || (digits.length > 1 && digits.startsWith('0'))) {
    return [...digits].map((digit) => ONES[Number(digit)]).join(' ');
  }
  if (value < ONES.length) return ONES[value] ?? '';
  return [TENS[Math.floor(value / 10)], value % 10 === 0 ? '' : ONES[value % 10]].join(' ').trim();
}
