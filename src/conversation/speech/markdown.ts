import { Lexer, type Token } from 'marked';

import type { EditedText } from './editedText.ts';
import { SPACED_LETTER } from './scripts.ts';

/** A sign that is meant as it is, and no mark, is moved into the private use area of Unicode until it is named. */
const LITERAL_OFFSET = 0xe000;
const LITERAL = /[\ue020-\ue07e]/g;

/** Keys as an emoji, and the wide signs of Chinese and Japanese. */
const PLAIN_SIGN = /[*#](?=\ufe0f?\u20e3)|[＊＃＠＿]/g;
const EMOJI =
  /(?:\p{Regional_Indicator}{2}|\p{Extended_Pictographic}|\p{Emoji_Modifier}|[\u2700-\u27bf]|[\u{e0020}-\u{e007f}]|\ufe0e|\ufe0f|\u20e3|(?<=\p{Extended_Pictographic}|\ufe0f|\p{Emoji_Modifier})\u200d)/gu;
/** Lines of nothing but marks: fences, rules, the line below a table's head. */
const MARK_LINE =
  /(\n|^)[^\S\n]*(?:(?:`{3,}|~{3,})[^\n`]*|(?:[-*_=][^\S\n]*){3,}|\|?(?:[^\S\n]*:?-+:?[^\S\n]*\|)+[^\S\n]*(?::?-+:?)?[^\S\n]*)(?=\n|$)/g;
const LINE_START =
  /(\n|^)[^\S\n]*(?:>[^\S\n]?)*(?:[-*+•][^\S\n]+(?:\[[ xX]\][^\S\n]+)?)?(?:#{1,6}[^\S\n]+)?/g;
const LINE_BREAK = /<br\s*\/?>/gi;
const FOOTNOTE = /\[\^[^\]\s]{1,50}\]:?/g;
/** OpenAI's file search writes its sources so. */
const SOURCE = /【\d+(?::\d+)?†[^】\n]{0,100}】/g;
/** Tags for the eye, and comments; commands for the voice, such as `<break/>`, are not among them. */
const HTML_MARK =
  /<\/?(?:a|b|i|u|s|em|strong|small|sub|sup|mark|code|pre|p|div|span|ul|ol|li|h[1-6]|table|thead|tbody|tr|td|th|blockquote|hr|img|font|center)(?:\s[^<>]{0,300})?\/?>|<!--[\s\S]*?-->/gi;
const BLOCK_TAG = /^<\/?(?:p|div|ul|ol|li|h[1-6]|table|tr|td|th|blockquote|hr|pre)\b/i;
const ENTITY = /&(nbsp|amp|lt|gt|quot|apos|#39);/gi;
const ENTITIES: Readonly<Record<string, string>> = {
  nbsp: ' ',
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  '#39': "'",
};
/** An emoji by its name, such as `:smile:`. */
const EMOJI_NAME = /(?<=^|\s):[a-z][a-z0-9_+-]{1,30}:(?=$|[\s.,!?])/g;
const ESCAPED = /\\([!-/:-@[-`{-~])/g;
const KEYS = /(?<![^\s("'“‘«`])[*#\d]*[*#][*#\d]*(?![^\s.,;:!?)"'”’»`])/g;
/** `#5` is a number, `**5` or `*5*` a bold one. */
const NO_KEYS = /^(?:#\d+|\*\*\d*|\*\d+\*|\*\*\d+\*\*|[*#]{2,})$/;
const PRODUCT = /^\d+(?:\*\d+)+$/;
const TIMES = /(?<=\d\s)\*(?=\s\d)/g;
/** Matches the marks between the cells of a table, and at the ends of its rows. */
const BARS = /[^\S\n]*(?:\|\s*)+/g;
/** A link that is none for CommonMark, since its address has a space. */
const LOOSE_LINK = /!?\[(?=[^[\]\n]*\]\([^()\n]*\))|(?<=[^[\]\n])\]\([^()\n]*\)/g;
/** Matches marks whose other end is missing, or in another part of the text. */
const LOOSE_MARKS = new RegExp(
  `\`+|~~+|[*_]{2,}|(?<=${SPACED_LETTER}|[.,!?%\\)])[*_](?![\\p{L}\\p{N}])|(?<![\\p{L}\\p{N}])[*_](?=${SPACED_LETTER})`,
  'gv',
);

/**
 * Removes Markdown and emoji, which models write despite their prompts, and nothing else. Signs that are meant, as the keys
 * in “Press * or #”, become literal signs.
 *
 * @param startsLine - Whether the text begins a line; only there a dash begins a list.
 * @see https://spec.commonmark.org/0.31.2/
 */
export function removeMarkdown(text: EditedText, startsLine: boolean): void {
  const atLineStart = (match: RegExpExecArray) =>
    match.index === 0 && match[1] === '' && !startsLine ? undefined : match[1];
  text
    .replace(PLAIN_SIGN, ([sign]) => literal(sign.normalize('NFKC')))
    .replace(EMOJI, ([emoji]) => (emoji === '‼' ? '!!' : emoji === '⁉' ? '!?' : ''))
    .replace(MARK_LINE, atLineStart)
    .replace(LINE_START, atLineStart)
    .replace(LINE_BREAK, () => '\n')
    .replace(FOOTNOTE, () => '')
    .replace(SOURCE, () => '')
    .replace(HTML_MARK, ([tag]) => (BLOCK_TAG.test(tag) ? ' ' : ''))
    .replace(EMOJI_NAME, () => '')
    .replace(ESCAPED, ([, sign = '']) => literal(sign))
    .replace(TIMES, () => '×')
    .replace(KEYS, ([keys]) => meantKeys(keys));
  text.remove(inlineMarks(text.text));
  text
    .replace(BARS, ({ 0: bars, index, input }) => (isBetweenCells(input, index, bars) ? ', ' : ' '))
    .replace(LOOSE_LINK, () => '')
    .replace(LOOSE_MARKS, () => '')
    .replace(ENTITY, ([, name = '']) => ENTITIES[name.toLowerCase()]);
}

/** Replaces the literal signs. */
export function replaceLiterals(
  text: EditedText,
  replacement: (match: RegExpExecArray, sign: string) => string,
): void {
  text.replace(LITERAL, (match) =>
    replacement(match, String.fromCharCode(match[0].charCodeAt(0) - LITERAL_OFFSET)),
  );
}

function meantKeys(keys: string): string | undefined {
  if (NO_KEYS.test(keys)) return undefined;
  return PRODUCT.test(keys) ? keys.replaceAll('*', '×') : keys.replace(/[*#]/g, literal);
}

function literal(sign: string): string {
  return String.fromCharCode(LITERAL_OFFSET + sign.charCodeAt(0));
}

function isBetweenCells(input: string, index: number, bars: string): boolean {
  return /[\p{L}\p{N}\p{P}]\s*$/u.test(input.slice(0, index)) && index + bars.length < input.length;
}

/** @returns The ranges of a text that are no part of its words: emphasis, links' addresses, backticks. */
function inlineMarks(text: string): { from: number; to: number }[] {
  const marks: { from: number; to: number }[] = [];
  let done = 0;
  const keep = (from: number, to: number) => {
    if (from > done) marks.push({ from: done, to: from });
    done = to;
  };
  const visit = (token: Token, from: number) => {
    const inner = 'tokens' in token ? token.tokens : undefined;
    if (inner && inner.length > 0) {
      let at = from;
      for (const child of inner) {
        at = text.indexOf(child.raw, at);
        visit(child, at);
        at += child.raw.length;
      }
      return;
    }
    const words = token.type === 'codespan' || token.type === 'image' ? token.text : token.raw;
    const at = Math.max(from, text.indexOf(words, from));
    keep(at, at + words.length);
  };
  let at = 0;
  for (const token of Lexer.lexInline(text)) {
    visit(token, at);
    at += token.raw.length;
  }
  keep(text.length, text.length);
  return marks;
}
