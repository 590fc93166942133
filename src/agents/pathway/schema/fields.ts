import { z } from 'zod';

/** Enough for real arguments and expressions, and safe for recursive code. */
export const MAX_JSON_DEPTH = 32;

/** Keys and values of one arguments object or expression. */
const MAX_JSON_VALUES = 2_000;

const MAX_ID_CHARACTERS = 128;

/** Control characters except tab and line breaks, and lone surrogates, which Postgres cannot store. */
const UNSTORABLE = /\p{Cs}|[^\P{Cc}\t\n\r]/u;

/** Any Unicode text without control characters. */
export function text(minCharacters: number, maxCharacters: number) {
  return z
    .string()
    .min(minCharacters)
    .max(maxCharacters)
    .refine(isStorable, '{field} must not contain control characters');
}

/** The id of a node, an edge or a tool; chosen by the user or generated. */
export const idSchema = z
  .string()
  .min(1)
  .max(MAX_ID_CHARACTERS)
  .regex(/^[^\p{Cc}\p{Cs}]*$/u, '{field} must be free of control characters');

/** A JSON object of limited size and depth. */
export const jsonObjectSchema = z.record(z.string(), z.unknown()).superRefine(refuseUnstorable);

/** Adds an issue when a JSON value is too deep, too large or cannot be stored; for `superRefine`. */
export function refuseUnstorable(value: unknown, context: z.core.$RefinementCtx): void {
  const objection = jsonObjection(value);
  if (objection) context.addIssue({ code: 'custom', message: `{field} ${objection}` });
}

/** Iterates by level, so that no depth can exhaust the stack. */
function jsonObjection(value: unknown): string | undefined {
  let level: unknown[] = [value];
  let seen = 0;
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_JSON_DEPTH) return `must be nested at most ${MAX_JSON_DEPTH} levels deep`;
    seen += level.length;
    if (seen > MAX_JSON_VALUES) return `must have at most ${MAX_JSON_VALUES} keys and values`;
    if (level.some((item) => typeof item === 'string' && !isStorable(item))) {
      return 'must not contain control characters';
    }
    level = level.flatMap(childrenOf);
  }
  return undefined;
}

/** Includes the keys, which must be storable too. */
function childrenOf(value: unknown): unknown[] {
  if (typeof value !== 'object' || value === null) return [];
  return Array.isArray(value) ? value : [...Object.keys(value), ...Object.values(value)];
}

function isStorable(value: string): boolean {
  return !UNSTORABLE.test(value);
}
