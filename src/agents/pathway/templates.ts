import type { Template } from 'liquidjs';
import { LRUCache } from 'lru-cache';
import type { ComputeShare } from '../../base/async/computeShares.ts';
import { startStopwatch } from '../../base/async/stopwatch.ts';
import { CallwayError } from '../../base/errors.ts';
import {
  liquid,
  liquidText,
  MAX_OUTPUT_CHARACTERS,
  MAX_TEMPLATE_CHARACTERS,
  parseLiquid,
  type RenderLiquidOptions,
  renderLiquid,
  renderLiquidParts,
  type Variables,
  type WriteOutput,
} from './liquid.ts';

const DEFAULT_CACHE_ENTRIES = 500;
/** The time limit for the outputs of a template that cannot be parsed. */
const PARTS_LIMIT_MS = 20;

/** An output or a tag, also an unfinished one. */
const MARKUP = /(\{\{.*?(?:\}\}|$)|\{%.*?(?:%\}|$))/s;
const QUOTED = /"[^"]*"|'[^']*'/g;
/** Matches a word that is no property and no filter. */
const WORD = /(?<![\p{L}\p{M}\p{N}_.-]|\|\s*)[\p{L}_][\p{L}\p{M}\p{N}_-]*/gu;
/** The name that a tag gives a value. */
const ASSIGNED = /\{%-?\s*(?:assign|for)\s+([\p{L}\p{M}\p{N}_-]+)/gu;

/** Parsed templates by their source, so that a prompt is not parsed on each turn. */
export type TemplateCache = LRUCache<string, Template[]>;

export interface RenderTemplateOptions {
  /** Called once per missing variable, with its path: `customer.name`. */
  readonly onMissing?: (name: string) => void;
  readonly cache?: TemplateCache;
  /** Time zone of the `date` filter, an IANA name. Default: UTC. */
  readonly timeZone?: string;
  /** Called with the reason when a template fails, whose failing parts then render empty. Default: throws. */
  readonly onFailure?: (reason: string) => void;
  /** Counts the time. */
  readonly share?: ComputeShare;
  /** How the value of an output is written. Default: as plain text. */
  readonly writeOutput?: WriteOutput;
}

export type { Variables };

export function createTemplateCache(maxEntries: number = DEFAULT_CACHE_ENTRIES): TemplateCache {
  return new LRUCache({ max: maxEntries });
}

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
  const { onFailure, share } = options;
  const counted = (work: () => string) => (share ? share.run(work) : work());
  try {
    return counted(() => renderWhole(template, variables, options));
  } catch (error) {
    if (!onFailure) throw error;
    onFailure(error instanceof Error ? error.message : String(error));
    return counted(() => renderParts(template, variables, options));
  }
}

function renderWhole(template: string, variables: Variables, options: RenderTemplateOptions): string {
  return reportingErrors(() => {
    const parsed = parse(template, options.cache);
    try {
      return renderLiquid(parsed, variables, liquidOptions(options, true));
    } catch (error) {
      const missing = missingNames(error);
      if (missing.length === 0) throw error;
      const assigned = new Set(Array.from(template.matchAll(ASSIGNED), ([, name]) => name));
      for (const name of missing) if (!assigned.has(rootOf(name))) options.onMissing?.(name);
      return renderLiquid(parsed, variables, liquidOptions(options, false));
    }
  });
}

/**
 * The top-level variables that a template reads, without those that it assigns itself.
 *
 * @throws {CallwayError} `template_error` when the template is malformed.
 */
export function templateVariables(template: string): string[] {
  return isPlainText(template) ? [] : reportingErrors(() => liquid.globalVariablesSync(parse(template)));
}

/** Does the same as {@link templateVariables}, but returns paths: `customer.name`. */
export function templatePaths(template: string): string[] {
  return isPlainText(template) ? [] : reportingErrors(() => liquid.globalFullVariablesSync(parse(template)));
}

/**
 * The words in the tags and outputs of a template that may be variables, among them names of tags and of what it assigns
 * itself. Much quicker than {@link templateVariables}.
 */
export function templateWords(template: string): string[] {
  const markup = template.split(MARKUP).filter((_part, index) => index % 2 === 1);
  return markup.flatMap((tag) => tag.replace(QUOTED, '').match(WORD) ?? []);
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
  const parsed = parsedOrUndefined(template, options);
  if (parsed) return renderLiquidParts(parsed, variables, liquidOptions(options, false));
  const stopwatch = startStopwatch();
  let text = '';
  for (const part of template.slice(0, MAX_TEMPLATE_CHARACTERS).split(MARKUP)) {
    if (stopwatch.isOver(PARTS_LIMIT_MS) || text.length > MAX_OUTPUT_CHARACTERS) break;
    if (part.startsWith('{{')) text += renderedOrEmpty(part, variables, options);
    else if (!part.startsWith('{%')) text += part;
  }
  return text.slice(0, MAX_OUTPUT_CHARACTERS);
}

function renderedOrEmpty(part: string, variables: Variables, options: RenderTemplateOptions): string {
  try {
    return renderWhole(part, variables, options);
  } catch {
    // The whole template's error is reported.
    return '';
  }
}

function parsedOrUndefined(template: string, { cache }: RenderTemplateOptions): Template[] | undefined {
  try {
    return parse(template, cache);
  } catch {
    return undefined;
  }
}

function isPlainText(template: string): boolean {
  return template.length <= MAX_TEMPLATE_CHARACTERS && !/\{\{|\{%/.test(template);
}

function parse(template: string, cache?: TemplateCache): Template[] {
  const known = cache?.get(template);
  if (known) return known;
  const parsed = parseLiquid(template);
  cache?.set(template, parsed);
  return parsed;
}

function liquidOptions(
  { timeZone = 'UTC', writeOutput = liquidText }: RenderTemplateOptions,
  strictVariables: boolean,
): RenderLiquidOptions {
  return { timeZone, writeOutput, strictVariables };
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
