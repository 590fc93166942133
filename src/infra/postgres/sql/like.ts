/**
 * A LIKE pattern that matches whatever holds this text.
 *
 * @see PostgreSQL section 9.7.1: `%` and `_` are wildcards, `\` escapes them and itself.
 */
export function containing(text: string): string {
  return `%${text.replace(/[\\%_]/g, '\\$&')}%`;
}

/** A text as it stands within a string of JSON: quotes, backslashes and control characters escaped. */
export function asInJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}
