import { Context, defaultOperators, Liquid, type Template, toValueSync } from 'liquidjs';
import { startStopwatch } from '../../base/async/stopwatch.ts';

/** The longest template; the fields that hold one may be shorter. */
export const MAX_TEMPLATE_CHARACTERS = 100_000;
/** Limit of a rendered prompt: the longest template with its variables. */
export const MAX_OUTPUT_CHARACTERS = 200_000;
/** Characters and list entries that filters and ranges may create during one rendering. */
const MEMORY_LIMIT = 200_000;
/** Entries of a list that a filter or an operator may work on; sorting that many takes a millisecond. */
const MAX_ENTRIES = 1_000;
/** Entries of a list that is written as text. */
const MAX_WRITTEN_ENTRIES = 10_000;
/** The longest operand of a filter, such as a separator, a format or the name of a property. */
const MAX_OPERAND_CHARACTERS = 1_000;
/** Filters whose cost does not depend on the length of the list. */
const CONSTANT_FILTERS: ReadonlySet<string> = new Set(['size', 'first', 'last', 'default']);
/** Filters whose operands may be long or lists, since these are added to the value and counted. */
const ADDING_FILTERS: ReadonlySet<string> = new Set([
  'append',
  'prepend',
  'concat',
  'push',
  'unshift',
  'default',
]);
/**
 * Tags, outputs, texts, loop rounds and filters of one rendering, each some microseconds; a prompt has tens. What a
 * filter or a comparison works on counts, too.
 */
const MAX_STEPS = 3_000;
const CHARACTERS_PER_STEP = 50;
const STEPS_PER_ENTRY = 1;
/** Formatting a date takes this much longer than other filters. */
const DATE_STEPS = 50;
/** Limits the time of what the steps do not bound. The steps come first, since they are the same on every machine. */
const RENDER_LIMIT_MS = 150;
/** Longest tag or output, since each is one step. */
const MAX_MARKUP_CHARACTERS = 2_000;
const TAG_START = /\{\{|\{%/;
/** Tags and outputs of one template, or of all templates of a node: reading them takes some milliseconds. */
export const MAX_TAGS = 300;
/** Tags by characters: for each missing variable and each error, the library reads the template up to its place. */
const MAX_READ_CHARACTERS = 5_000_000;
/** A line costs as much as this many characters, since the library also divides the template into lines. */
const CHARACTERS_PER_LINE = 8;

/** Tags that read files, change the variables, write HTML, or bypass the memory limit or the escaping of outputs. */
const REMOVED_TAGS = [
  'include',
  'render',
  'layout',
  'block',
  'increment',
  'decrement',
  'tablerow',
  'capture',
  'cycle',
];
const COMPARISONS = ['==', '!=', '>', '<', '>=', '<=', 'contains'];
/** Filters with random results. */
const REMOVED_FILTERS = ['sample'];
/** The names under which a rendering keeps its {@link WriteOutput} and its {@link CountSteps}. */
const WRITE_OUTPUT = 'write output';
const COUNT_STEPS = 'count steps';

/** The variables of a session, as JSON. */
export type Variables = Readonly<Record<string, unknown>>;

/** @throws {Error} Above the limit of steps. */
type CountSteps = (steps: number) => void;

type OperatorHandler = (left: unknown, right: unknown, context: Context) => Generator<unknown, boolean>;

/** Writes the value of an output such as `{{ name }}` for the place that it stands at. */
export interface WriteOutput {
  (value: unknown): string;
  /** Filters that it makes needless: they leave the value to it. */
  readonly ownFilters?: readonly string[];
}

export interface RenderLiquidOptions {
  readonly timeZone: string;
  readonly strictVariables: boolean;
  readonly writeOutput: WriteOutput;
}

/** Stateless. */
export const liquid = createSandbox();

/** The tags and outputs of a template. */
export function countTags(template: string): number {
  return template.split(TAG_START).length - 1;
}

/** @throws {Error} One of Liquid's errors, when the template is malformed or too long. */
export function parseLiquid(template: string): Template[] {
  const readCharacters = template.length + CHARACTERS_PER_LINE * template.split('\n').length;
  const maxTags = Math.min(MAX_TAGS, Math.floor(MAX_READ_CHARACTERS / readCharacters));
  if (countTags(template) > maxTags)
    throw new Error(`a template of this length may have at most ${maxTags} tags and outputs`);
  for (const markup of template.split(TAG_START).slice(1)) {
    const end = markup.search(/\}\}|%\}/);
    if ((end === -1 ? markup.length : end) > MAX_MARKUP_CHARACTERS) {
      throw new Error(`a tag may have at most ${MAX_MARKUP_CHARACTERS} characters`);
    }
  }
  return liquid.parse(template);
}

/**
 * Renders a parsed template within limits of steps, time, memory and length.
 *
 * @throws {Error} One of Liquid's errors, which form a tree.
 */
export function renderLiquid(parsed: Template[], variables: Variables, options: RenderLiquidOptions): string {
  return renderInto(contextOf(variables, options), parsed);
}

/** Does the same as {@link renderLiquid}, but leaves out parts that fail; all parts share the limits. */
export function renderLiquidParts(
  parsed: readonly Template[],
  variables: Variables,
  options: RenderLiquidOptions,
): string {
  const context = contextOf(variables, options);
  let text = '';
  for (const part of parsed) {
    if (text.length > MAX_OUTPUT_CHARACTERS) break;
    try {
      text += renderInto(context, [part]);
    } catch {
      // The error of the whole template is reported.
    }
  }
  return text.slice(0, MAX_OUTPUT_CHARACTERS);
}

function contextOf(variables: Variables, options: RenderLiquidOptions): Context {
  const context = new Context(
    variables,
    { ...liquid.options, timezoneOffset: options.timeZone },
    { sync: true, strictVariables: options.strictVariables },
    { liquid },
  );
  context.setRegister(WRITE_OUTPUT, options.writeOutput);
  const count = createStepLimit();
  context.setRegister(COUNT_STEPS, count);
  // The library gives the time.
  context.renderLimit.check = () => count(1);
  return context;
}

function renderInto(context: Context, parsed: Template[]): string {
  const output = createBoundedOutput();
  toValueSync(liquid.renderer.renderTemplates(parsed, context, output));
  return output.buffer;
}

/** A value as Liquid writes it, but objects become JSON instead of `[object Object]`. */
export function liquidText(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (Array.isArray(value)) {
    if (value.length > MAX_WRITTEN_ENTRIES)
      throw new Error(`a list has more than ${MAX_WRITTEN_ENTRIES} entries`);
    return value.map(liquidText).join('');
  }
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** A value as a text of its own: lists as JSON too. */
export function wholeText(value: unknown): string {
  return Array.isArray(value) ? JSON.stringify(value) : liquidText(value);
}

function createSandbox(): Liquid {
  const sandbox = new Liquid({
    templates: {},
    ownPropertyOnly: true,
    strictFilters: true,
    lenientIf: true,
    catchAllErrors: true,
    parseLimit: MAX_TEMPLATE_CHARACTERS,
    memoryLimit: MEMORY_LIMIT,
    operators: { ...defaultOperators, ...Object.fromEntries(COMPARISONS.map(bounded)) },
    outputEscape(this: { readonly context: Context }, value: unknown) {
      return this.context.getRegister<WriteOutput>(WRITE_OUTPUT)(value);
    },
  });
  for (const tag of REMOVED_TAGS) delete sandbox.tags[tag];
  for (const filter of REMOVED_FILTERS) sandbox.unregisterFilter(filter);
  for (const [name, filter] of Object.entries(sandbox.filters)) {
    const handler = typeof filter === 'function' ? filter : filter.handler;
    // As a function it is no `raw` filter, which would leave out the escaping.
    sandbox.registerFilter(name, function (value, ...operands) {
      const count = this.context.getRegister<CountSteps>(COUNT_STEPS);
      checkFilter(name, value, operands);
      count(1 + stepsOf(name, [value, ...operands]));
      const { ownFilters } = this.context.getRegister<WriteOutput>(WRITE_OUTPUT);
      if (ownFilters?.includes(name)) return value;
      const result: unknown = handler.call(this, value, ...operands);
      count(stepsOf(name, [result]));
      return result;
    });
  }
  return sandbox;
}

/** Returns how many steps the work of a filter on these values counts. */
function stepsOf(filter: string, values: readonly unknown[]): number {
  if (CONSTANT_FILTERS.has(filter)) return 0;
  return values.reduce<number>((steps, value) => steps + sizeOf(value), filter === 'date' ? DATE_STEPS : 0);
}

function sizeOf(value: unknown): number {
  if (Array.isArray(value)) return value.length * STEPS_PER_ENTRY;
  return typeof value === 'string' ? value.length / CHARACTERS_PER_STEP : 0;
}

/** A comparison that refuses long lists, which it would go through entry by entry. */
function bounded(name: string): [string, OperatorHandler] {
  const compare = defaultOperators[name] as OperatorHandler;
  const refuseLong = (operand: unknown) => {
    if (!Array.isArray(operand) || operand.length <= MAX_ENTRIES) return;
    throw new Error(`${name} takes lists of at most ${MAX_ENTRIES} entries`);
  };
  return [
    name,
    (left: unknown, right: unknown, context: Context) => {
      refuseLong(left);
      refuseLong(right);
      context.getRegister<CountSteps>(COUNT_STEPS)(sizeOf(left));
      return compare(left, right, context);
    },
  ];
}

/** @throws {Error} When the filter would work on more than it can in about a millisecond. */
function checkFilter(name: string, value: unknown, operands: readonly unknown[]): void {
  if (Array.isArray(value) && value.length > MAX_ENTRIES && !CONSTANT_FILTERS.has(name)) {
    throw new Error(`the filter ${name} takes a list of at most ${MAX_ENTRIES} entries`);
  }
  if (ADDING_FILTERS.has(name)) return;
  for (const operand of operands) {
    const isLong = typeof operand === 'string' && operand.length > MAX_OPERAND_CHARACTERS;
    if (isLong || (typeof operand === 'object' && operand !== null)) {
      throw new Error(`the filter ${name} takes texts of at most ${MAX_OPERAND_CHARACTERS} characters`);
    }
  }
}

function createStepLimit(): CountSteps {
  const stopwatch = startStopwatch();
  let steps = 0;
  return (more) => {
    steps += more;
    if (steps > MAX_STEPS) throw new Error(`the template takes more than ${MAX_STEPS} steps`);
    if (stopwatch.isOver(RENDER_LIMIT_MS))
      throw new Error(`the template takes more than ${RENDER_LIMIT_MS} ms`);
  };
}

function createBoundedOutput() {
  return {
    buffer: '',
    write(piece: unknown) {
      this.buffer += typeof piece === 'string' ? piece : liquidText(piece);
      if (this.buffer.length > MAX_OUTPUT_CHARACTERS) {
        throw new Error(`the rendered text exceeds ${MAX_OUTPUT_CHARACTERS} characters`);
      }
    },
  };
}
