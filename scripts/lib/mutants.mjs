import { parseSync } from '@swc/core';

/**
 * One small fault in a source text.
 *
 * @typedef {{ line: number, what: string, text: string }} Mutant - `text` is the whole source with the fault.
 */

/**
 * The replacement of a part of the source. Offsets count bytes, as swc does.
 *
 * @typedef {{ start: number, end: number, by: string, what: string }} Edit
 */

/** @typedef {{ type: string, span: { start: number, end: number }, [field: string]: any }} Node */

/** @type {Readonly<Record<string, string>>} */
const OPPOSITES = {
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '===': '!==',
  '!==': '===',
  '&&': '||',
  '||': '&&',
  '+': '-',
  '-': '+',
  '*': '/',
  '/': '*',
};

/** A first statement, whose position tells where swc counts from: it leaves leading comments out. */
const ANCHOR = '0;';
/** Expressions with a type; other nodes of this prefix are types alone. */
const TYPED = new Set(['TsAsExpression', 'TsNonNullExpression', 'TsSatisfiesExpression', 'TsConstAssertion']);
const TEXTS = new Set(['StringLiteral', 'TemplateLiteral']);

/**
 * The mutants of a TypeScript source: negated conditions, other comparisons, swapped `&&` and `||`, other arithmetic,
 * integers off by one, flipped booleans, dropped statements, and functions that return at once.
 *
 * @param {string} source
 * @returns {Mutant[]} In the order of the source.
 */
export function mutantsOf(source) {
  const bytes = Buffer.from(source);
  const [anchor, ...statements] = parse(ANCHOR + source).body;
  const base = (anchor?.span.start ?? 0) + ANCHOR.length;
  /** @type {Edit[]} */
  const edits = [];
  /** @param {Node} node */
  const textOf = ({ span }) => bytes.toString('utf8', span.start - base, span.end - base);
  for (const statement of statements) collect(statement, false, textOf, edits);
  return edits
    .map((edit) => ({ ...edit, start: edit.start - base, end: edit.end - base }))
    .sort((one, other) => one.start - other.start)
    .map(({ start, end, by, what }) => ({
      line: bytes.subarray(0, start).toString().split('\n').length,
      what,
      text: bytes.toString('utf8', 0, start) + by + bytes.toString('utf8', end),
    }))
    .filter(({ text }) => isValid(text));
}

/**
 * Every n-th, so that a few stand for all.
 *
 * @template Item
 * @param {readonly Item[]} items
 * @param {number} count - At most.
 * @returns {Item[]}
 */
export function sampleOf(items, count) {
  if (items.length <= count) return [...items];
  return Array.from(
    { length: count },
    (_, index) => /** @type {Item} */ (items[Math.floor((index * items.length) / count)]),
  );
}

/**
 * @param {Node} node
 * @param {boolean} isInFunction - A number outside of functions is a setting, which no test needs to repeat.
 * @param {(node: Node) => string} textOf
 * @param {Edit[]} edits
 */
function collect(node, isInFunction, textOf, edits) {
  if (node.type === 'ImportDeclaration' || (node.type.startsWith('Ts') && !TYPED.has(node.type))) return;
  edits.push(...editsAt(node, isInFunction, textOf));
  const isFunction = /Function|Method|^Constructor$/.test(node.type);
  for (const child of childrenOf(node)) collect(child, isInFunction || isFunction, textOf, edits);
}

/**
 * @param {Node} node
 * @param {boolean} isInFunction
 * @param {(node: Node) => string} textOf
 * @returns {Edit[]}
 */
function editsAt(node, isInFunction, textOf) {
  // A property of an object has no position.
  if (node.span === undefined) return [];
  const text = textOf(node);
  /** @type {(by: string, what: string, at?: Node) => Edit[]} */
  const replace = (by, what, at = node) => [{ ...at.span, by, what }];
  switch (node.type) {
    case 'IfStatement':
    case 'WhileStatement':
    case 'ConditionalExpression': {
      const test = textOf(node.test);
      // A comparison has its own opposite.
      const isComparison = OPPOSITES[node.test.operator] !== undefined && node.test.operator.endsWith('==');
      return isComparison ? [] : replace(`!(${test})`, `not ${oneLine(test)}`, node.test);
    }
    case 'BinaryExpression': {
      const { left, operator, right } = node;
      const other = OPPOSITES[operator];
      if (other === undefined || (operator === '+' && (TEXTS.has(left.type) || TEXTS.has(right.type))))
        return [];
      return replace(`((${textOf(left)}) ${other} (${textOf(right)}))`, `${other} in ${oneLine(text)}`);
    }
    case 'UpdateExpression':
      return replace(
        text.replace(node.operator, node.operator === '++' ? '--' : '++'),
        `${text} the other way`,
      );
    case 'NumericLiteral':
      return isInFunction && Number.isInteger(node.value)
        ? replace(`${node.value + 1}`, `${node.value + 1} for ${text}`)
        : [];
    case 'BooleanLiteral':
      return replace(`${!node.value}`, `${!node.value} for ${text}`);
    case 'ExpressionStatement':
      // A check of types alone does nothing.
      return TYPED.has(node.expression.type) ? [] : replace(';', `without ${oneLine(text)}`);
    case 'FunctionBody':
      return node.stmts?.length > 0 ? replace('{}', `without the function’s body`) : [];
    default:
      return [];
  }
}

/**
 * The nodes inside a node, or inside a part of one that has no type: an argument of a call, the function of a method.
 *
 * @param {object} node
 * @returns {Node[]}
 */
function childrenOf(node) {
  return Object.values(node)
    .flat()
    .filter((value) => typeof value === 'object' && value !== null)
    .flatMap((value) => (typeof value.type === 'string' ? [value] : childrenOf(value)));
}

/**
 * @param {string} text
 * @returns {{ body: Node[] }}
 */
function parse(text) {
  return /** @type {any} */ (parseSync(text, { syntax: 'typescript', target: 'es2022' }));
}

/** @param {string} text */
function oneLine(text) {
  return text.replaceAll(/\s+/g, ' ');
}

/** @param {string} text */
function isValid(text) {
  try {
    parse(text);
    return true;
  } catch {
    return false;
  }
}
