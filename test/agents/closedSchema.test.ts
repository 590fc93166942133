import { expect, test } from 'vitest';
import { closedSchema } from '../../src/agents/closedSchema.ts';

const text = { type: 'string' };

test.each<[string, Record<string, unknown>, object]>([
  ['the root', { type: 'object' }, { type: 'object', additionalProperties: false }],
  [
    'objects at every depth',
    { properties: { guest: { properties: { id: text } }, list: { items: { properties: { id: text } } } } },
    {
      properties: {
        guest: { properties: { id: text }, additionalProperties: false },
        list: { items: { properties: { id: text }, additionalProperties: false } },
      },
      additionalProperties: false,
    },
  ],
  [
    'composed objects as a whole',
    { allOf: [{ properties: { a: { properties: { b: text } } } }, { properties: { c: text } }] },
    {
      allOf: [
        { properties: { a: { properties: { b: text }, additionalProperties: false } } },
        { properties: { c: text } },
      ],
      unevaluatedProperties: false,
    },
  ],
  [
    'references where they are used',
    { properties: { guest: { $ref: '#/$defs/guest' } }, $defs: { guest: { properties: { id: text } } } },
    {
      properties: { guest: { $ref: '#/$defs/guest', unevaluatedProperties: false } },
      $defs: { guest: { properties: { id: text } } },
      additionalProperties: false,
    },
  ],
])('A schema closes %s', (_name, schema, expected) => {
  expect(closedSchema(schema)).toEqual(expected);
});

test.each<Record<string, unknown>>([
  { type: 'object', additionalProperties: true },
  { type: 'object', additionalProperties: text },
  { type: 'object', unevaluatedProperties: true },
])('A schema keeps what its author says: %j', (schema) => {
  expect(closedSchema(schema)).toEqual(schema);
});

test('An object inside that declares no properties stays open', () => {
  const schema = { properties: { metadata: { type: 'object' } }, additionalProperties: false };
  expect(closedSchema(schema)).toEqual(schema);
});
