/**
 * Reads vendors' JSON field by field. A field of an unexpected type counts as absent, since one odd field must not fail
 * the answer; a schema would run for every token.
 */

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function asText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

export function asArray(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** A number of tokens; endpoints that do not count send null, or -1. */
export function asCount(value: unknown): number | undefined {
  return typeof value === 'number' && value >= 0 ? value : undefined;
}
