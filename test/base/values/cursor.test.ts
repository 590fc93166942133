import { expect, test } from 'vitest';
import { z } from 'zod';

import { readCursor, writeCursor } from '../../../src/base/values/cursor.ts';

const SCOPE = ['calls', 'project', null, 'queued'] as const;
const position = z.tuple([z.int(), z.string()]);
const cursor = writeCursor(SCOPE, [7, 'ü']);
const read = (text: string, scope: typeof SCOPE | readonly [string, ...unknown[]] = SCOPE) =>
  readCursor({ limit: 2, offset: 0, cursor: text }, scope, position);

test('A cursor is read where it was written', () => {
  expect(read(cursor)).toEqual([7, 'ü']);
  expect(cursor).toMatch(/^[\w-]+$/);
});

test('A page without a cursor has none', () => {
  expect(readCursor({ limit: 2, offset: 5 }, SCOPE, position)).toBeUndefined();
});

test.each([
  ['another list', ['sessions', 'project', null, 'queued']],
  ['another project', ['calls', 'other', null, 'queued']],
  ['another filter', ['calls', 'project', null, 'failed']],
] as const)('A cursor of %s is refused', (_what, scope) => {
  expect(() => read(cursor, scope)).toThrow(
    expect.objectContaining({ category: 'invalid', code: 'invalid_cursor' }),
  );
});

test.each([
  ['no cursor', 'rubbish'],
  ['a letter more', `${cursor}A`],
  ['a sign more that decoding skips', `${cursor}!`],
  ['a letter less', cursor.slice(0, -1)],
  ['a changed digest', `${cursor.startsWith('A') ? 'B' : 'A'}${cursor.slice(1)}`],
  ['other types than the list has', writeCursor(SCOPE, ['7', 'ü'])],
])('A text with %s is refused', (_what, text) => {
  expect(() => read(text)).toThrow(expect.objectContaining({ code: 'invalid_cursor' }));
});

test('A cursor beside an offset is refused', () => {
  const both = () => readCursor({ limit: 2, offset: 1, cursor }, SCOPE, position);
  expect(both).toThrow(expect.objectContaining({ category: 'invalid', code: 'invalid_request' }));
});
