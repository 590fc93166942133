import { describe, expect, it } from 'vitest';
import {
  checkExpression,
  expressionVariables,
  isConstantExpression,
} from '../../../src/agents/pathway/expressions.ts';

function nested(depth: number): unknown {
  let value: unknown = { var: 'a' };
  for (let level = 0; level < depth; level++) value = { '!': value };
  return value;
}

describe('checkExpression', () => {
  it.each<[unknown, string, RegExp]>([
    [[], '/c', /must be an object with one operator/],
    [{}, '/c', /one operator is needed here, not none/],
    [{ '==': [1, 2], '!': [1] }, '/c', /not ==, !/],
    [{ '==': [1, { frobnicate: 1 }] }, '/c/==/1/frobnicate', /frobnicate is not a JSONLogic operator/],
    [{ '/': [1, { '/': [2] }] }, '/c/~1/1/~1', /takes 2 arguments, not 1/],
    [{ '!': [1, 2] }, '/c/!', /takes 1 argument, not 2/],
    [{ substr: ['a'] }, '/c/substr', /takes 2 to 3 arguments, not 1/],
    [{ and: [] }, '/c/and', /takes at least 1 argument, not 0/],
    [{ if: [{ a: 1, b: 2 }, 1] }, '/c/if/0', /not a, b/],
  ])('reports the error in %j at %s', (expression, path, message) => {
    const details = checkExpression(expression, ['c']);
    expect(details).toHaveLength(1);
    expect(details[0]).toEqual({ path, message: expect.stringMatching(message) });
  });

  it.each([
    [{ var: '' }],
    [{ var: [] }],
    [{ '!': { var: 'a' } }],
    [{ '+': { var: 'prices' } }],
    [{ missing: { merge: ['a', { if: [{ var: 'b' }, ['c'], []] }] } }],
    [nested(30)],
  ])('accepts %j', (expression) => {
    expect(checkExpression(expression)).toEqual([]);
  });

  it('refuses deep nesting without recursion into it', () => {
    expect(checkExpression(nested(10_000))[0]?.message).toMatch(/at most 32 levels/);
  });
});

it.each<[unknown, string[]]>([
  [{ '==': [{ var: 'customer.age' }, { var: ['limit', 3] }] }, ['customer', 'limit']],
  [{ missing: ['a', 'b.c'] }, ['a', 'b']],
  [{ missing_some: [1, ['a', 'b']] }, ['a', 'b']],
  [{ some: [{ var: 'orders' }, { '==': [{ var: 'state' }, 'paid'] }] }, ['orders']],
  [{ reduce: [{ var: 'list' }, { '+': [{ var: 'current' }, 1] }, { var: 'start' }] }, ['list', 'start']],
  [{ var: '' }, []],
  [{ var: { cat: ['a', { var: 'suffix' }] } }, ['suffix']],
])('expressionVariables lists the variables of %j', (expression, names) => {
  expect(expressionVariables(expression)).toEqual(names);
});

it.each<[unknown, boolean]>([
  [{ '==': [1, 2] }, true],
  [{ '==': ['var', 'missing'] }, true],
  [{ '==': [1, { var: 'a' }] }, false],
  [{ if: [true, { missing: ['a'] }] }, false],
])('isConstantExpression of %j is %s', (expression, constant) => {
  expect(isConstantExpression(expression)).toBe(constant);
});

it('expressionVariables stops at deep nesting', () => {
  expect(expressionVariables(nested(10_000))).toEqual([]);
  expect(isConstantExpression(nested(10_000))).toBe(false);
});
