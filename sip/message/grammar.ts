import { SipParseError } from './errors.ts';

const TOKEN = /^[A-Za-z0-9\-.!%*_+`'~]+$/;
const QUOTED_ONLY = /^"(?:[^"\\]|\\.)*"$/s;

/** Parameters by lower-case name; a parameter without a value has the value `''`. */
export type Params = Map<string, string>;

/** @see RFC 3261 section 25.1, `token` */
export function isToken(text: string): boolean {
  return TOKEN.test(text);
}

/** Returns true when the text is one quoted string. */
function isQuoted(text: string): boolean {
  return QUOTED_ONLY.test(text);
}

/** Removes quotes and escapes; other text is returned unchanged. */
export function unquote(text: string): string {
  if (!isQuoted(text)) return text;
  return text.slice(1, -1).replace(/\\(.)/gs, '$1');
}

export function quote(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`;
}

/**
 * Splits at each `separator` outside quoted strings and `<…>`; trims the pieces. A quote that is never closed, as in the
 * names of some callers, opens no quoted string.
 *
 * @throws {SipParseError} On an angle bracket that is never closed.
 */
export function splitOutside(text: string, separator: ',' | ';'): string[] {
  if (!text.includes(separator) && !text.includes('"') && !text.includes('<')) return [text.trim()];
  const pieces: string[] = [];
  let start = 0;
  let index = 0;
  let inAngles = false;
  let hasQuotes = true;
  while (index < text.length) {
    const char = text[index];
    if (char === '"' && !inAngles && hasQuotes) {
      const end = endOfQuoted(text, index);
      hasQuotes = end !== undefined;
      index = end ?? index + 1;
      continue;
    }
    if (char === '<') inAngles = true;
    else if (char === '>') inAngles = false;
    else if (char === separator && !inAngles) {
      pieces.push(text.slice(start, index).trim());
      start = index + 1;
    }
    index += 1;
  }
  if (inAngles) throw new SipParseError('header_value', 'an angle bracket is never closed');
  pieces.push(text.slice(start).trim());
  return pieces;
}

/**
 * @param open - The index of the opening quote.
 * @returns Index just after the closing quote; undefined when no quoted string begins there, or it is never closed.
 */
export function endOfQuoted(text: string, open: number): number | undefined {
  if (text[open] !== '"') return undefined;
  for (let index = open + 1; index < text.length; index += 1) {
    const char = text[index];
    if (char === '\\') index += 1;
    else if (char === '"') return index + 1;
  }
  return undefined;
}

/**
 * Parses `;name=value;flag` (generic-param). The first of a repeated name wins.
 *
 * @param text - The text after the value: empty, or starting with `;`.
 * @throws {SipParseError} When a name is not a token.
 */
export function parseParams(text: string): Params {
  const params: Params = new Map();
  if (text === '') return params;
  const [before, ...pieces] = splitOutside(text, ';');
  if (before !== '') throw new SipParseError('header_value', 'parameters must begin with a semicolon');
  for (const piece of pieces) {
    if (piece === '') throw new SipParseError('header_value', 'a parameter is empty');
    const equals = piece.indexOf('=');
    const name = (equals < 0 ? piece : piece.slice(0, equals)).trim().toLowerCase();
    if (!isToken(name)) throw new SipParseError('header_value', `a parameter's name is not a token`);
    const value = equals < 0 ? '' : piece.slice(equals + 1).trim();
    if (!params.has(name)) params.set(name, value);
  }
  return params;
}

export function formatParams(params: ReadonlyMap<string, string>): string {
  let text = '';
  for (const [name, value] of params) text += value === '' ? `;${name}` : `;${name}=${value}`;
  return text;
}

/**
 * Parses a decimal number.
 *
 * @param max - The largest value.
 * @throws {SipParseError} When the text is anything else, or the number is above `max`.
 */
export function parseInteger(text: string, what: string, max: number): number {
  const trimmed = text.trim();
  if (!/^\d+$/.test(trimmed)) throw new SipParseError('header_value', `${what} is not a number`);
  const value = Number(trimmed);
  if (value > max) throw new SipParseError('header_value', `${what} is above ${max}`);
  return value;
}
