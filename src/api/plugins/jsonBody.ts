import { isUtf8 } from 'node:buffer';
import secureJson from 'secure-json-parse';

import { CallwayError, invalid } from '../../base/errors.ts';

/** Deeper than real documents, and shallow enough for recursive code. */
const MAX_JSON_DEPTH = 64;

/**
 * The most values of a body that is validated on the event loop: that many invalid ones take about 50 ms to validate,
 * regardless of the schema's limits.
 */
export const MAX_JSON_VALUES = 20_000;

/** Finds texts that need a closer check: an escape, or a number that may exceed the largest double. */
const MAY_BE_UNSTORABLE = /\\u|\d{200}|[eE]\+?\d{3}/;

/**
 * Parses a request body: strict UTF-8, bounded depth and number of values, no `__proto__`, and no values that Postgres cannot store (U+0000,
 * lone surrogates, numbers that overflow a double). An empty body is `undefined`.
 *
 * @param maxValues - Default: {@link MAX_JSON_VALUES}.
 * @throws {CallwayError} 400 `invalid_json`, `invalid_utf8`, `json_too_deep` or `invalid_text`; 413 `too_many_values`.
 * @see RFC 8259
 */
export function parseJsonBody(bytes: Buffer, maxValues: number = MAX_JSON_VALUES): unknown {
  if (bytes.length === 0) return undefined;
  const text = bytes.toString('utf8');
  // Invalid UTF-8 decodes to U+FFFD, which a valid body may also contain.
  if (text.includes('\uFFFD') && !isUtf8(bytes)) {
    throw invalid('invalid_utf8', 'The request body is not valid UTF-8');
  }
  // A document of that depth has at least that many brackets on each side.
  if (text.length > 2 * MAX_JSON_DEPTH) requireBounded(text, maxValues);
  const value = parse(text);
  if (MAY_BE_UNSTORABLE.test(text)) refuseUnstorable(value);
  return value;
}

function parse(text: string): unknown {
  try {
    return secureJson.parse(text, null, { protoAction: 'error', constructorAction: 'error' });
  } catch (error) {
    if (error instanceof SyntaxError && error.message.includes('forbidden prototype')) {
      throw invalid(
        'invalid_json',
        'The request body has a key that is not allowed (__proto__ or constructor)',
      );
    }
    throw invalid('invalid_json', 'The request body is not valid JSON');
  }
}

/** Checks the limits of the text in one pass, before it is parsed. */
function requireBounded(text: string, maxValues: number): void {
  let depth = 0;
  let values = 1;
  for (let index = 0; index < text.length; index += 1) {
    switch (text[index]) {
      case '"':
        index = endOfString(text, index);
        break;
      case '[':
      case '{':
        depth += 1;
        if (depth > MAX_JSON_DEPTH)
          throw invalid('json_too_deep', `The request body is nested deeper than ${MAX_JSON_DEPTH} levels`);
        break;
      case ']':
      case '}':
        depth -= 1;
        break;
      case ',':
        values += 1;
    }
  }
  if (values > maxValues) {
    const message = `The request body has more than ${maxValues} values; send less at once`;
    throw new CallwayError('too_large', 'too_many_values', message);
  }
}

/** The index of the quote that ends the string which begins at `start`. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (text[end - 1 - backslashes] === '\\') backslashes += 1;
    if (backslashes % 2 === 0) return end;
  }
  return text.length;
}

function refuseUnstorable(value: unknown): void {
  if (typeof value === 'string') {
    const error = unstorable(value);
    if (error) throw error;
  } else if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw invalid('invalid_json', 'A number is too large to be stored');
  } else if (Array.isArray(value)) {
    for (const item of value) refuseUnstorable(item);
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, item] of Object.entries(value)) {
      refuseUnstorable(key);
      refuseUnstorable(item);
    }
  }
}

function unstorable(text: string): CallwayError | undefined {
  if (text.includes('\0'))
    return invalid('invalid_text', 'A text contains the character U+0000, which cannot be stored');
  if (!text.isWellFormed()) return invalid('invalid_text', 'A text contains a lone surrogate');
  return undefined;
}
