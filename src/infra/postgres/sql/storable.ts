/** Matches JSON text with a NUL character or a lone surrogate, or with an escaped backslash that looks like one. */
const UNSTORABLE = /\\u(?:0000|d[89a-f])/;

/**
 * Serializes a value as JSON that Postgres can store. Requests are validated; texts of models, tools and other
 * services are not, and a session with an invalid text could be neither shown nor ended.
 */
export function storableJson(value: unknown): string {
  const json = JSON.stringify(value);
  return UNSTORABLE.test(json) ? JSON.stringify(storable(value)) : json;
}

/** Replaces NUL characters and lone surrogates by U+FFFD. */
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
