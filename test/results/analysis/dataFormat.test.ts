import { describe, expect, test } from 'vitest';

import { asDeclared, strictSchema, withoutReferences } from '../../../src/results/analysis/dataFormat.ts';

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
    [
      'takes an object that may be null',
      object({ a: { type: 'string' } }, { type: ['object', 'null'], required: ['a'] }),
      { ...strict({ a: { type: 'string' } }), type: ['object', 'null'] },
    ],
    // As pydantic writes Optional[str], and OpenAPI 3.0 a field that may be null.
    [
      'takes alternative types as a list of them',
      { title: 'Name', default: null, anyOf: [{ type: 'string', maxLength: 9 }, { type: 'null' }] },
      { type: ['string', 'null'] },
    ],
    [
      'takes alternatives',
      { anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'integer' } }] },
      {
        anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'integer' } }, { type: 'null' }],
      },
    ],
    [
      'takes alternatives of which one holds',
      { oneOf: [{ const: 'cash' }, object({ card: { type: 'string' } }, { required: ['card'] })] },
      {
        anyOf: [{ type: ['string'], enum: ['cash'] }, strict({ card: { type: 'string' } }), { type: 'null' }],
      },
    ],
    ['takes OpenAPI’s null', { type: 'string', nullable: true }, { type: ['string', 'null'] }],
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
    ['alternatives of which one is none', { anyOf: [{ type: 'string' }, { type: 'object' }] }],
    ['alternatives beside properties', object({ a: { type: 'string' } }, { anyOf: [{ type: 'object' }] })],
    [
      'an object that takes more',
      object({ a: { type: 'string' } }, { additionalProperties: { type: 'string' } }),
    ],
    ['an object that requires what it does not name', object({ a: { type: 'string' } }, { required: ['b'] })],
    ['an object of any properties', { type: 'object' }],
    ['a list of anything', { type: 'array' }],
    ['values of any type', {}],
    ['an enum of objects', { enum: [{ a: 1 }] }],
    ['a name that is no schema', true],
  ])('is none for %s', (_what, property) => {
    expect(strictSchema(object({ property }))).toBeUndefined();
  });
});

describe('The references of a schema', () => {
  const contact = object({ email: { type: 'string' } });

  test.each([
    ['$defs', '#/$defs/the~1contact'],
    ['definitions', '#/definitions/the~1contact'],
  ])('to its %s are written out', (keyword, $ref) => {
    const schema = object({ a: { $ref, title: 'A' } }, { [keyword]: { 'the/contact': contact } });
    expect(withoutReferences(schema)).toEqual(object({ a: { ...contact, title: 'A' } }));
  });

  test('stay where a definition contains itself, is elsewhere or missing', () => {
    const node = object({ next: { $ref: '#/$defs/node' } });
    const properties = { node, far: { $ref: 'https://example.com/a' }, none: { $ref: '#/$defs/none' } };
    const plain = withoutReferences(object(properties, { $defs: { node } }));
    expect(plain).toMatchObject({
      properties: { node: { properties: { next: node } }, far: properties.far },
    });
    expect(strictSchema(plain)).toBeUndefined();
  });

  test('that unfold to any size are written out as far as structured outputs would take', () => {
    const names = Array.from({ length: 20 }, (_, index) => `d${index}`);
    const twice = (name: string) =>
      object({ a: { $ref: `#/$defs/${name}` }, b: { $ref: `#/$defs/${name}` } });
    const $defs = Object.fromEntries(names.map((name, index) => [name, twice(`d${index + 1}`)]));
    const schema = object({ a: twice('d0') }, { $defs: { ...$defs, d20: { type: 'string' } } });
    expect(JSON.stringify(withoutReferences(schema)).length).toBeLessThan(20_000);
  });
});

describe('The data of an answer', () => {
  const row = object({ a: {}, b: {} }, { required: ['a'] });

  test('has no nulls of properties that are not required, and none that the schema does not name', () => {
    const schema = object({ rows: { type: 'array', items: row }, row, name: {} });
    const value = { rows: [{ a: null, b: null, c: 3 }], row: { a: 1, b: null }, name: null, other: 1 };
    expect(asDeclared(schema, value)).toEqual({ rows: [{ a: null }], row: { a: 1 } });
  });

  test.each([
    ['alternatives', { anyOf: [row, { type: 'null' }] }],
    ['parts', { allOf: [row, object({ b: {} })] }],
  ])('keeps what %s of its schema require or name', (_what, property) => {
    const value = { property: { a: null, b: 2, c: 3 } };
    const kept = asDeclared(object({ property }), value);
    expect(kept).toEqual({ property: { a: null, b: 2 } });
  });

  test.each([
    ['says so', { additionalProperties: { type: 'string' } }],
    ['has patterns of names', { patternProperties: { '^x': {} } }],
    ['has conditions', { if: {}, else: {} }],
  ])('keeps other names where the schema %s', (_what, more) => {
    expect(asDeclared(object({ a: {} }, more), { a: 1, x: 2 })).toEqual({ a: 1, x: 2 });
  });

  test('is whole where the schema names nothing', () => {
    expect(asDeclared(object({ any: { type: 'object' } }), { any: { x: 1 } })).toEqual({ any: { x: 1 } });
  });
});
