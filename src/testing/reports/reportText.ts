import { escapeMarkup } from '../../base/values/markup.ts';

/** Matches what XML 1.0 does not allow, even escaped. @see XML 1.0 section 2.2 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is removed
const FORBIDDEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g;

/** Text of a report, for XML and HTML. */
export function reportText(text: string): string {
  return escapeMarkup(text.toWellFormed().replaceAll(FORBIDDEN, '\ufffd'));
}

/** Returns an observed value as text. */
export function shownValue(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
