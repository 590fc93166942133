/** Whether a transcript looks like everything the caller wants to say. */
export type Completeness =
  | 'complete'
  | 'open'
  | 'incomplete'
  /** The caller is in the middle of a number told in groups, or of a name spelled letter by letter. */
  | 'dictating';

/** A number of this many digits is the start of a longer one rather than an amount, an hour or an age. */
const MIN_DICTATED_DIGITS = 3;
/** A phone number is complete with this many. */
const MAX_DICTATED_DIGITS = 10;

/** The last word counts more than a full stop, since recognizers put one after anything; a question mark is meant. */
export function completenessOf(text: string): Completeness {
  const trimmed = text.trim();
  if (trimmed === '') return 'open';
  if (/(?:[,;:，、；：—–-]|\.\.\.|…)$/.test(trimmed)) return 'incomplete';
  const words = wordsOf(trimmed);
  const last = words.at(-1) ?? '';
  if (FILLERS.has(last) || FILLERS.has(/.$/u.exec(last)?.[0] ?? '')) return 'incomplete';
  if (INCOMPLETE_QUESTION.test(words.join(' '))) return 'incomplete';
  if (/[?？]["'”’」』)]*$/.test(trimmed)) return 'complete';
  if (isUnfinished(words)) return 'incomplete';
  const digits = dictatedDigits(words);
  if (digits > 0) return digits < MAX_DICTATED_DIGITS ? 'dictating' : 'complete';
  return /[.!。！]["'”’」』)]*$/.test(trimmed) ? 'complete' : 'open';
}

/** A text's words in lower case, without punctuation; a run of Chinese characters is one word. */
export function wordsOf(text: string): string[] {
  return (
    text
      .toLowerCase()
      .replaceAll('’', "'")
      .match(/[\p{L}\p{N}]+(?:['-][\p{L}\p{N}]+)*/gu) ?? []
  );
}

/** Said while thinking; a Chinese one is the last character of what precedes it. */
const FILLERS: ReadonlySet<string> = new Set(
  splitWords(`
    um uh er erm uhm hmm hm mmm
    äh ähm öh öhm tja naja
    eh em este pues
    euh heu ben
    嗯 呃 欸
  `),
);

/** Polite questions that the request itself is missing from. */
const INCOMPLETE_QUESTION =
  /(?:^| )(?:(?:could|can|would|will) (?:you|i)(?: please)?|(?:könnten|können|würden) sie(?: mir)?(?: bitte)?|(?:podría|puede|podrías|puedes)(?: por favor)?|(?:pourriez|pouvez)[ -]vous)$/;

/** Whether the last word wants another one. */
function isUnfinished(words: readonly string[]): boolean {
  const [first = '', last = ''] = [words[0], words.at(-1)];
  if (isHan(last)) return HAN_ENDINGS.some((ending) => last.endsWith(ending) && !HAN_ANSWER.test(last));
  if (MAIN_VERBS.has(last)) return words.length <= MAX_MAIN_CLAUSE_START;
  return INCOMPLETE_ENDINGS.has(last) && !(QUESTION_WORDS.has(first) && STRANDED.has(last));
}

/** Words that no turn ends with. */
const INCOMPLETE_ENDINGS: ReadonlySet<string> = new Set(
  splitWords(`
    and or but so because if when while although than as like
    the a an this these those my your his her our their
    to of in on at for with from by about into
    is are was were am be i'm it's i we they he she
    well actually maybe
    can could would should want need
    y o pero porque que si de del el la los las un una con para por en mi su
    quiero quisiera necesito tengo puedo soy es está
    et ou mais parce que si de du le la les un une avec pour dans mon ma
    je tu voudrais veux dois est
    und oder aber weil dass wenn also der die das ein eine einen einem einer den dem mein meine meinen unser unsere
    mit für von zu zum zur im am um nach bei ich wir möchte möchten würde würden gerne
  `),
);

/** German verbs that begin a main clause, and end a subordinate one. */
const MAIN_VERBS: ReadonlySet<string> = new Set(
  splitWords(`
    will wollte wollten muss müsste müssen müssten kann könnte können könnten soll sollte darf habe haben hätte hätten
    bin ist sind war
  `),
);
/** "Aber ich muss". */
const MAX_MAIN_CLAUSE_START = 3;

/** "Who should I talk to", "was kostet das". */
const QUESTION_WORDS: ReadonlySet<string> = new Set(
  splitWords(`
    what where when who whom which how why
    was wo wann wer wen wie warum welche welcher welches woher wohin
    qué dónde cuándo quién cómo cuál cuánto
    que où quand qui comment pourquoi combien quel quelle
  `),
);
const STRANDED: ReadonlySet<string> = new Set(
  splitWords('to for from with about at on in into of an by is are was it das es'),
);

/** The same where words are not told apart. */
const HAN_ENDINGS: readonly string[] = splitWords(`
  然後 因為 所以 如果 但是 可是 那個 這個 就是 還有 或是 或者 而且 跟 和 的 把 在 從
  我想 我要 想要 需要 是要 幫我 請問
  然后 因为 但 还有 那个 帮我 请问
`);

/** "Fine", "right". */
const HAN_ANSWER = /^.的$/u;

/** Spoken digits. */
const DIGIT_WORDS: ReadonlySet<string> = new Set(
  splitWords(`
    zero oh one two three four five six seven eight nine double triple
    cero uno dos tres cuatro cinco seis siete ocho nueve
    zéro un deux trois quatre cinq sept huit neuf
    null eins zwei zwo drei vier fünf sechs sieben acht neun
  `),
);
const HAN_DIGITS = /[零〇一二兩两三四五六七八九]+$/;

/** Digits or letters of the number or the spelled name that the words end with; 0 where they end otherwise. */
function dictatedDigits(words: readonly string[]): number {
  let digits = 0;
  let groups = 0;
  for (const word of words.toReversed()) {
    const count = digitsIn(word);
    if (count === 0) break;
    digits += count;
    groups += 1;
    // The rest of a run of characters is no number.
    if (isHan(word) && count < word.length) break;
  }
  return groups > 1 || digits >= MIN_DICTATED_DIGITS ? digits : 0;
}

/** Returns how many digits or single letters a word names, or a run of Chinese characters ends with. */
function digitsIn(word: string): number {
  if (/^[\d-]+$/.test(word)) return word.replaceAll('-', '').length;
  if (isHan(word)) return HAN_DIGITS.exec(word)?.[0].length ?? 0;
  return DIGIT_WORDS.has(word) || /^\p{Script=Latin}$/u.test(word) ? 1 : 0;
}

function isHan(word: string): boolean {
  return /^[\p{Script=Han}〇]+$/u.test(word);
}

function splitWords(words: string): string[] {
  return words.split(/\s+/).filter((word) => word !== '');
}
