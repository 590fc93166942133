import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';

import type { JsonObject } from '../../../offline/chat/request.ts';
import { answerByRules } from '../../../offline/chat/ruleModel.ts';
import { closedSchema } from '../../../src/agents/closedSchema.ts';
import { questionOf } from '../../../src/results/analysis/question.ts';

const criteria = [
  { name: 'polite', description: 'The agent greets.' },
  { name: 'warmth', description: 'How warm the agent was.', type: 'score' as const },
];
const dispositions = [
  { value: 'booked', description: 'A table was booked.', success: true },
  { value: 'declined', description: 'The person refuses.', success: false },
];

/** What the rehearsal model finds in a conversation by a user's schema. */
function analyze(schema: JsonObject, words = 'My name is Ada Lovelace, a table for 4 please.') {
  const question = questionOf({ criteria, analysis: { dispositions, data: schema } });
  const answer = answerByRules({
    purpose: 'judge',
    messages: [
      { role: 'user', content: words },
      { role: 'assistant', content: 'The agent greets. A table was booked.' },
      { role: 'system', content: question?.prompt ?? '' },
    ],
    jsonSchema: question?.format.jsonSchema,
  });
  const read = question?.read(JSON.parse(answer.kind === 'text' ? answer.tokens.join('') : '')) ?? {};
  const validate = new Ajv2020({ strict: false, validateFormats: false }).compile(closedSchema(schema));
  return { ...read, misfit: validate(read.data) ? undefined : validate.errors };
}

const object = (properties: JsonObject, more: JsonObject = {}) => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  ...more,
});
const text = { type: 'string' };
const tree = object({
  value: { type: 'integer' },
  inner: { type: 'array', items: { $ref: '#/$defs/tree' } },
});

test.each<[string, JsonObject, JsonObject]>([
  ['any object', { type: 'object' }, {}],
  ['more properties', object({ guests: { type: 'integer' } }, { additionalProperties: true }), { guests: 4 }],
  ['a map', object({ answers: { type: 'object', additionalProperties: text } }), { answers: {} }],
  ['a map of at least one', { type: 'object', minProperties: 1, additionalProperties: text }, { value1: '' }],
  ['a list', object({ items: { type: 'array', items: text } }), { items: [] }],
  ['a list of two', object({ items: { type: 'array', minItems: 2, items: text } }), { items: ['', ''] }],
  [
    'a tuple',
    object({ pair: { type: 'array', prefixItems: [text, { type: 'number' }], minItems: 2 } }),
    { pair: ['', 0] },
  ],
  [
    'an object inside',
    object({ who: object({ name: text, old: { type: 'boolean' } }) }),
    { who: { name: '', old: false } },
  ],
  ['null inside', object({ who: { type: ['object', 'null'], properties: { name: text } } }), { who: null }],
  [
    'a reference',
    object({ who: { $ref: '#/$defs/who' } }, { $defs: { who: object({ name: text }) } }),
    { who: { name: '' } },
  ],
  [
    'a schema in itself',
    object({ tree: { $ref: '#/$defs/tree' } }, { $defs: { tree } }),
    { tree: { value: 0, inner: [] } },
  ],
  [
    'an alternative',
    object({ pay: { oneOf: [object({ card: text }), object({ cash: text })] } }),
    { pay: { card: '' } },
  ],
  ['null or more', object({ note: { anyOf: [text, { type: 'null' }] } }), { note: null }],
  [
    'all of several',
    object({ both: { allOf: [object({ a: text }), object({ b: text })] } }),
    { both: { a: '', b: '' } },
  ],
  [
    'what depends',
    { type: 'object', properties: { a: text, b: text }, required: ['a'], dependentRequired: { a: ['b'] } },
    { a: '', b: '' },
  ],
  ['a constant', object({ version: { const: 'v1' } }), { version: 'v1' }],
  ['numbers of a list', object({ rank: { enum: [1, 2] } }), { rank: 1 }],
  ['a range', object({ a: { type: 'integer', exclusiveMinimum: 2.5, multipleOf: 5 } }), { a: 5 }],
  ['a range below zero', object({ a: { type: 'number', exclusiveMaximum: -1, minimum: -1.5 } }), { a: -1.5 }],
  ['a pattern', object({ zip: { type: 'string', pattern: '^\\d{5}$' } }), { zip: '11111' }],
  ['a length', object({ a: { type: 'string', minLength: 3 } }), { a: 'aaa' }],
  ['a date', object({ a: { type: 'string', format: 'date' } }), { a: '1970-01-01' }],
  [
    'what the person said',
    object({ name: { anyOf: [text, { type: 'null' }] }, guests: { type: 'integer' } }),
    { name: 'Ada Lovelace', guests: 4 },
  ],
  [
    'a limit that what was said exceeds',
    { type: 'object', properties: { guests: { type: 'integer', maximum: 3 } } },
    {},
  ],
])('The rehearsal model answers a schema of %s', (_title, schema, expected) => {
  expect(analyze(schema)).toMatchObject({
    results: [{ name: 'polite', passed: true }],
    scores: [{ name: 'warmth' }],
    disposition: 'booked',
    data: expected,
    fault: undefined,
    misfit: undefined,
  });
});

test('A schema that demands very much is followed within bounds', () => {
  const list = (items: JsonObject) => ({ type: 'array', minItems: 1_000_000, items });
  expect(analyze(object({ all: list(list(list(text))) })).fault).toBeUndefined();
});
