/** Of JSON text: a NUL character or half of a surrogate pair, or what only looks like one behind a backslash. */
const UNSTORABLE = /\\u(?:0000|d[89a-f])/;

/**
 * A value as JSON text that Postgres can take apart again. What requests bring has been looked at; what models, tools
 * and other services say has not, and a session that holds it could be neither shown nor ended.
 */
export function storableJson(value: unknown): string {
  const json = JSON.stringify(value);
  return UNSTORABLE.test(json) ? JSON.stringify(storable(value)) : json;
}

/** A text that Postgres takes: U+FFFD in place of NUL characters and of halves of surrogate pairs. */
export function storableText(text: string): string {
  return text.replaceAll('\0', '\ufffd').toWellFormed();
}

function storable(value: unknown): unknown {
  if (typeof value === 'string') return storableText(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(storable);
  return Object.fromEntries(
    Object.entries(value).map(([name, part]) => [storableText(name), storable(part)]),
  );
}
