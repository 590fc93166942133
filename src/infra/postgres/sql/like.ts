/**
 * A LIKE pattern for texts that contain this string.
 *
 * @see PostgreSQL section 9.7.1: `%` and `_` are wildcards, `\` escapes them and itself.
 */
export function containing(text: string): string {
  return `%${text.replace(/[\\%_]/g, '\\$&')}%`;
}

/** A text as it appears in a JSON string: quotes, backslashes and control characters escaped. */
export function asInJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}
