import { describe, expect, test } from 'vitest';

import { strictSchema, withoutNulls } from '../../../src/results/analysis/dataFormat.ts';

const object = (properties: object, more: object = {}) => ({ type: 'object', properties, ...more });
const strict = (properties: object) => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
});

describe('A schema for structured outputs', () => {
  test.each<[string, object, object]>([
    ['makes what is not required nullable', { type: 'string' }, { type: ['string', 'null'] }],
    [
      'drops what is checked later',
      { type: 'string', pattern: '^a', minLength: 1 },
      { type: ['string', 'null'] },
    ],
    [
      'tells how a date is written',
      { type: 'string', format: 'date', description: 'The day' },
      { type: ['string', 'null'], description: 'The day (YYYY-MM-DD)' },
    ],
    [
      'allows null beside the values of an enum',
      { enum: ['a', 'b'] },
      { type: ['string', 'null'], enum: ['a', 'b', null] },
    ],
    ['takes a constant as an enum', { const: 7 }, { type: ['number', 'null'], enum: [7, null] }],
    ['keeps a list of types', { type: ['string', 'null'] }, { type: ['string', 'null'] }],
    [
      'goes into lists',
      { type: 'array', items: { type: 'integer', minimum: 1 } },
      { type: ['array', 'null'], items: { type: 'integer' } },
    ],
  ])('%s', (_what, property, expected) => {
    expect(JSON.parse(JSON.stringify(strictSchema(object({ property }))))).toEqual(
      strict({ property: expected }),
    );
  });

  test('keeps what is required, at every depth', () => {
    const inner = object({ a: { type: 'string' } }, { required: ['a'] });
    expect(JSON.parse(JSON.stringify(strictSchema(object({ inner }, { required: ['inner'] }))))).toEqual(
      strict({ inner: strict({ a: { type: 'string' } }) }),
    );
  });

  test.each([
    ['a reference', { $ref: '#/$defs/a' }],
    ['alternatives', { anyOf: [{ type: 'string' }, { type: 'number' }] }],
    ['an object of any properties', { type: 'object' }],
    ['a list of anything', { type: 'array' }],
    ['values of any type', {}],
    ['an enum of objects', { enum: [{ a: 1 }] }],
    ['a name that is no schema', true],
  ])('is none for %s', (_what, property) => {
    expect(strictSchema(object({ property }))).toBeUndefined();
  });
});

test('Nulls of properties that are not required are left out, at every depth', () => {
  const row = object({ a: {}, b: {} }, { required: ['a'] });
  const schema = object({ rows: { type: 'array', items: row }, row, name: {} });
  const value = { rows: [{ a: null, b: null }], row: { a: 1, b: null }, name: null, other: null };
  expect(withoutNulls(schema, value)).toEqual({ rows: [{ a: null }], row: { a: 1 } });
});
