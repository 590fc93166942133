/** Words that carry no meaning of their own. */
const STOP_WORDS = new Set(
  'a an the of to in on at for and or is are was were be been i you he she it we they my your his her its our their me him them this that with as by from do does did have has had will would can could shall should may might please caller person customer user wants want says said asks ask about'.split(
    ' ',
  ),
);

const YES =
  /^(yes|yeah|yep|sure|ok|okay|correct|right|of course|please do|exactly|si|sí|oui|ja|好|好的|是|是的|對|对|可以|はい|うん)\b|^(好|是|對|对|可以|はい)/i;
const NO =
  /^(no|nope|not|never|nein|non|不|不是|不要|沒有|没有|いいえ)\b|^(不|沒|没|いいえ)|\b(don't|do not|doesn't|no thanks|no thank you|rather not|won't)\b/i;

/** A text in stemmed words that mean something; Chinese and Japanese by pairs of characters. */
export function meaningfulWords(text: string): string[] {
  const lower = text.toLowerCase().replace(/['’]/g, '');
  const latin = (lower.match(/[\p{Script=Latin}\p{N}]+/gu) ?? [])
    .filter((word) => !STOP_WORDS.has(word))
    .map(stem);
  const wide =
    lower.match(
      /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]+/gu,
    ) ?? [];
  return [...latin, ...wide.flatMap(pairs)];
}

/** How much of `sought` is found in `text`, from 0 to 1. */
export function overlap(sought: string, text: string): number {
  const words = new Set(meaningfulWords(sought));
  if (words.size === 0) return 0;
  const found = new Set(meaningfulWords(text));
  let hits = 0;
  for (const word of words) if (found.has(word)) hits += 1;
  return hits / words.size;
}

export type Stance = 'yes' | 'no' | 'none';

/** Whether a text agrees or declines, as a whole. */
export function stanceOf(text: string): Stance {
  const trimmed = text.trim();
  if (NO.test(trimmed)) return 'no';
  return YES.test(trimmed) ? 'yes' : 'none';
}

function stem(word: string): string {
  if (word.length > 5 && word.endsWith('ing')) return word.slice(0, -3);
  if (word.length > 4 && word.endsWith('ies')) return `${word.slice(0, -3)}y`;
  if (word.length > 4 && word.endsWith('ed')) return word.slice(0, -2);
  if (word.length > 3 && word.endsWith('s') && !word.endsWith('ss')) return word.slice(0, -1);
  return word;
}

function pairs(text: string): string[] {
  const characters = [...text];
  return characters.length < 2
    ? characters
    : characters.slice(1).map((character, index) => `${characters[index]}${character}`);
}
