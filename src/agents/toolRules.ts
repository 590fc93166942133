import { CallwayError, type ErrorDetail, invalid } from '../base/errors.ts';
import { checkTarget, type TargetPolicy } from '../http/target.ts';
import { renderJson } from './pathway/jsonTemplate.ts';
import type { Pathway } from './pathway/schema/pathwaySchema.ts';
import { BUILT_IN_TOOLS } from './pathway/structure.ts';
import { checkTemplate } from './pathway/templates.ts';
import { bodyFormatOf, JSON_TYPE } from './requestTemplates.ts';
import type { SchemaChecker } from './schemaChecker.ts';
import type { McpTool, Tool, ToolInput } from './tool.ts';

/**
 * Checks what the schema cannot: names, templates and targets.
 *
 * @throws {CallwayError} 400 `invalid_tool`
 */
export function requireValidTool({ name, http, speakWhile }: ToolInput, targetPolicy: TargetPolicy): void {
  const problems = [
    BUILT_IN_TOOLS.some((builtIn) => builtIn === name) && {
      path: '/name',
      message: `${name} is the name of a built-in tool`,
    },
    described('/http/url', checkTarget(http.url, targetPolicy, { allowTemplates: true })?.message),
    described('/http/url', checkTemplate(http.url)),
    ...http.headers.map(({ value }, index) =>
      described(`/http/headers/${index}/value`, checkTemplate(value)),
    ),
    ...checkLines(speakWhile),
    described('/http/bodyTemplate', checkHasBody(http) ?? checkBody(http)),
  ];
  requireNoProblems(problems.filter((problem) => typeof problem === 'object'));
}

/**
 * Models need parameters as the JSON Schema of an object. The check may take seconds: never in a transaction.
 *
 * @throws {CallwayError} 400 `invalid_tool`
 * @see https://json-schema.org/draft/2020-12
 */
export async function requireValidParameters(
  schemas: SchemaChecker,
  projectId: string,
  schema: ToolInput['parameters'],
): Promise<void> {
  const problem =
    schema.type === 'object' ? await schemas.checkSchema(projectId, schema) : 'its type is not object';
  if (problem === undefined) return;
  const message = `parameters must be a JSON Schema of type object: ${problem}`;
  throw invalid('invalid_tool', message, [{ path: '/parameters', message }]);
}

/** @throws {CallwayError} 400 `invalid_tool` */
export function requireValidLines({ speakWhile }: Tool): void {
  requireNoProblems(checkLines(speakWhile).filter((problem) => problem !== undefined));
}

/** @throws {CallwayError} 409 `tool_of_mcp_server` */
export function requireVanished({ mcp }: McpTool): void {
  if (!mcp.available) return;
  const message =
    'An MCP server offers the tool; remove it from the nodes that name it, or remove the server';
  throw new CallwayError('conflict', 'tool_of_mcp_server', message);
}

/** @throws {CallwayError} 409 `tool_in_use` when a node uses the tool. */
export function requireUnusedTool(toolId: string, pathway: Pathway): void {
  const users = pathway.nodes.filter((node) => node.data.tools.includes(toolId));
  if (users.length === 0) return;
  const titles = users.map((node) => node.data.title).join(', ');
  throw new CallwayError(
    'conflict',
    'tool_in_use',
    `The pathway uses the tool, in: ${titles}; remove it there first`,
  );
}

/** @see RFC 9110 sections 9.3.1 and 9.3.5: the body of a GET or DELETE has no meaning. */
function checkHasBody({ method, bodyTemplate }: ToolInput['http']): string | undefined {
  if (bodyTemplate === undefined || (method !== 'GET' && method !== 'DELETE')) return undefined;
  return `bodyTemplate is not for ${method}, which sends the arguments in the query; remove it, or use POST, PUT or PATCH`;
}

function linesOf(speakWhile: ToolInput['speakWhile'] = {}) {
  if (typeof speakWhile === 'string') return [{ path: '/speakWhile', line: speakWhile }];
  return Object.entries(speakWhile).map(([tag, line]) => ({ path: `/speakWhile/${tag}`, line }));
}

function checkLines(speakWhile: ToolInput['speakWhile']) {
  return linesOf(speakWhile).map(({ path, line }) => described(path, checkTemplate(line)));
}

function requireNoProblems(problems: readonly ErrorDetail[]): void {
  const [first] = problems;
  if (first) throw invalid('invalid_tool', first.message, problems);
}

function described(path: string, message: string | undefined) {
  return message === undefined ? undefined : { path, message };
}

/** A template with tags may make JSON or not, by the values; one without is known now. */
function checkBody({ bodyTemplate, headers }: ToolInput['http']): string | undefined {
  if (bodyTemplate === undefined) return undefined;
  const type = headers.find(({ key }) => key.toLowerCase() === 'content-type')?.value ?? JSON_TYPE;
  const format = bodyFormatOf(type);
  if (!format) {
    return `a bodyTemplate cannot be escaped for ${type}; use JSON, a form, XML or text/plain`;
  }
  const problem = checkTemplate(bodyTemplate);
  if (problem || format !== 'json' || bodyTemplate.includes('{%')) return problem;
  try {
    renderJson(bodyTemplate, {});
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
