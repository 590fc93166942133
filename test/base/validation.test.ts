import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { jsonPointer, MAX_ERROR_DETAILS, zodDetails } from '../../src/base/validation.ts';

function detailsFor(schema: z.ZodType, value: unknown) {
  const result = schema.safeParse(value);
  if (result.success) throw new Error('the schema accepted the value');
  return zodDetails(result.error);
}

describe('jsonPointer', () => {
  it.each<[PropertyKey[], string]>([
    [[], ''],
    [['nodes', 3, 'data', 'tools', 0], '/nodes/3/data/tools/0'],
    [['a/b', 'm~n', '~1'], '/a~1b/m~0n/~01'],
    [[''], '/'],
  ])('writes %j as %j', (path, pointer) => {
    expect(jsonPointer(path)).toBe(pointer);
  });

  it('is reversed by RFC 6901 decoding', () => {
    fc.assert(
      fc.property(fc.array(fc.string()), (path) => {
        const tokens = jsonPointer(path).split('/').slice(1);
        expect(tokens.map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'))).toEqual(path);
      }),
    );
  });
});

describe('zodDetails names the field and the expected value', () => {
  const field = (schema: z.ZodType) => z.strictObject({ field: schema });

  it.each<[string, z.ZodType, unknown, string]>([
    ['a missing field', z.string(), undefined, 'field is required and must be a string'],
    ['a wrong type', z.string(), 3, 'field must be a string, not a number'],
    ['a number as a string', z.number(), '3', 'field must be a number, not a string'],
    ['a boolean for a string', z.string(), true, 'field must be a string, not a boolean'],
    ['a string for a boolean', z.boolean(), 'true', 'field must be true or false, not a string'],
    ['null for an object', z.strictObject({}), null, 'field must be an object, not null'],
    ['a fraction', z.int(), 1.5, 'field must be a whole number'],
    ['NaN', z.number(), Number.NaN, 'field must be a number'],
    ['an empty string', z.string().min(1), '', 'field must not be empty'],
    ['a short string', z.string().min(2), 'a', 'field must have at least 2 characters'],
    ['a long string', z.string().max(1), 'ab', 'field must have at most 1 character'],
    ['a wrong length', z.string().length(3), 'ab', 'field must have exactly 3 characters'],
    ['a small number', z.number().min(5), 4, 'field must be at least 5'],
    ['a big number', z.number().max(5), 6, 'field must be at most 5'],
    ['an exclusive bound', z.number().gt(5), 5, 'field must be more than 5'],
    ['an exclusive upper bound', z.number().lt(5), 5, 'field must be less than 5'],
    ['too few entries', z.array(z.string()).min(1), [], 'field must have at least one entry'],
    ['too many entries', z.array(z.string()).max(2), ['a', 'b', 'c'], 'field must have at most 2 entries'],
    ['an unknown option', z.enum(['on', 'off']), 'x', 'field must be "on" or "off"'],
    ['a wrong literal', z.literal('on'), 'x', 'field must be "on"'],
    ['no UUID', z.uuid(), 'x', 'field must be a UUID'],
    ['no time', z.iso.datetime(), 'x', 'field must be a time with its zone such as 2026-01-31T09:30:00.000Z'],
    ['a pattern', z.string().regex(/^a$/), 'x', 'field must match /^a$/'],
    ['a prefix', z.string().startsWith('https://'), 'x', 'field must start with "https://"'],
    ['a step', z.number().multipleOf(20), 30, 'field must be a multiple of 20'],
    ['a custom message', z.string().min(3, 'say at least three letters'), 'x', 'say at least three letters'],
    [
      'a refinement with the field’s name',
      z.string().refine(() => false, '{field} must rhyme'),
      'x',
      'field must rhyme',
    ],
    [
      'a refinement that starts with must',
      z.string().refine(() => false, 'must rhyme'),
      'x',
      'field must rhyme',
    ],
    ['a refinement', z.string().refine(() => false, 'field must rhyme'), 'x', 'field must rhyme'],
  ])('%s', (_name, schema, value, message) => {
    expect(detailsFor(field(schema), { field: value })).toEqual([{ path: '/field', message }]);
  });

  it('reports each unknown field at its own path', () => {
    expect(detailsFor(z.strictObject({}), { 'a/b': 1, c: 2 })).toEqual([
      { path: '/a~1b', message: 'a/b is not a known field' },
      { path: '/c', message: 'c is not a known field' },
    ]);
  });

  it('names an array entry by its index', () => {
    expect(detailsFor(z.strictObject({ tools: z.array(z.string()) }), { tools: ['a', 1] })).toEqual([
      { path: '/tools/1', message: 'tools[1] must be a string, not a number' },
    ]);
  });

  it('says value when there is no field', () => {
    expect(detailsFor(z.strictObject({}), 1)).toEqual([
      { path: '', message: 'value must be an object, not a number' },
    ]);
  });

  it('reports an invalid record key', () => {
    expect(detailsFor(z.record(z.string().min(2), z.number()), { a: 1 })).toEqual([
      { path: '/a', message: 'a is not allowed as a key: a must have at least 2 characters' },
    ]);
  });
});

describe('zodDetails on unions', () => {
  const event = z.union([
    z.strictObject({ event: z.literal('dtmf'), digits: z.string().optional() }),
    z.strictObject({ event: z.literal('silence'), afterMs: z.number().optional() }),
  ]);
  const condition = z.strictObject({ when: z.union([z.string().min(1), z.null(), event]) });

  it.each<[string, unknown, { path: string; message: string }[]]>([
    [
      'lists the types when no branch fits',
      { when: 3 },
      [{ path: '/when', message: 'when must be a string, null or an object' }],
    ],
    [
      'reports the branch of the right type',
      { when: '' },
      [{ path: '/when', message: 'when must not be empty' }],
    ],
    [
      'reports the branch with the right literal',
      { when: { event: 'silence', afterMs: '9' } },
      [{ path: '/when/afterMs', message: 'afterMs must be a number, not a string' }],
    ],
  ])('%s', (_name, value, details) => {
    expect(detailsFor(condition, value)).toEqual(details);
  });

  it('lists the options of a discriminated union', () => {
    const shape = z.discriminatedUnion('type', [
      z.strictObject({ type: z.literal('start') }),
      z.strictObject({ type: z.literal('end') }),
    ]);
    expect(detailsFor(shape, { type: 'stop' })).toEqual([
      { path: '/type', message: 'type must be "start" or "end"' },
    ]);
    expect(detailsFor(z.array(shape), [{ type: 'end', to: 1 }])).toEqual([
      { path: '/0/to', message: 'to is not a known field' },
    ]);
  });
});

it('zodDetails returns at most 20 details', () => {
  const many = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`key${index}`, index]));
  expect(detailsFor(z.strictObject({}), many)).toHaveLength(MAX_ERROR_DETAILS);
  expect(detailsFor(z.array(z.string()), Array(1000).fill(1))).toHaveLength(MAX_ERROR_DETAILS);
});

it('zodDetails describes every kind of issue', () => {
  const schema = z.strictObject({
    a: z.union([z.string(), z.array(z.int())]),
    b: z.record(z.string(), z.boolean()),
  });
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const result = schema.safeParse(value);
      if (result.success) return;
      const details = zodDetails(result.error);
      expect(details.length).toBeGreaterThan(0);
      for (const { message } of details) expect(message).not.toMatch(/undefined|\[object/);
    }),
  );
});
