import { CJK, normalize } from './terms.ts';

/** Introductions; the name follows up to the next clause. */
const INTRODUCTIONS: readonly RegExp[] = [
  /\b(?:my (?:full |first |last )?name is|my name's|the name is|call me|you can call me|name's)\s+(.+)/i,
  /\b(?:i am|i'm|i’m|this is|it is|it's|it’s)\s+(.+)/i,
  /\b(?:me llamo|mi nombre es|soy)\s+(.+)/i,
  /\b(?:ich heiße|ich heisse|mein name ist|ich bin)\s+(.+)/i,
  /\b(?:je m['’]appelle|mon nom est|je suis)\s+(.+)/i,
];
const CJK_INTRODUCTIONS: readonly RegExp[] = [
  /([\p{Script=Han}\p{Script=Katakana}ー]{1,10})(?:と申します|といいます)/u,
  /(?:我的名字是|我的名字叫|我叫做|我叫|我姓|我是|叫我)([\p{Script=Han}]{1,4}|[\p{L} ]{2,40})/u,
  /(?:私は|名前は)([\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー]{1,10}?)(?:です|と申します|といいます|$)/u,
];
/** Matches the place where a sentence continues after a name. */
const NAME_END = /[,.!?;，。！？]|\s+(?:and|but|from|with|here|calling|speaking|i|und|y|et)\b/i;
/** Words after "I am" that are not a name. */
const NOT_A_NAME = new Set(
  (
    'i a an the not no just so very fine good well ok okay sorry happy sure here there in on at from to for about ready interested ' +
    'your my his her late busy available afraid glad sick home back done new still also really going looking calling trying ' +
    'wondering having waiting ein eine un una une nicht pas interesado correct right wrong'
  ).split(' '),
);
const MAX_NAME_WORDS = 4;

/** Finds the name with which the user introduces themself. */
export function findName(text: string): string | undefined {
  for (const pattern of CJK_INTRODUCTIONS) {
    const name = pattern.exec(text)?.[1]?.trim();
    if (name) return name;
  }
  for (const pattern of INTRODUCTIONS) {
    const name = asName(pattern.exec(text)?.[1] ?? '');
    if (name) return name;
  }
  return undefined;
}

/** @returns The text as a name, capitalized; undefined when it cannot be one. */
export function asName(text: string): string | undefined {
  const [head = ''] = text.split(NAME_END);
  const name = head.trim();
  const words = name.split(/\s+/);
  if (name === '' || words.length > MAX_NAME_WORDS || /\d/.test(name)) return undefined;
  const [first = ''] = normalize(name).split(/\s+/);
  if (NOT_A_NAME.has(first) || /..ing$/.test(first)) return undefined;
  if (CJK.test(name)) return name;
  return words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join(' ');
}
