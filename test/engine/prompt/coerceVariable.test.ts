import { expect, test } from 'vitest';
import { coerceVariable } from '../../../src/engine/prompt/coerceVariable.ts';

type Config = Parameters<typeof coerceVariable>[0];

const config = (type: Config['type']): Config => ({
  name: 'v',
  type,
  description: '',
  ...(type === 'enum' ? { values: ['Small', 'Large'] } : {}),
});

const TYPES = ['string', 'number', 'boolean', 'date', 'enum'] as const;

test.each(TYPES.flatMap((type) => [null, undefined, '', '  ', '\n'].map((value) => ({ type, value }))))(
  '$value is no value of type $type',
  ({ type, value }) => {
    expect(coerceVariable(config(type), value)).toBeUndefined();
  },
);

test.each<[Config['type'], unknown, unknown]>([
  ['string', ' Ann ', 'Ann'],
  ['string', 12, '12'],
  ['string', { name: 'Ann' }, undefined],
  ['number', 0, 0],
  ['number', '0', 0],
  ['number', ' 1,250.5 ', 1250.5],
  ['number', '-3', -3],
  ['number', ',', undefined],
  ['number', 'twelve', undefined],
  ['number', '1 2', undefined],
  ['number', Number.NaN, undefined],
  ['number', Number.POSITIVE_INFINITY, undefined],
  ['number', true, undefined],
  ['number', [], undefined],
  ['boolean', false, false],
  ['boolean', ' YES ', true],
  ['boolean', '0', false],
  ['boolean', 'perhaps', undefined],
  ['date', '2026-02-28', '2026-02-28'],
  ['date', '2026-02-28T10:00:00Z', '2026-02-28'],
  ['date', '2026-02-30', undefined],
  ['date', '28.02.2026', undefined],
  ['enum', ' small ', 'Small'],
  ['enum', 'medium', undefined],
])('As a %s, %j becomes %j', (type, value, expected) => {
  expect(coerceVariable(config(type), value)).toBe(expected);
});
