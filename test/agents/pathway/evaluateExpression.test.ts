import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { evaluateExpression } from '../../../src/agents/pathway/evaluateExpression.ts';
import { OPERATORS } from '../../../src/agents/pathway/expressions.ts';
import { threadTime } from '../../support/mainThreadTime.ts';

function evaluate(expression: unknown, variables: Record<string, unknown> = {}) {
  const reasons: string[] = [];
  const result = evaluateExpression(expression, variables, { onFailure: (reason) => reasons.push(reason) });
  return { result, reasons };
}

const variables = {
  age: 20,
  name: 'Mei',
  digits: '42',
  empty: '',
  none: null,
  vip: true,
  tags: ['new', 'vip'],
  prices: [3, 5],
  customer: { address: { city: 'Taipei' } },
  orders: [{ state: 'open' }, { state: 'paid' }],
};

describe('evaluateExpression', () => {
  it.each<[unknown, boolean]>([
    [{ '==': [{ var: 'age' }, 20] }, true],
    [{ '==': [{ var: 'digits' }, 42] }, true],
    [{ '==': [{ var: 'empty' }, 0] }, false],
    [{ '==': [{ var: 'name' }, 5] }, false],
    [{ '!=': [{ var: 'name' }, 5] }, true],
    [{ '==': [{ var: 'unknown' }, null] }, true],
    [{ '===': [{ var: 'digits' }, 42] }, false],
    [{ '!==': [{ var: 'digits' }, 42] }, true],
    [{ '>=': [{ var: 'age' }, 18] }, true],
    [{ '<': [18, { var: 'age' }, 65] }, true],
    [{ '<=': [18, { var: 'age' }, 19] }, false],
    [{ '>': [{ var: 'digits' }, 41] }, true],
    [{ var: 'vip' }, true],
    [{ var: ['unknown', 'default'] }, true],
    [{ var: 'customer.address.city' }, true],
    [{ var: 'tags.1' }, true],
    [{ var: 'tags.2' }, false],
    [{ '!': { var: 'none' } }, true],
    [{ '!!': [[]] }, false],
    [{ and: [{ var: 'vip' }, { var: 'none' }] }, false],
    [{ or: [{ var: 'none' }, { var: 'vip' }] }, true],
    [{ if: [{ var: 'vip' }, false, true] }, false],
    [{ '?:': [{ var: 'none' }, false, true] }, true],
    [{ in: ['vip', { var: 'tags' }] }, true],
    [{ in: ['Tai', { var: 'customer.address.city' }] }, true],
    [{ in: ['x', { var: 'age' }] }, false],
    [{ missing: ['name', 'empty'] }, true],
    [{ missing: ['name', 'age'] }, false],
    [{ missing_some: [1, ['unknown', 'name']] }, false],
    [{ missing_some: [2, ['unknown', 'name']] }, true],
    [{ '==': [{ '+': { var: 'prices' } }, 8] }, true],
    [{ '==': [{ '-': [{ '*': [2, 3] }, { '/': [8, 2] }] }, 2] }, true],
    [{ '==': [{ '%': [7, 4] }, { max: [1, 3] }] }, true],
    [{ '==': [{ min: [4, 2] }, 2] }, true],
    [{ '==': [{ cat: ['a', { var: 'age' }] }, 'a20'] }, true],
    [{ '==': [{ substr: ['callway', 4] }, 'way'] }, true],
    [{ some: [{ var: 'orders' }, { '==': [{ var: 'state' }, 'paid'] }] }, true],
    [{ all: [{ var: 'orders' }, { '==': [{ var: 'state' }, 'paid'] }] }, false],
    [{ none: [{ var: 'orders' }, { '==': [{ var: 'state' }, 'lost'] }] }, true],
    [{ filter: [{ var: 'prices' }, { '>': [{ var: '' }, 4] }] }, true],
    [{ in: [6, { map: [{ var: 'prices' }, { '*': [{ var: '' }, 2] }] }] }, true],
    [
      {
        '==': [{ reduce: [{ var: 'prices' }, { '+': [{ var: 'current' }, { var: 'accumulator' }] }, 1] }, 9],
      },
      true,
    ],
    [{ in: ['c', { merge: [['a'], 'c'] }] }, true],
  ])('%j is %s', (expression, result) => {
    expect(evaluate(expression, variables)).toEqual({ result, reasons: [] });
  });

  it('supports every listed operator', () => {
    const samples = new Map<string, unknown>([
      ['missing_some', [1, ['a']]],
      ['substr', ['a', 0]],
    ]);
    for (const [operator, [min]] of OPERATORS) {
      const { reasons } = evaluate({ [operator]: samples.get(operator) ?? Array(min).fill(1) });
      expect(reasons.join()).not.toMatch(/Unknown Operator|not an operator/);
    }
  });

  it.each<[string, unknown, RegExp]>([
    ['text in an order of numbers', { '>': [{ var: 'name' }, 3] }, /not a number/],
    ['a division by zero', { '/': [1, 0] }, /not a number/],
    ['a list in a sum', { '+': [[1], 2] }, /not a number/],
    ['an unknown operator', { log: 'secret' }, /log is not a JSONLogic operator/],
    ['an operator that objects inherit', { constructor: [] }, /constructor is not a JSONLogic operator/],
    ['two operators', { and: [1], or: [1] }, /one operator is needed here, not and, or/],
    ['no object', 'name', /must be an object/],
    ['nothing', null, /must be an object/],
    ['too few arguments', { '==': [1] }, /== takes 2 arguments, not 1/],
  ])('is false for %s and reports the reason', (_name, expression, reason) => {
    const { result, reasons } = evaluate(expression, variables);
    expect(result).toBe(false);
    expect(reasons).toHaveLength(1);
    expect(reasons[0]).toMatch(reason);
  });

  it.each(['constructor', '__proto__', 'toString', 'tags.constructor', 'name.length', 'customer.__proto__'])(
    'does not read %s, which is not a variable',
    (path) => {
      expect(evaluate({ '!': [{ var: path }] }, variables)).toEqual({ result: true, reasons: [] });
      expect(evaluate({ missing: [path] }, variables).result).toBe(true);
    },
  );

  it('reads variables that have such names', () => {
    const own = JSON.parse('{"__proto__":"a","constructor":"b"}');
    expect(evaluate({ '==': [{ var: '__proto__' }, 'a'] }, own).result).toBe(true);
    expect(evaluate({ '==': [{ var: 'constructor' }, 'b'] }, own).result).toBe(true);
  });

  const many = Array.from({ length: 2_000 }, (_, index) => index);
  it.each<[string, unknown, RegExp]>([
    [
      'loops in loops',
      { map: [{ var: 'many' }, { map: [many.slice(0, 500), { '+': [{ var: '' }, 1] }] }] },
      /more than 5000 steps/,
    ],
    [
      'text that doubles',
      { reduce: [{ var: 'many' }, { cat: [{ var: 'accumulator' }, { var: 'accumulator' }] }, 'x'] },
      /longer than 100000|more than/,
    ],
    [
      'a list that doubles',
      { reduce: [{ var: 'many' }, { merge: [{ var: 'accumulator' }, { var: 'accumulator' }] }, [1]] },
      /longer than 100000|more than/,
    ],
  ])('stops at the limit of %s', (_name, expression, reason) => {
    const threadMs = threadTime();
    const startedMs = threadMs();
    const { result, reasons } = evaluate(expression, { many });
    expect(result).toBe(false);
    expect(reasons.join()).toMatch(reason);
    expect(threadMs() - startedMs).toBeLessThan(2_000);
  });

  it('never throws, for any expression and variables', () => {
    const operator = fc.constantFrom(...OPERATORS.keys(), 'log', '__proto__');
    const { expression } = fc.letrec((tie) => ({
      expression: fc.oneof(
        { maxDepth: 4 },
        fc.jsonValue(),
        fc
          .tuple(operator, fc.array(tie('expression'), { maxLength: 3 }))
          .map(([name, operands]) => ({ [name]: operands })),
      ),
    }));
    fc.assert(
      fc.property(expression, fc.dictionary(fc.string(), fc.jsonValue()), (logic, values) => {
        const before = JSON.stringify(values);
        expect(typeof evaluateExpression(logic, values)).toBe('boolean');
        expect(JSON.stringify(values)).toBe(before);
      }),
    );
  });
});

describe('An expression that costs much', () => {
  const list = Array.from({ length: 900 }, (_, n) => `${n}`);
  const text = 'a'.repeat(90_000);
  it.each<[string, object]>([
    [
      'loops in loops',
      {
        map: [
          { var: 'list' },
          {
            reduce: [
              {
                merge: [
                  [1, 2, 3, 4, 5, 6],
                  [7, 8, 9],
                ],
              },
              { '+': [{ var: 'current' }, 1] },
              0,
            ],
          },
        ],
      },
    ],
    [
      'long texts',
      { reduce: [{ var: 'list' }, { cat: [{ var: 'accumulator' }, { var: 'accumulator' }] }, 'ab'] },
    ],
    [
      'long lists',
      { merge: Array.from({ length: 90 }, () => ({ merge: [{ var: 'list' }, { var: 'list' }] })) },
    ],
  ])('of %s is stopped', (_name, expression) => {
    const reasons: string[] = [];
    const threadMs = threadTime();
    const startedMs = threadMs();
    const onFailure = (reason: string) => void reasons.push(reason);
    for (let round = 0; round < 5; round += 1) evaluateExpression(expression, { list, text }, { onFailure });
    expect(threadMs() - startedMs).toBeLessThan(5 * 150);
    evaluateExpression(expression, { list, text }, { onFailure });
    expect(reasons.at(-1)).toMatch(/more than|longer than/);
  });
});
