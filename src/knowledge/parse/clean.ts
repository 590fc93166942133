/** Longer blocks are split, which bounds memory: some pages of text. */
export const MAX_BLOCK_CHARACTERS = 16_384;

/** Control characters but tab and line end, byte order marks, soft hyphens and similar, interlinear annotations. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are removed
const INVISIBLE = /[\u0000-\u0008\u000e-\u001f\u007f-\u009f\u00ad\u200b\u2060\ufeff\ufff9-\ufffb]/g;

/**
 * Removes control characters, repeated spaces and repeated empty lines. Joiners, as in emoji and Indic scripts, stay.
 */
export function cleanText(text: string): string {
  return text
    .toWellFormed()
    .normalize('NFC')
    .replace(/\r\n?|[\u2028\u2029\v\f\u0085]/g, '\n')
    .replace(INVISIBLE, '')
    .replace(/[^\S\n]+/g, ' ')
    .replace(/ ?\n ?/g, '\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}

/**
 * Returns where to split a text at or before `limit`: after a sentence, a line or a space, or else between two
 * graphemes.
 *
 * @returns Above 0, for texts and limits of more than one character.
 */
export function cutPoint(text: string, limit: number): number {
  if (text.length <= limit) return text.length;
  const sentence = Math.max(
    ...SENTENCE_ENDS.map((mark) => text.lastIndexOf(mark, limit - mark.length) + mark.length),
  );
  if (sentence > limit / 2) return sentence;
  const line = text.lastIndexOf('\n', limit - 1);
  if (line > limit / 2) return line + 1;
  const space = text.lastIndexOf(' ', limit - 1);
  if (space > limit / 2) return space + 1;
  // Graphemes are seldom longer.
  const from = Math.max(0, limit - 64);
  const window = text.slice(from, limit + 64);
  let cut = 0;
  for (const { index } of GRAPHEMES.segment(window)) {
    if (from + index > limit) break;
    cut = from + index;
  }
  if (cut > 0) return cut;
  return isLowSurrogate(text, limit) ? limit - 1 : limit;
}

const SENTENCE_ENDS = ['. ', '! ', '? ', '.\n', '!\n', '?\n', '。', '！', '？'];
const GRAPHEMES = new Intl.Segmenter('und', { granularity: 'grapheme' });

/** Whether the index splits a surrogate pair. */
function isLowSurrogate(text: string, index: number): boolean {
  const code = text.charCodeAt(index);
  return code >= 0xdc00 && code <= 0xdfff;
}
