/**
 * Reading what endpoints send, field by field. A field of another type than the one it should have counts as absent,
 * since one odd field must not cost the person their answer; and looking is cheaper than a schema, which would run for
 * every token.
 */

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** A count of tokens; endpoints that do not count send null, or -1. */
export function countOf(value: unknown): number | undefined {
  return typeof value === 'number' && value >= 0 ? value : undefined;
}
