import type { AgentVoice, Pronunciation, SynthesisRequest } from '../../providers/ports/textToSpeech.ts';
import { speakable } from './sentenceSplitter.ts';

/** A word, or a Chinese character. */
export const WORD = /\p{Script=Han}|[^\s\p{Script=Han}]+/gu;
/** Usual pace of synthetic voices. */
const CHARACTERS_PER_SECOND = 15;
const HAN_CHARACTERS_PER_SECOND = 5;
/** A link that is longer is read as it is written. */
const OPEN_LINK = /!?\[[^\]\n]{0,200}$|!?\[[^\]\n]{0,200}\](?:\([^)\n]{0,1000})?$/;
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u;
const LETTER = /[\p{L}\p{N}\p{M}]/u;
/** Stand for a space within what is said for one word, and for a further word that is said by it. */
const JOINT = '\u0001';
const FURTHER = '\u0002';

/** What is said for a part of a text. */
export interface SpokenForm {
  readonly text: string;
  /** For each word that is said, how many written words are said with it. */
  readonly writtenWords: readonly number[];
}

/** Without Markdown, and with the words that are said in place of others; the spaces around the part stay. */
export function spokenForm(
  part: string,
  pronunciations: readonly Pronunciation[] = [],
  startsLine = true,
): SpokenForm {
  // A dash begins a list at the start of a line alone.
  const plain = startsLine ? speakable(part) : speakable(`x${part}`).slice(1).trim();
  const marked = pronounced(plain, pronunciations);
  const writtenWords = (marked.match(WORD) ?? []).filter(isSpoken).flatMap((token) => {
    const said = (token.split(JOINT).join(' ').split(FURTHER).join('').match(WORD) ?? []).filter(
      isSpoken,
    ).length;
    const written = token.split(FURTHER).length;
    return said === 0 ? [] : [...new Array<number>(said - 1).fill(0), written];
  });
  const said = marked.split(JOINT).join(' ').split(FURTHER).join('');
  const [before = ''] = /^\s*/.exec(part) ?? [];
  const [after = ''] = /\s*$/.exec(part) ?? [];
  return { text: `${before === '' ? '' : ' '}${said}${after === '' ? '' : ' '}`, writtenWords };
}

/** A sentence without Markdown, as a provider takes it. */
export function spokenRequest(words: string, { pronunciations, ...voice }: AgentVoice): SynthesisRequest {
  return { text: spokenForm(words, pronunciations).text.trim(), ...voice };
}

/** End of what may be spoken of a text that goes on: whole words, no part of a link or of a word that is replaced. */
export function speakableEnd(
  text: string,
  from: number,
  pronunciations: readonly Pronunciation[] = [],
): number {
  const wordEnd = lastWordEnd(text);
  const link = OPEN_LINK.exec(text.slice(from));
  let end = Math.max(from, link ? Math.min(wordEnd, from + link.index) : wordEnd);
  const tail = text.slice(from, end).toLowerCase();
  for (const { word } of pronunciations) {
    const wanted = word.toLowerCase();
    for (let length = Math.min(wanted.length - 1, tail.length); length > 0; length--)
      if (tail.endsWith(wanted.slice(0, length)) && isBoundary(tail, tail.length - length)) {
        end = Math.min(end, from + tail.length - length);
        break;
      }
  }
  return end;
}

/** End of the last whole word: what follows a space, or a character of a script without spaces. */
export function lastWordEnd(text: string): number {
  const match =
    /[\s\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}。！？；，、](?=[^\s\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}。！？；，、]*$)/u.exec(
      text,
    );
  return match ? match.index + match[0].length : 0;
}

/** Of a text in a synthetic voice. */
export function estimatedMs(text: string, speed = 1): number {
  const han = text.match(/\p{Script=Han}/gu)?.length ?? 0;
  const seconds = han / HAN_CHARACTERS_PER_SECOND + (text.length - han) / CHARACTERS_PER_SECOND;
  return (seconds * 1000) / speed;
}

/** Whether a word is heard at all; signs are not. */
export function isSpoken(word: string): boolean {
  return /[\p{L}\p{N}]/u.test(word);
}

function pronounced(text: string, pronunciations: readonly Pronunciation[]): string {
  const said = new Map(pronunciations.map(({ word, say }) => [word.toLowerCase(), say]));
  const words = [...said.keys()]
    .filter((word) => word !== '')
    .sort((one, other) => other.length - one.length);
  if (words.length === 0) return text;
  const pattern = new RegExp(
    words.map((word) => word.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')).join('|'),
    'giu',
  );
  return text.replace(pattern, (match: string, at: number) => {
    const say = said.get(match.toLowerCase());
    if (say === undefined || !isBoundary(text, at) || !isBoundary(text, at + match.length)) return match;
    const further = Math.max(0, (match.match(WORD)?.length ?? 1) - 1);
    return `${say.trim().replace(/\s+/g, JOINT)}${FURTHER.repeat(further)}`;
  });
}

/** Whether a word may begin or end here. */
function isBoundary(text: string, at: number): boolean {
  const [before = '', after = ''] = [text[at - 1], text[at]];
  if (UNSPACED.test(before) || UNSPACED.test(after)) return true;
  return !LETTER.test(before) || !LETTER.test(after);
}
