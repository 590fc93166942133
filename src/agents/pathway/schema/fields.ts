import { z } from 'zod';

/** Deep enough for any real arguments or expression; keeps every recursive walk far from the stack's end. */
export const MAX_JSON_DEPTH = 32;

/** Values and keys in one arguments object or expression. */
export const MAX_JSON_VALUES = 2_000;

const MAX_ID_CHARACTERS = 128;

/** Control characters other than tab and line ends, and halves of surrogate pairs: no database text holds them. */
const UNSTORABLE = /\p{Cs}|[^\P{Cc}\t\n\r]/u;

/** Text for people and models: any Unicode but control characters. */
export function text(minCharacters: number, maxCharacters: number) {
  return z
    .string()
    .min(minCharacters)
    .max(maxCharacters)
    .refine(isStorable, '{field} has a control character; remove it');
}

/** The id of a node, an edge or a tool: chosen by the user or made by the service. */
export const idSchema = z
  .string()
  .min(1)
  .max(MAX_ID_CHARACTERS)
  .regex(/^[^\p{Cc}\p{Cs}]*$/u, '{field} must be free of control characters');

/** Any JSON object whose size and depth are bounded. */
export const jsonObjectSchema = z.record(z.string(), z.unknown()).superRefine(refuseUnkeepable);

/** Adds an issue when a JSON value is too deep, too large or not storable; for `superRefine`. */
export function refuseUnkeepable(value: unknown, context: z.core.$RefinementCtx): void {
  const objection = jsonObjection(value);
  if (objection) context.addIssue({ code: 'custom', message: `{field} ${objection}` });
}

/** Goes level by level, so that no depth of nesting can exhaust the stack. */
function jsonObjection(value: unknown): string | undefined {
  let level: unknown[] = [value];
  let seen = 0;
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_JSON_DEPTH) return `must be nested at most ${MAX_JSON_DEPTH} levels deep`;
    seen += level.length;
    if (seen > MAX_JSON_VALUES) return `must hold at most ${MAX_JSON_VALUES} keys and values`;
    if (level.some((item) => typeof item === 'string' && !isStorable(item))) {
      return 'has a control character; remove it';
    }
    level = level.flatMap(childrenOf);
  }
  return undefined;
}

/** Keys count as strings of their own, so that an unstorable key is found too. */
function childrenOf(value: unknown): unknown[] {
  if (typeof value !== 'object' || value === null) return [];
  return Array.isArray(value) ? value : [...Object.keys(value), ...Object.values(value)];
}

function isStorable(value: string): boolean {
  return !UNSTORABLE.test(value);
}
