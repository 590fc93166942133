import { createHash } from 'node:crypto';
import type { z } from 'zod';

import { invalid } from '../errors.ts';
import type { Page } from './page.ts';

export const MAX_CURSOR_CHARACTERS = 2_000;
const DIGEST_BYTES = 12;

/** The list that a cursor belongs to: its name, its owner and its filters. */
export type CursorScope = readonly [name: string, ...filters: unknown[]];

/** Writes a position in a list as an opaque text for URLs. */
export function writeCursor(scope: CursorScope, position: readonly unknown[]): string {
  const text = JSON.stringify(position);
  return Buffer.concat([digestOf(scope, text), Buffer.from(text)]).toString('base64url');
}

/**
 * Reads the position behind which a page begins. A cursor gives no access: what is found with it is decided by the
 * request alone.
 *
 * @returns The position; undefined for a page without a cursor.
 * @throws {CallwayError} 400 `invalid_cursor` for one that was changed, or belongs to another list, owner or filter.
 */
export function readCursor<Position>(
  { cursor, offset }: Page,
  scope: CursorScope,
  schema: z.ZodType<Position>,
): Position | undefined {
  if (cursor === undefined) return undefined;
  if (offset > 0) throw refusal('invalid_request', 'cursor and offset exclude each other: give one of them');
  const parsed = schema.safeParse(contentOf(cursor, scope));
  if (parsed.success) return parsed.data;
  throw refusal(
    'invalid_cursor',
    'cursor must be the nextCursor of this list, unchanged and with the same filters',
  );
}

/** @returns The cursor's content; undefined for a cursor that {@link writeCursor} did not write for this list. */
function contentOf(cursor: string, scope: CursorScope): unknown {
  const bytes = Buffer.from(cursor, 'base64url');
  const text = bytes.subarray(DIGEST_BYTES).toString();
  // Decoding skips characters that do not belong to the alphabet.
  const isWhole = bytes.toString('base64url') === cursor;
  if (!isWhole || !bytes.subarray(0, DIGEST_BYTES).equals(digestOf(scope, text))) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function digestOf(scope: CursorScope, text: string): Buffer {
  return createHash('sha256')
    .update(JSON.stringify([scope, text]))
    .digest()
    .subarray(0, DIGEST_BYTES);
}

function refusal(code: string, message: string) {
  return invalid(code, message, [{ path: '/cursor', message }]);
}
