import { Context, Liquid, type Template, toValueSync } from 'liquidjs';
import { LRUCache } from 'lru-cache';
import { CallwayError } from '../../base/errors.ts';
import { MAX_TEMPLATE_CHARACTERS } from './schema/nodeSchema.ts';

/** Limit of a rendered prompt; a longer one would not fit a model's instructions. */
const MAX_OUTPUT_CHARACTERS = 100_000;
/** A prompt renders in under a millisecond. Wall-clock time, so generous enough for a busy machine. */
const RENDER_LIMIT_MS = 1000;
/** Characters and array entries that filters and ranges may create during one rendering. */
const MEMORY_LIMIT = 1_000_000;
const DEFAULT_CACHE_ENTRIES = 500;

/** Tags that read files, change the variables, write HTML, or bypass the memory limit. */
const REMOVED_TAGS = [
  'include',
  'render',
  'layout',
  'block',
  'increment',
  'decrement',
  'tablerow',
  'capture',
];
/** Filters with random results. */
const REMOVED_FILTERS = ['sample'];

/** An output or a tag, also an unfinished one. */
const MARKUP = /(\{\{.*?(?:\}\}|$)|\{%.*?(?:%\}|$))/s;

/** What a template is filled into, which decides how values are escaped: nothing, a JSON text, or a URL. */
export type TemplateTarget = 'text' | 'json' | 'url';

/** Parsed templates by target and source, so that a prompt is not parsed on each turn. */
export type TemplateCache = LRUCache<string, Template[]>;

export interface RenderTemplateOptions {
  /** Called once per missing variable, with its path: `customer.name`. */
  readonly onMissing?: (name: string) => void;
  readonly cache?: TemplateCache;
  /** Default: `text`. */
  readonly target?: TemplateTarget;
  /** Time zone of the `date` filter, an IANA name. Default: UTC. */
  readonly timeZone?: string;
  /** Called with the reason when a template fails, whose failing parts then render empty. Default: throws. */
  readonly onFailure?: (reason: string) => void;
}

/** The variables of a session, as JSON. */
export type Variables = Readonly<Record<string, unknown>>;

export function createTemplateCache(maxEntries: number = DEFAULT_CACHE_ENTRIES): TemplateCache {
  return new LRUCache({ max: maxEntries });
}

/** Stateless. */
const sandbox = createSandbox();
const sandboxes: Readonly<Record<TemplateTarget, Liquid>> = {
  text: sandbox,
  json: createSandbox((value) => JSON.stringify(textOf(value)).slice(1, -1), ['json', 'jsonify']),
  url: createSandbox((value) => encodeURIComponent(textOf(value)), ['url_encode', 'cgi_escape']),
};

/**
 * Renders a Liquid template. A missing variable renders as an empty text and is reported, except where the template
 * expects it: in the condition of an `if`, in an `assign`, or before the `default` filter.
 *
 * Templates can read own properties of the variables only, no files, within limits of time, memory and length.
 *
 * @throws {CallwayError} `template_error` when the template is malformed, uses a removed tag or exceeds a limit, unless
 * `onFailure` takes the reason.
 */
export function renderTemplate(
  template: string,
  variables: Variables,
  options: RenderTemplateOptions = {},
): string {
  if (isPlainText(template)) return template;
  const { onFailure } = options;
  try {
    return renderWhole(template, variables, options);
  } catch (error) {
    if (!onFailure) throw error;
    onFailure(error instanceof Error ? error.message : String(error));
    return renderParts(template, variables, options);
  }
}

function renderWhole(template: string, variables: Variables, options: RenderTemplateOptions): string {
  return reportingErrors(() => {
    const parsed = parse(template, options);
    try {
      return render(parsed, variables, options, true);
    } catch (error) {
      const missing = missingNames(error);
      if (missing.length === 0) throw error;
      const expected = new Set(sandbox.globalVariablesSync(parsed));
      for (const name of missing) if (expected.has(rootOf(name))) options.onMissing?.(name);
      return render(parsed, variables, options, false);
    }
  });
}

/**
 * The top-level variables that a template reads, without those that it assigns itself.
 *
 * @throws {CallwayError} `template_error` when the template is malformed.
 */
export function templateVariables(template: string): string[] {
  return isPlainText(template) ? [] : reportingErrors(() => sandbox.globalVariablesSync(parse(template)));
}

/** @returns The error of a malformed template; undefined for a valid one. */
export function checkTemplate(template: string): string | undefined {
  if (isPlainText(template)) return undefined;
  try {
    reportingErrors(() => parse(template));
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Renders each part of a failing template by itself: outputs and blocks, or where it cannot be parsed only outputs. */
function renderParts(template: string, variables: Variables, options: RenderTemplateOptions): string {
  let text = '';
  const add = (part: () => string) => {
    if (text.length >= MAX_OUTPUT_CHARACTERS) return;
    try {
      text += part();
    } catch {
      // The whole template's error is reported.
    }
  };
  const parsed = parsedOrUndefined(template, options);
  if (parsed) {
    const context = contextOf(variables, options, false);
    for (const part of parsed) add(() => renderInto(context, [part]));
  } else {
    const endMs = performance.now() + RENDER_LIMIT_MS;
    for (const part of template.slice(0, MAX_TEMPLATE_CHARACTERS).split(MARKUP)) {
      if (performance.now() > endMs) break;
      if (part.startsWith('{{')) add(() => renderWhole(part, variables, options));
      else if (!part.startsWith('{%')) add(() => part);
    }
  }
  return text.slice(0, MAX_OUTPUT_CHARACTERS);
}

function parsedOrUndefined(template: string, options: RenderTemplateOptions): Template[] | undefined {
  try {
    return parse(template, options);
  } catch {
    return undefined;
  }
}

function isPlainText(template: string): boolean {
  return template.length <= MAX_TEMPLATE_CHARACTERS && !/\{\{|\{%/.test(template);
}

/**
 * @param outputEscape - Escapes each value that a template outputs.
 * @param rawFilters - Filters that escape by themselves.
 */
function createSandbox(
  outputEscape?: (value: unknown) => string,
  rawFilters: readonly string[] = [],
): Liquid {
  const liquid = new Liquid({
    templates: {},
    ...(outputEscape ? { outputEscape } : {}),
    ownPropertyOnly: true,
    strictFilters: true,
    lenientIf: true,
    catchAllErrors: true,
    parseLimit: MAX_TEMPLATE_CHARACTERS,
    renderLimit: RENDER_LIMIT_MS,
    memoryLimit: MEMORY_LIMIT,
  });
  for (const tag of REMOVED_TAGS) delete liquid.tags[tag];
  for (const filter of REMOVED_FILTERS) liquid.unregisterFilter(filter);
  for (const name of rawFilters) {
    const filter = liquid.filters[name];
    if (typeof filter === 'function') liquid.registerFilter(name, { handler: filter, raw: true });
  }
  return liquid;
}

function parse(template: string, { cache, target = 'text' }: RenderTemplateOptions = {}): Template[] {
  const key = `${target} ${template}`;
  const known = cache?.get(key);
  if (known) return known;
  const parsed = sandboxes[target].parse(template);
  cache?.set(key, parsed);
  return parsed;
}

function render(
  parsed: Template[],
  variables: Variables,
  options: RenderTemplateOptions,
  strictVariables: boolean,
): string {
  return renderInto(contextOf(variables, options, strictVariables), parsed);
}

function contextOf(variables: Variables, options: RenderTemplateOptions, strictVariables: boolean): Context {
  const sandbox = sandboxes[options.target ?? 'text'];
  return new Context(
    variables,
    { ...sandbox.options, timezoneOffset: options.timeZone ?? 'UTC' },
    { sync: true, strictVariables },
    { liquid: sandbox },
  );
}

function renderInto(context: Context, parsed: Template[]): string {
  const output = createBoundedOutput();
  toValueSync(sandbox.renderer.renderTemplates(parsed, context, output));
  return output.buffer;
}

function createBoundedOutput() {
  return {
    buffer: '',
    write(piece: unknown) {
      this.buffer += typeof piece === 'string' ? piece : stringOf(piece);
      if (this.buffer.length > MAX_OUTPUT_CHARACTERS) {
        throw new Error(`the rendered text exceeds ${MAX_OUTPUT_CHARACTERS} characters`);
      }
    },
  };
}

/** Like Liquid, but objects become JSON instead of `[object Object]`. */
function stringOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (Array.isArray(value)) return value.map(stringOf).join('');
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** A value as a text of its own: lists as JSON too. */
function textOf(value: unknown): string {
  return Array.isArray(value) ? JSON.stringify(value) : stringOf(value);
}

/** The variables that a strict rendering missed; empty when it also failed for another reason. */
function missingNames(error: unknown): string[] {
  const causes = leafErrors(error);
  const names = causes.map((cause) => /^undefined variable: ([^,]*)/.exec(cause.message)?.[1]);
  return names.every((name) => name !== undefined) ? [...new Set(names)] : [];
}

/** Liquid combines the errors of each block, so they form a tree. */
function leafErrors(error: unknown): Error[] {
  if (!(error instanceof Error)) return [new Error(String(error))];
  return 'errors' in error && Array.isArray(error.errors) ? error.errors.flatMap(leafErrors) : [error];
}

function rootOf(name: string): string {
  return name.split('.', 1)[0] ?? name;
}

function reportingErrors<Result>(action: () => Result): Result {
  try {
    return action();
  } catch (error) {
    const [cause] = leafErrors(error);
    throw new CallwayError('invalid', 'template_error', `template: ${cause?.message ?? 'not readable'}`, {
      cause: error,
    });
  }
}
