import { defaultMethods, LogicEngine } from 'json-logic-engine';
import type { ComputeShare } from '../../base/async/computeShares.ts';
import { startStopwatch } from '../../base/async/stopwatch.ts';
import { checkExpression, OPERATORS } from './expressions.ts';
import type { Variables } from './templates.ts';

/** Operations per evaluation; a real condition needs tens, a nested search in a long list hundreds. */
const MAX_STEPS = 5_000;
/** Characters or list entries of an intermediate value that count as one more step. */
const LENGTH_PER_STEP = 50;
/** Limits the time of what the steps do not bound. The steps come first, since they are the same on every machine. */
const TIME_LIMIT_MS = 100;
/** Length of any intermediate string or list; stops exponential growth. */
const MAX_INTERMEDIATE_LENGTH = 100_000;

export interface EvaluateOptions {
  /** Called with the reason when an expression cannot be evaluated; the result is then false. */
  readonly onFailure?: (reason: string) => void;
  /** Counts the time. */
  readonly share?: ComputeShare;
}

type Method = (operands: unknown, scope: unknown) => unknown;

/**
 * Evaluates a JSONLogic expression over the variables. It reads own properties only, limits the number of steps, and
 * never throws: an expression that cannot be evaluated is false, such as `<` between a text and a number.
 *
 * `==` and `!=` compare a number with a numeric string by value; other values of different types are unequal.
 */
export function evaluateExpression(
  expression: unknown,
  variables: Variables,
  options: EvaluateOptions = {},
): boolean {
  const [objection] = checkExpression(expression);
  if (objection) {
    options.onFailure?.(objection.message);
    return false;
  }
  try {
    const evaluate = () => {
      const engine = createEngine();
      return Boolean(engine.truthy(engine.run(expression, variables)));
    };
    return options.share ? options.share.run(evaluate) : evaluate();
  } catch (error) {
    options.onFailure?.(reasonOf(error));
    return false;
  }
}

/** Makes the engine of one evaluation, which counts its steps. */
function createEngine(): LogicEngine {
  const engine = new LogicEngine(methods, { disableInterpretedOptimization: true, disableInline: true });
  const run = engine.run.bind(engine);
  const stopwatch = startStopwatch();
  let steps = 0;
  const count = (more: number) => {
    steps += more;
    if (steps > MAX_STEPS) throw new Error(`the expression takes more than ${MAX_STEPS} steps`);
    if (stopwatch.isOver(TIME_LIMIT_MS))
      throw new Error(`the expression takes more than ${TIME_LIMIT_MS} ms`);
  };
  engine.run = (logic, data, above) => {
    count(1);
    const result: unknown = run(logic, data, above);
    const { length } = typeof result === 'string' || Array.isArray(result) ? result : [];
    if (length > MAX_INTERMEDIATE_LENGTH) {
      throw new Error(`the expression makes a value longer than ${MAX_INTERMEDIATE_LENGTH}`);
    }
    count(length / LENGTH_PER_STEP);
    return result;
  };
  return engine;
}

/** The allowed operators of the library; replaced where it reads inherited properties or stops early. */
const methods: Readonly<Record<string, unknown>> = {
  ...Object.fromEntries(Object.entries(defaultMethods).filter(([name]) => OPERATORS.has(name))),
  var: eager((operands, scope) => {
    const [path = '', fallback = null] = listOf(operands);
    return readPath(scope, path) ?? fallback;
  }),
  missing: eager((operands, scope) => missingOf(listOf(operands), scope)),
  missing_some: eager((operands, scope) => {
    const [needed, paths] = listOf(operands);
    const wanted = listOf(paths);
    const missing = missingOf(wanted, scope);
    return wanted.length - missing.length >= Number(needed) ? [] : missing;
  }),
  in: eager((operands) => contains(...pairOf(operands))),
  '==': eager((operands) => isLooselyEqual(...pairOf(operands))),
  '!=': eager((operands) => !isLooselyEqual(...pairOf(operands))),
};

/** A method whose operands are evaluated first. */
function eager(method: Method) {
  return { lazy: false, method };
}

/** The value at a dotted path, of own properties only; an empty path is the whole. */
export function readPath(scope: unknown, path: unknown): unknown {
  if (path === '' || path === null) return scope;
  return String(path)
    .split('.')
    .reduce<unknown>((value, key) => {
      if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
      return Reflect.get(value, key);
    }, scope);
}

function missingOf(paths: readonly unknown[], scope: unknown): unknown[] {
  return paths.flat().filter((path) => {
    const value = readPath(scope, path);
    return value === undefined || value === null || value === '';
  });
}

function contains(wanted: unknown, whole: unknown): boolean {
  if (Array.isArray(whole)) return whole.includes(wanted);
  return typeof whole === 'string' && typeof wanted !== 'object' && whole.includes(String(wanted));
}

function isLooselyEqual(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  const isScalar = [left, right].every((value) => ['number', 'string', 'boolean'].includes(typeof value));
  if (!isScalar || typeof left === typeof right) return false;
  // Number('') is 0, but an empty answer is not zero.
  return left !== '' && right !== '' && Number(left) === Number(right);
}

function listOf(operands: unknown): readonly unknown[] {
  return Array.isArray(operands) ? operands : [operands];
}

function pairOf(operands: unknown): [unknown, unknown] {
  const [left, right] = listOf(operands);
  return [left, right];
}

/** The library also throws NaN and plain objects. */
function reasonOf(error: unknown): string {
  if (error instanceof Error) return error.message;
  if (Number.isNaN(error)) return 'a value is not a number';
  const type = typeof error === 'object' && error !== null && 'type' in error ? error.type : error;
  return `the expression cannot be evaluated: ${String(type)}`;
}
