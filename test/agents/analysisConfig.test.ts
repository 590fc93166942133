import { expect, test } from 'vitest';

import { analysisConfig } from '../../src/agents/analysisConfig.ts';

test.each<[string, object, boolean]>([
  ['one that is declared', { properties: { id: {} }, required: ['id'] }, true],
  ['one that every object of a program inherits', { properties: {}, required: ['constructor'] }, false],
  ['any one inside', { properties: { more: { type: 'object', required: ['id'] } } }, true],
  ['any one as unevaluated', { properties: {}, required: ['id'], unevaluatedProperties: true }, true],
  ['one of additionalProperties', { required: ['id'], additionalProperties: { type: 'string' } }, true],
  ['one of no object', { required: ['id'] }, false],
])('Data may require %s: %j is accepted: %j', (_, schema, isAccepted) => {
  expect(analysisConfig.safeParse({ data: { type: 'object', ...schema } }).success).toBe(isAccepted);
});
