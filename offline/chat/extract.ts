import { findDate } from './dates.ts';
import { asName, findName } from './names.ts';
import { cjkNumber, numberWordsToDigits } from './numbers.ts';
import { isUnsure, polarityOf } from './polarity.ts';
import type { VariableConfig } from './request.ts';
import {
  clausesOf,
  containsPhrase,
  countSharedTerms,
  isNegated,
  isSameTerm,
  type Term,
  termsOf,
  tokenize,
} from './terms.ts';

const EMAIL = /[\w.+-]+@[\w-]+(?:\.[\w-]+)+/;
const PHONE = /\+?\d(?:[\s().-]*\d){6,14}/;
const CODE = /\b(?=[\w-]*\d)[A-Za-z0-9][\w-]{2,}\b/;
const TIME = /\b\d{1,2}(?::\d{2})?\s*(?:am|pm|a\.m\.|p\.m\.|o'?clock|uhr|點|点|時)|\b\d{1,2}:\d{2}\b/gi;
const PLACE = /\b(?:in|at|near|from|to|for)\s+(\p{Lu}[\p{L}.'-]*(?:\s+\p{Lu}[\p{L}.'-]*)*)/u;
const PLACE_ANY_CASE =
  /\b(?:in|near|at)\s+(\p{L}[\p{L} '-]*?)(?=\s+(?:today|tomorrow|now|on|please|this|next)\b|[,.?!]|$)/iu;
const CJK_NUMBER = /[零一二三四五六七八九十兩两]{1,3}(?=[個个位人名張张件次點点歲岁つ本枚台]|$)/u;
/** A longer answer is more than the requested value. */
const MAX_VALUE_WORDS = 8;
const QUESTION = /[?？]\s*$|^(?:what|when|where|which|who|why|how|can|could|do|does|is|are)\b/i;
const ANSWER_LEAD = /^(?:(?:it|that|this)(?:'s|’s| is)|it would be|i think(?: it is)?|well|um|uh)[,\s]+/i;

export interface ExtractionContext {
  readonly text: string;
  /** What the agent asks for, or its instruction to do so. */
  readonly asked: string;
  /** `YYYY-MM-DD` */
  readonly today?: string | undefined;
}

/** Extracts variables from the user's last message; absent ones are null. */
export function extractVariables(
  configs: readonly VariableConfig[],
  context: ExtractionContext,
): Record<string, string | number | boolean | null> {
  const values = configs.map((config) => {
    const isOnlyOne = configs.filter(({ type }) => type === config.type).length === 1;
    return [config.name, extractOne(config, context, isOnlyOne) ?? null] as const;
  });
  return Object.fromEntries(values);
}

/** @param isOnlyOne - True when no other variable has its type, so that a single number in the text belongs to it. */
function extractOne(
  config: VariableConfig,
  context: ExtractionContext,
  isOnlyOne: boolean,
): string | number | boolean | undefined {
  if (context.text.trim() === '') return undefined;
  const sought = termsOf(`${splitIdentifier(config.name)}. ${config.description}`);
  const isAskedFor = countSharedTerms(sought, termsOf(context.asked)) > 0;
  switch (config.type) {
    case 'number':
      return findNumber(context.text, sought, isAskedFor || isOnlyOne);
    case 'boolean':
      return findBoolean(context.text, sought, isAskedFor);
    case 'date': {
      const isNamed = countSharedTerms(sought, termsOf(context.text)) > 0;
      return isAskedFor || isOnlyOne || isNamed ? findDate(context.text, context.today) : undefined;
    }
    case 'enum':
      return findEnum(context.text, config.values ?? []);
    case 'string':
      return findString(config, context.text, isAskedFor);
  }
}

/** Splits camelCase and snake_case into words. */
export function splitIdentifier(name: string): string {
  return name.replace(/([a-z])([A-Z])/g, '$1 $2').replace(/[_-]+/g, ' ');
}

function findNumber(text: string, sought: readonly Term[], isExpected: boolean): number | undefined {
  const isTime = sought.some(({ word }) => ['time', 'hour', 'clock'].includes(word));
  const plain = text
    .replace(PHONE, ' ')
    .replace(/\b\d{4}-\d{2}-\d{2}\b/g, ' ')
    .replace(isTime ? /$^/ : TIME, ' ');
  const words = numberWordsToDigits(
    tokenize(plain.replace(/(\d),(?=\d{3}\b)/g, '$1').replace(/(\d)\.(?=\d)/g, '$1point')),
  );
  const found = words.flatMap((word, index) => {
    const value = /^\d+(?:point\d+)?/.test(word)
      ? Number.parseFloat(word.replace('point', '.'))
      : cjkValue(word);
    if (value === undefined) return [];
    const next = termsOf(words[index + 1] ?? '');
    return [{ value, isNamed: countSharedTerms(sought, next) > 0 }];
  });
  const named = found.filter(({ isNamed }) => isNamed);
  if (named.length === 1) return named[0]?.value;
  return isExpected && found.length === 1 ? found[0]?.value : undefined;
}

function cjkValue(word: string): number | undefined {
  const [digits] = CJK_NUMBER.exec(word) ?? [];
  return digits === undefined ? undefined : cjkNumber(digits);
}

function findBoolean(text: string, sought: readonly Term[], isAskedFor: boolean): boolean | undefined {
  const spoken = termsOf(text).filter(({ word }) => sought.some((one) => isSameTerm(one.word, word)));
  const [first] = spoken;
  const isAgreed = first !== undefined && spoken.every(({ negated }) => negated === first.negated);
  if (isAgreed && !QUESTION.test(text)) return !first.negated;
  const polarity = isAskedFor ? polarityOf(text) : undefined;
  return polarity === undefined ? undefined : polarity === 'yes';
}

function findEnum(text: string, values: readonly string[]): string | undefined {
  const affirmed = clausesOf(text)
    .filter((clause) => !isNegated(clause))
    .join('. ');
  const byPhrase = values.filter((value) => containsPhrase(affirmed, splitIdentifier(value)));
  const longest = byPhrase.toSorted((one, other) => other.length - one.length)[0];
  if (longest !== undefined && byPhrase.every((value) => containsPhrase(longest, value))) return longest;
  if (byPhrase.length > 0) return undefined;
  const spoken = termsOf(affirmed);
  const byWords = values.filter((value) => {
    const words = termsOf(splitIdentifier(value));
    return words.length > 0 && countSharedTerms(words, spoken) === words.length;
  });
  return byWords.length === 1 ? byWords[0] : undefined;
}

function findString(
  { name, description }: VariableConfig,
  text: string,
  isAskedFor: boolean,
): string | undefined {
  const about = new Set(tokenize(`${splitIdentifier(name)} ${description}`));
  const isAbout = (...words: readonly string[]) => words.some((word) => about.has(word));
  if (isAbout('email', 'mail')) return EMAIL.exec(text)?.[0];
  if (isAbout('phone', 'telephone', 'mobile', 'callback') || /電話|电话|手機|手机/.test(description)) {
    return PHONE.exec(text)?.[0]?.replace(/[\s().-]/g, '');
  }
  if (isAbout('name') || /姓名|名字|名前/.test(description)) {
    const whole = isAskedFor ? wholeAnswer(text) : undefined;
    return findName(text) ?? (whole === undefined ? undefined : asName(whole));
  }
  if (isAbout('number', 'id', 'code', 'reference')) {
    const code = CODE.exec(text)?.[0];
    if (code !== undefined) return code;
  }
  if (isAbout('city', 'town', 'place', 'location', 'country', 'destination')) {
    const place = PLACE.exec(text)?.[1] ?? PLACE_ANY_CASE.exec(text)?.[1];
    if (place !== undefined) return place.trim();
  }
  return isAskedFor ? wholeAnswer(text) : undefined;
}

/** A short answer as a whole. */
function wholeAnswer(text: string): string | undefined {
  const answer = text
    .trim()
    .replace(ANSWER_LEAD, '')
    .replace(/[.。!！]+$/, '');
  if (answer === '' || QUESTION.test(text.trim()) || polarityOf(text) !== undefined) return undefined;
  const saysNothing = isUnsure(text) || termsOf(answer).length === 0;
  return saysNothing || answer.split(/\s+/).length > MAX_VALUE_WORDS ? undefined : answer;
}
