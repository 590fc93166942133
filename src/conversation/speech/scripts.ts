/** Character class, for patterns with the flag `v`: scripts that write no spaces between words. */
export const UNSPACED_SCRIPT = '[\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}]';

/** The same: a letter of a word that signs are attached to; a sign beside a Chinese or Korean word stands alone. */
export const SPACED_LETTER = `[\\p{L}--[${UNSPACED_SCRIPT}\\p{Script=Hangul}]]`;
