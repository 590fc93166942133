import { describe, expect, test } from 'vitest';
import { z } from 'zod';

import { fieldsOf } from '../../src/api/answerFields.ts';

const taken = (schema: z.ZodType, value: unknown) => {
  const take = fieldsOf(schema);
  return take ? take(value) : value;
};
const inner = z.object({ shown: z.string() });
const more = { shown: 'a', hidden: 'b' };

describe('of an answer goes out what its schema names', () => {
  test.each<[string, z.ZodType, unknown, unknown]>([
    ['a field', inner, more, { shown: 'a' }],
    ['a field within', z.object({ inner }), { inner: more, hidden: 1 }, { inner: { shown: 'a' } }],
    ['fields of items', z.array(inner), [more, more], [{ shown: 'a' }, { shown: 'a' }]],
    ['a field that may be null', z.object({ inner: inner.nullable() }), { inner: null }, { inner: null }],
    ['a field that may be null, and is not', inner.nullable(), more, { shown: 'a' }],
    ['a field that may be missing', z.object({ inner: inner.optional() }), { hidden: 1 }, {}],
    ['fields of a record', z.record(z.string(), inner), { x: more }, { x: { shown: 'a' } }],
    ['fields of one of several', z.union([z.string(), inner]), more, { shown: 'a' }],
    ['one of several that may be missing', z.object({ a: z.union([z.string(), inner]).optional() }), {}, {}],
    [
      'one of several that may be null',
      z.object({ a: z.union([z.string(), inner]).nullable() }),
      { a: null },
      { a: null },
    ],
    ['a field with a default', z.object({ count: z.int().default(3) }), {}, { count: 3 }],
  ])('%s', (_, schema, value, expected) => {
    expect(taken(schema, value)).toEqual(expected);
  });

  test('and all of what its schema leaves open', () => {
    const schema = z.object({ open: z.unknown(), names: z.record(z.string(), z.string()) });
    const value = { open: { any: [1] }, names: { a: 'b' } };
    expect(taken(schema, value)).toEqual(value);
    expect(taken(z.looseObject({ error: z.string() }), { error: 'x', more: 1 })).toEqual({
      error: 'x',
      more: 1,
    });
  });
});

test('a value that may go out whole is not looked at', () => {
  for (const schema of [z.string(), z.null(), z.array(z.int()), z.union([z.string(), z.int()])]) {
    expect(fieldsOf(schema)).toBeUndefined();
  }
});

test('where the schema itself must look, a value that it does not let through is an error', () => {
  expect(() => taken(z.union([inner, z.string()]), 7)).toThrow(z.core.$ZodError);
});
