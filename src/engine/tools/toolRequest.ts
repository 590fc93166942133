import { RESERVED_VARIABLES } from '../../agents/fields.ts';
import {
  type RenderTemplateOptions,
  templateVariables,
  type Variables,
} from '../../agents/pathway/templates.ts';
import {
  bodyFormatOf,
  JSON_TYPE,
  renderBody,
  renderHeader,
  renderUrl,
} from '../../agents/requestTemplates.ts';
import type { HttpTool } from '../../agents/tool.ts';
import { invalid } from '../../base/errors.ts';

/** What a tool's templates are filled with. */
export interface ToolValues {
  /** Checked; where a session variable goes before an argument, it is in its place. */
  readonly args: Variables;
  readonly variables: Variables;
}

/**
 * The HTTP request of a tool. Every value is escaped for its place: path, query, header or body.
 *
 * @throws {CallwayError} When a template fails, or a value does not fit its place.
 */
export function toolRequest({ http }: HttpTool, values: ToolValues, options: RenderTemplateOptions) {
  const { method, timeoutMs } = http;
  const all = { ...values.variables, ...values.args, ...factsIn(values.variables) };
  const headers = http.headers.map(({ key, value }) => ({ key, value: renderHeader(value, all, options) }));
  const url = new URL(renderUrl(http.url, all, options));
  if (method === 'GET' || method === 'DELETE') {
    addToQuery(url, values.args, new Set(templateVariables(http.url)));
    return { method, url: url.href, headers, timeoutMs };
  }
  const given = headers.find(({ key }) => key.toLowerCase() === 'content-type')?.value;
  if (given === undefined) headers.push({ key: 'content-type', value: JSON_TYPE });
  return {
    method,
    url: url.href,
    headers,
    timeoutMs,
    body: bodyOf(http, given ?? JSON_TYPE, values, all, options),
  };
}

/** Returns the session's facts, which no argument can replace, such as the number that calls. */
function factsIn(variables: Variables): Variables {
  return Object.fromEntries(Object.entries(variables).filter(([name]) => RESERVED_VARIABLES.includes(name)));
}

/** Arguments that the URL's template does not use go into the query. */
function addToQuery(url: URL, args: Variables, used: ReadonlySet<string>): void {
  for (const [key, value] of Object.entries(args)) {
    if (!used.has(key) && value !== null) url.searchParams.set(key, textOf(value));
  }
}

function bodyOf(
  { bodyTemplate }: HttpTool['http'],
  contentType: string,
  { args }: ToolValues,
  all: Variables,
  options: RenderTemplateOptions,
): string {
  const format = bodyFormatOf(contentType);
  if (bodyTemplate !== undefined) {
    if (!format)
      throw invalid('invalid_request', `a body of type ${contentType} cannot be made from a template`);
    return renderBody(bodyTemplate, format, all, options);
  }
  if (format !== 'form') return JSON.stringify(args);
  const entries = Object.entries(args).filter(([, value]) => value !== null);
  return new URLSearchParams(
    entries.map(([key, value]): [string, string] => [key, textOf(value)]),
  ).toString();
}

function textOf(value: unknown): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
