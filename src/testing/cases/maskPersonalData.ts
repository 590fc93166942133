/** Names of values that tell of a person. */
const PERSONAL = /name|mail|phone|mobile|address|street|city|birth|customer|account|iban|card|passport/i;
const EMAIL = /(?<![\p{L}\p{N}._%+-])[\p{L}\p{N}._%+-]{1,64}@[\p{L}\p{N}.-]+\.\p{L}{2,}/gu;
const SPOKEN_EMAIL =
  /(?<![\p{L}\p{N}._-])[\p{L}\p{N}._-]{1,64} at [\p{L}\p{N}-]{1,64}(?: dot \p{L}{2,10})+/giu;
/** Long enough to be a number that belongs to a person, with the separators that people write. */
const NUMBER = /\+?\p{Nd}(?:[\s()./-]{0,2}\p{Nd}){5,}/gu;
const SPOKEN_DIGIT = '(?:zero|oh|one|two|three|four|five|six|seven|eight|nine|double|triple)';
const SPOKEN_NUMBER = new RegExp(`\\b${SPOKEN_DIGIT}(?:[\\s,-]{1,2}${SPOKEN_DIGIT}){5,}\\b`, 'giu');
const HAN_DIGIT = '[〇零一二三四五六七八九幺]';
const HAN_NUMBER = new RegExp(`${HAN_DIGIT}(?:[\\s,，、-]{0,2}${HAN_DIGIT}){5,}`, 'gu');
/** A code of a person; shorter entries choose from a menu. */
const ENTERED_CODE = /^[0-9A-D*]{4,}#?$/;
const SHORTEST_CHARACTERS = 3;
/** The most values that are masked; values deeper inside of others are not. */
const MAX_KNOWN = 200;
const MAX_KNOWN_CHARACTERS = 200;
const MAX_NAME_CHARACTERS = 64;
const MAX_DEPTH = 20;

const NAME_WORD = "\\p{L}[\\p{L}\\p{M}'’-]+";
const INTRODUCTIONS: readonly RegExp[] = [
  new RegExp(
    `\\b(?:my (?:full |first |last )?name is|my name['’]s|call me|mein name ist|ich heiße|je m['’]appelle|me llamo|mi nombre es|mi chiamo)\\s+(${NAME_WORD}(?:\\s+${NAME_WORD}){0,3})`,
    'giu',
  ),
  // Only names with capitals: much else follows these.
  /\b(?:[Tt]his is|[Ii]['’]m|I am|[Ii]ch bin|[Jj]e suis|[Ss]oy)\s+(\p{Lu}[\p{L}'’-]+(?:\s+\p{Lu}[\p{L}'’-]+){0,3})/gu,
  /(?:我叫|我是|我的名字是|名前は)([\p{Script=Han}\p{Script=Katakana}]{2,4})/gu,
];
/** Words that are no part of a name, though they stand beside one. */
const NO_NAME =
  /^(?:and|but|the|from|for|with|here|calling|speaking|please|not|van|von|der|den|del|und|y|et|mr|mrs|dr)$/i;
const SPACELESS = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;

/** Names the objects whose fields hold personal values, and the words in which a person introduces themself. */
export interface PersonalSources {
  /** JSON objects: variables, arguments and results of tools. */
  readonly values: readonly unknown[];
  readonly words: readonly string[];
  /** Entries of digits. */
  readonly entered: readonly string[];
}

/**
 * Replaces what names a person, everywhere in a JSON value: e-mail addresses, long numbers and keyed codes, whose digits
 * become 0, values whose names tell so, and names with which the person introduces themself. Other words stay as they are.
 */
export function maskPersonalData<Value>(value: Value, sources: PersonalSources): Value {
  const replacements = knownValues(sources);
  const pattern = patternOf([...replacements.keys()]);
  const maskText = (text: string) => {
    const written = text
      .replaceAll(EMAIL, 'person@example.com')
      .replaceAll(SPOKEN_EMAIL, 'person at example dot com');
    return (
      pattern
        ? written.replaceAll(pattern, (found) => replacements.get(found.toLowerCase()) ?? '[personal]')
        : written
    )
      .replaceAll(NUMBER, zeros)
      .replaceAll(SPOKEN_NUMBER, (words) => words.replaceAll(/\p{L}+/gu, 'zero'))
      .replaceAll(HAN_NUMBER, (digits) => digits.replaceAll(/\p{Script=Han}/gu, '零'));
  };
  const mask = (part: unknown, key = ''): unknown => {
    if (typeof part === 'string')
      return part.length > MAX_KNOWN_CHARACTERS && PERSONAL.test(key) ? shownName(key) : maskText(part);
    if (typeof part === 'number') return /\d{6}/.test(String(part)) ? 0 : part;
    if (Array.isArray(part)) return part.map((one) => mask(one, key));
    if (typeof part !== 'object' || part === null) return part;
    return Object.fromEntries(Object.entries(part).map(([name, inner]) => [name, mask(inner, name)]));
  };
  return mask(value) as Value;
}

/** Returns what stands for each personal value, by its lower case. */
function knownValues({ values, words, entered }: PersonalSources): Map<string, string> {
  const known = new Map<string, string>();
  const add = (text: string, replacement: string) => {
    const searched = text.trim().toLowerCase();
    if (searched.length > MAX_KNOWN_CHARACTERS) return;
    if (searched.length < SHORTEST_CHARACTERS && !SPACELESS.test(searched)) return;
    if (known.size < MAX_KNOWN && !known.has(searched)) known.set(searched, replacement);
  };
  const addName = (text: string, replacement: string) => {
    add(text, replacement);
    for (const word of text.split(/\s+/)) if (!NO_NAME.test(word)) add(word, replacement);
  };
  const collect = (value: unknown, name: string, isPersonal: boolean, depth: number): void => {
    if (typeof value === 'string' && isPersonal) (/name/i.test(name) ? addName : add)(value, shownName(name));
    if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return;
    for (const [key, inner] of Object.entries(value)) {
      const isIndex = Array.isArray(value);
      collect(inner, isIndex ? name : key, isPersonal || (!isIndex && PERSONAL.test(key)), depth + 1);
    }
  };
  for (const value of values) collect(value, '', false, 0);
  for (const text of words)
    for (const introduction of INTRODUCTIONS)
      for (const [, name = ''] of text.matchAll(introduction)) addName(nameIn(name), '[name]');
  for (const code of entered) if (ENTERED_CODE.test(code)) add(code.replace(/#$/, ''), zeros(code));
  return known;
}

/** The words up to the first one that is no name. */
function nameIn(text: string): string {
  const words = text.split(/\s+/);
  const end = words.findIndex(
    (word, at) => at > 0 && NO_NAME.test(word) && !/^(?:van|von|der|den|del)$/i.test(word),
  );
  return words.slice(0, end < 0 ? words.length : end).join(' ');
}

/** Finds whole words, longer ones first. */
function patternOf(values: readonly string[]): RegExp | undefined {
  const sources = values
    .toSorted((one, other) => other.length - one.length)
    .map((value) => value.replaceAll(/[.*+?^${}()|[\]\\/]/g, '\\$&'));
  const spaceless = sources.filter((source) => SPACELESS.test(source));
  const words = sources.filter((source) => !SPACELESS.test(source));
  const whole = words.length === 0 ? [] : [`(?<![\\p{L}\\p{N}])(?:${words.join('|')})(?![\\p{L}\\p{N}])`];
  return values.length === 0 ? undefined : new RegExp([...whole, ...spaceless].join('|'), 'giu');
}

function shownName(name: string): string {
  return `[${name.slice(0, MAX_NAME_CHARACTERS)}]`;
}

function zeros(text: string): string {
  return text.replaceAll(/\p{Nd}/gu, '0');
}
