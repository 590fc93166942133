/** Words before and after an answer that do not change it. */
const LEADS = ['um', 'uh'];
const TAILS = ['please', 'thank you', 'thanks'];

/** The sounds of English that are not noise, as the acoustic model and its dictionary name them. */
const VOICED = 'AA AE AH AO AW AY EH ER EY IH IY L M N NG OW OY R UH UW W Y'.split(' ');
/** The phones that breath, clicks and hiss sound like. */
const NOISES = 'B CH D DH F G HH JH K P S SH T TH V Z ZH'.split(' ');
/** The most noises before an answer; more of them are speech. */
const MAX_NOISES_BEFORE = 3;
const MAX_NOISES_AFTER = 2;
const SOUND = 'sound_';
/** Weight of each sound: the lower, the less is rejected. @see `npm run bench:recognition` */
const SOUND_WEIGHT = '0.00000000000005';
/** The weight of an answer with a filler word, which is as much as the two sounds of "um". */
const FILLER_WEIGHT = '0.0000000000000000000000000025';
/** Takes the rest of the weight, since weights are relative; it is never said. */
const UNHEARD = { word: `${SOUND}unheard`, pronunciation: 'ZH OY ZH OY ZH OY ZH OY ZH OY ZH OY' };

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
  /** The words of the answers. */
  readonly words: ReadonlySet<string>;
  /** The other words of the grammar with their pronunciations, as lines of a dictionary. */
  readonly sounds: readonly string[];
}

/**
 * A grammar of the expected answers, each between optional filler words, or of any sequence of sounds. A recognizer of the
 * answers alone hears one of them in whatever is said; with the sounds beside them it takes what fits better, and
 * {@link answerIn} tells which.
 *
 * @param isKnown - Returns true when the recognizer's dictionary has a word. Phrases with unknown words are left out,
 *   since the recognizer refuses a grammar with them.
 * @returns Undefined when no phrase is left.
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
  const [leads, tails] = [known(LEADS), known(TAILS)];
  const answers = [
    '/1/ <phrase>',
    ...(leads.length > 0 ? [`/${FILLER_WEIGHT}/ <lead> <phrase>`] : []),
    ...(tails.length > 0 ? [`/${FILLER_WEIGHT}/ <phrase> <tail>`] : []),
  ];
  const text = [
    '#JSGF V1.0;',
    'grammar answers;',
    `<phrase> = ${phrases.join(' | ')};`,
    ...(leads.length > 0 ? [`<lead> = ${leads.join(' | ')};`] : []),
    ...(tails.length > 0 ? [`<tail> = ${tails.join(' | ')};`] : []),
    `<answer> = ${answers.join(' | ')};`,
    `<noise> = ${weighted(NOISES)};`,
    `<sound> = ${weighted([...VOICED, ...NOISES])};`,
    'public <utterance> = [ <noise>+ ] <answer> [ <noise>+ ] | <sound>+;',
    '',
  ].join('\n');
  const words = new Set([...leads, ...phrases, ...tails].flatMap((phrase) => phrase.split(' ')));
  const sounds = [...VOICED, ...NOISES].map((phone) => `${soundOf(phone)} ${phone}`);
  return { text, words, sounds: [...sounds, `${UNHEARD.word} ${UNHEARD.pronunciation}`] };
}

/**
 * Returns the answer in the recognized words, without the noise around it.
 *
 * @returns An empty text when it heard other sounds than those of an answer.
 */
export function answerIn(words: string): string {
  const heard = words.split(' ');
  const from = heard.findIndex((word) => !NOISE_WORDS.has(word));
  const begin = heard.findIndex((word) => !NOISE_WORDS.has(word) && !LEADS.includes(word));
  const to = heard.findLastIndex((word) => !NOISE_WORDS.has(word)) + 1;
  // A breath before the answer may sound like "uh".
  const answer = heard.slice(Math.max(0, begin < 0 ? from : begin), to);
  const isAnswer = from <= MAX_NOISES_BEFORE && heard.length - to <= MAX_NOISES_AFTER;
  return isAnswer && !answer.some((word) => word.startsWith(SOUND)) ? answer.join(' ') : '';
}

function weighted(phones: readonly string[]): string {
  const sounds = phones.map((phone) => `/${SOUND_WEIGHT}/ ${soundOf(phone)}`);
  return [`/1/ ${UNHEARD.word}`, ...sounds].join(' | ');
}

function soundOf(phone: string): string {
  return SOUND + phone.toLowerCase();
}

const NOISE_WORDS = new Set(NOISES.map(soundOf));

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
