import type { AgentVoice, Pronunciation, SynthesisRequest } from '../../models/ports/textToSpeech.ts';
import { EditedText } from './editedText.ts';
import { removeMarkdown, replaceLiterals } from './markdown.ts';
import { SPACED_LETTER, UNSPACED_SCRIPT } from './scripts.ts';
import { signNames } from './signNames.ts';

/** Usual pace of synthetic voices. */
const CHARACTERS_PER_SECOND = 15;
const HAN_CHARACTERS_PER_SECOND = 5;
/** A link that is longer is read as it is written. */
const OPEN_LINK = /!?\[[^\]\n]{0,200}$|!?\[[^\]\n]{0,200}\](?:\([^)\n]{0,1000})?$/;
const UNSPACED = new RegExp(UNSPACED_SCRIPT, 'v');
const LETTER = /[\p{L}\p{N}\p{M}]/u;
/** Signs that are named: those of keys and mail addresses, unless they belong to a word, as in `C#`, `#5` or `a*b`. */
const NAMED_SIGN = new RegExp(
  `https?://\\S+|@|_|(?<!${SPACED_LETTER}|\\p{N})\\*(?!${SPACED_LETTER})|\\*(?!${SPACED_LETTER}|\\p{N})|(?<!${SPACED_LETTER}|#)#(?!${SPACED_LETTER}|[\\p{N}#])`,
  'gv',
);

/** A longer part is read piece by piece: the patterns take more than linear time. */
const MAX_READ_CHARACTERS = 1000;

/** The words that are said for a part of a text. */
export interface SpokenForm {
  readonly text: string;
  /** The number of written words that are said with each spoken word. */
  readonly writtenWords: readonly number[];
}

export interface SpokenFormOptions {
  readonly pronunciations?: readonly Pronunciation[] | undefined;
  /** BCP 47 tag, in which signs are named. */
  readonly language?: string | undefined;
  /** Default: true. */
  readonly startsLine?: boolean | undefined;
}

/** Returns the part without Markdown, with signs named and pronunciations applied; the spaces around it stay. */
export function spokenForm(part: string, options: SpokenFormOptions = {}): SpokenForm {
  const { pronunciations = [], language, startsLine = true } = options;
  if (part.length > MAX_READ_CHARACTERS) return longForm(part, options);
  const text = new EditedText(part);
  removeMarkdown(text, startsLine);
  nameSigns(text, language);
  text.replace(/\s+/g, collapsedSpace);
  pronounce(text, pronunciations);
  const [before = ''] = /^\s*/.exec(part) ?? [];
  const [after = ''] = /\s*$/.exec(part) ?? [];
  const said = `${before === '' ? '' : ' '}${text.text}${after === '' ? '' : ' '}`;
  return { text: said, writtenWords: text.originalWords() };
}

function longForm(part: string, options: SpokenFormOptions): SpokenForm {
  let text = '';
  const writtenWords: number[] = [];
  for (let from = 0, to = 0; from < part.length; from = to) {
    const longest = part.slice(from, from + MAX_READ_CHARACTERS);
    const isRest = from + longest.length === part.length;
    to = from + (isRest ? longest.length : lastWordEnd(longest) || longest.length);
    const startsLine = from === 0 ? options.startsLine : startsLineAt(part, from);
    const form = spokenForm(part.slice(from, to), { ...options, startsLine });
    text += form.text;
    writtenWords.push(...form.writtenWords);
  }
  return { text, writtenWords };
}

/** A sentence as a provider takes it: as it is spoken. */
export function spokenRequest(
  words: string,
  { pronunciations, ...voice }: AgentVoice,
  startsLine = true,
): SynthesisRequest {
  const { language } = voice;
  return { text: spokenForm(words, { pronunciations, language, startsLine }).text.trim(), ...voice };
}

/** Whether a text begins a line at this offset. */
export function startsLineAt(text: string, at: number): boolean {
  return text.slice(text.lastIndexOf('\n', at - 1) + 1, at).trim() === '';
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

/** Estimates how long a synthetic voice takes to speak a text. */
export function estimatedMs(text: string, speed = 1): number {
  const han = text.match(/\p{Script=Han}/gu)?.length ?? 0;
  const seconds = han / HAN_CHARACTERS_PER_SECOND + (text.length - han) / CHARACTERS_PER_SECOND;
  return (seconds * 1000) / speed;
}

function nameSigns(text: EditedText, language: string | undefined): void {
  const nameOf = signNames(text.text, language);
  const named = (match: RegExpExecArray, sign: string) => {
    const name = nameOf(sign);
    return name === sign || UNSPACED.test(name) ? name : spaced(name, match);
  };
  text.replace(NAMED_SIGN, (match) => (match[0].length > 1 ? undefined : named(match, match[0])));
  replaceLiterals(text, named);
}

/** Puts a space on each side where the name would run into a word. */
function spaced(name: string, { index, input, 0: { length } }: RegExpExecArray): string {
  const isWordBefore = index > 0 && !/[\s("'“‘«-]/.test(input.charAt(index - 1));
  const isWordAfter = /[^\s.,;:!?)"'”’»-]/.test(input.charAt(index + length));
  return `${isWordBefore ? ' ' : ''}${name}${isWordAfter ? ' ' : ''}`;
}

/** Removes the space that a removed emoji has left before a full stop. */
function collapsedSpace({ index, input, 0: { length } }: RegExpExecArray): string {
  const after = index + length;
  if (index === 0 || after === input.length) return '';
  return /^[.,!?](?:\s|$)/.test(input.slice(after, after + 2)) ? '' : ' ';
}

function pronounce(text: EditedText, pronunciations: readonly Pronunciation[]): void {
  const said = new Map(pronunciations.map(({ word, say }) => [word.toLowerCase(), say]));
  const words = [...said.keys()]
    .filter((word) => word !== '')
    .sort((one, other) => other.length - one.length);
  if (words.length === 0) return;
  const pattern = new RegExp(
    words.map((word) => word.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')).join('|'),
    'giu',
  );
  text.replace(pattern, ({ 0: match, index, input }) => {
    const say = said.get(match.toLowerCase());
    if (!isBoundary(input, index) || !isBoundary(input, index + match.length)) return undefined;
    return say?.trim().replace(/\s+/g, ' ');
  });
}

/** Whether a word may begin or end here. */
function isBoundary(text: string, at: number): boolean {
  const [before = '', after = ''] = [text[at - 1], text[at]];
  if (UNSPACED.test(before) || UNSPACED.test(after)) return true;
  return !LETTER.test(before) || !LETTER.test(after);
}
