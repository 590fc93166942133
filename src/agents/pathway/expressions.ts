import type { ErrorDetail } from '../../base/errors.ts';
import { jsonPointer } from '../../base/validation.ts';
import { MAX_JSON_DEPTH } from './schema/fields.ts';

/** The number of arguments of an operator. */
type Arity = readonly [min: number, max: number];

const ANY = Number.POSITIVE_INFINITY;

/**
 * The operators of JSONLogic, without `log`, which has a side effect.
 *
 * @see https://jsonlogic.com/operations.html
 */
export const OPERATORS: ReadonlyMap<string, Arity> = new Map<string, Arity>([
  ['var', [0, 2]],
  ['missing', [1, ANY]],
  ['missing_some', [2, 2]],
  ['if', [2, ANY]],
  ['?:', [3, 3]],
  ['==', [2, 2]],
  ['===', [2, 2]],
  ['!=', [2, 2]],
  ['!==', [2, 2]],
  ['!', [1, 1]],
  ['!!', [1, 1]],
  ['or', [1, ANY]],
  ['and', [1, ANY]],
  ['>', [2, 2]],
  ['>=', [2, 2]],
  ['<', [2, 3]],
  ['<=', [2, 3]],
  ['max', [1, ANY]],
  ['min', [1, ANY]],
  ['+', [1, ANY]],
  ['-', [1, 2]],
  ['*', [1, ANY]],
  ['/', [2, 2]],
  ['%', [2, 2]],
  ['map', [2, 2]],
  ['filter', [2, 2]],
  ['reduce', [2, 3]],
  ['all', [2, 2]],
  ['some', [2, 2]],
  ['none', [2, 2]],
  ['merge', [0, ANY]],
  ['in', [2, 2]],
  ['cat', [1, ANY]],
  ['substr', [2, 3]],
]);

/** Operators that evaluate their second argument once per entry of the first, with the entry as the variables. */
const ITERATORS: ReadonlySet<string> = new Set(['map', 'filter', 'reduce', 'all', 'some', 'none']);

/**
 * Checks the operators of a JSONLogic expression and their numbers of arguments, without evaluating it.
 *
 * @param path - Path of the expression in the document; the details' paths are below it.
 */
export function checkExpression(expression: unknown, path: readonly PropertyKey[] = []): ErrorDetail[] {
  if (!isOperation(expression)) {
    return [{ path: jsonPointer(path), message: 'an expression must be an object with one operator' }];
  }
  return checkValue(expression, path, 0);
}

/**
 * The top-level variable names that an expression reads. A `var` within an iterator's second argument reads the entry,
 * and a computed name is unknown; neither is listed.
 */
export function expressionVariables(expression: unknown): string[] {
  return [...new Set(expressionPaths(expression).map((path) => path.split('.', 1)[0] ?? ''))];
}

/** Does the same as {@link expressionVariables}, but returns paths: `customer.name`. */
export function expressionPaths(expression: unknown): string[] {
  const paths = new Set<string>();
  collectVariables(expression, paths, 0);
  return [...paths];
}

/** True when the result does not depend on variables. */
export function isConstantExpression(expression: unknown): boolean {
  return !mentions(expression, new Set(['var', 'missing', 'missing_some']), 0);
}

/** True when a part of it is evaluated once per entry of a list, so that its cost is not that of its length. */
export function iterates(expression: unknown): boolean {
  return mentions(expression, ITERATORS, 0);
}

function checkValue(value: unknown, path: readonly PropertyKey[], depth: number): ErrorDetail[] {
  if (typeof value !== 'object' || value === null) return [];
  if (depth > MAX_JSON_DEPTH) {
    return [
      {
        path: jsonPointer(path),
        message: `an expression must be nested at most ${MAX_JSON_DEPTH} levels deep`,
      },
    ];
  }
  if (Array.isArray(value)) {
    return value.flatMap((entry, index) => checkValue(entry, [...path, index], depth + 1));
  }
  const [operator, ...others] = Object.keys(value);
  if (operator === undefined || others.length > 0) {
    const found = operator === undefined ? 'none' : [operator, ...others].join(', ');
    return [{ path: jsonPointer(path), message: `exactly one operator is needed here, not ${found}` }];
  }
  const operands: unknown = Object.values(value)[0];
  const operandsPath = [...path, operator];
  const objection = checkOperator(operator, operands);
  if (objection) return [{ path: jsonPointer(operandsPath), message: objection }];
  return checkValue(operands, operandsPath, depth + 1);
}

function checkOperator(operator: string, operands: unknown): string | undefined {
  const arity = OPERATORS.get(operator);
  if (!arity)
    return `${operator} is not a JSONLogic operator; the operators are ${[...OPERATORS.keys()].join(' ')}`;
  const [min, max] = arity;
  const count = argumentsOf(operands).length;
  if (count >= min && count <= max) return undefined;
  // A single operation may evaluate to the list of arguments: {"+": {"var": "prices"}}.
  if (isOperation(operands) && max === ANY) return undefined;
  const wanted = max === min ? `${min}` : max === ANY ? `at least ${min}` : `${min} to ${max}`;
  return `${operator} takes ${wanted} argument${wanted === '1' || wanted === 'at least 1' ? '' : 's'}, not ${count}`;
}

function collectVariables(value: unknown, names: Set<string>, depth: number): void {
  if (typeof value !== 'object' || value === null || depth > MAX_JSON_DEPTH) return;
  if (Array.isArray(value)) {
    for (const entry of value) collectVariables(entry, names, depth + 1);
    return;
  }
  for (const [operator, operands] of Object.entries(value)) {
    for (const path of pathsRead(operator, argumentsOf(operands))) {
      if (!/^(?:\.|$)/.test(String(path))) names.add(String(path));
    }
    const inScope = ITERATORS.has(operator)
      ? argumentsOf(operands).filter((_, index) => index !== 1)
      : operands;
    collectVariables(inScope, names, depth + 1);
  }
}

/** The literal paths that an operation reads: `var` takes one and a default, `missing` any number. */
function pathsRead(operator: string, operands: readonly unknown[]): unknown[] {
  const isPath = (operand: unknown) => typeof operand === 'string' || typeof operand === 'number';
  if (operator === 'var') return operands.slice(0, 1).filter(isPath);
  if (operator === 'missing') return operands.flat().filter(isPath);
  return operator === 'missing_some' ? argumentsOf(operands[1]).filter(isPath) : [];
}

function mentions(value: unknown, operators: ReadonlySet<string>, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (depth > MAX_JSON_DEPTH) return true;
  return Object.entries(value).some(
    ([key, inner]) => (!Array.isArray(value) && operators.has(key)) || mentions(inner, operators, depth + 1),
  );
}

function isOperation(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function argumentsOf(operands: unknown): readonly unknown[] {
  return Array.isArray(operands) ? operands : [operands];
}
