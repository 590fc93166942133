import { Ajv2020 } from 'ajv/dist/2020.js';

import { CallwayError, invalid } from '../base/errors.ts';
import { checkTarget, type TargetPolicy } from '../infra/httpClient/target.ts';
import type { Pathway } from './pathway/schema/pathwaySchema.ts';
import { BUILT_IN_TOOLS } from './pathway/structure.ts';
import { checkTemplate } from './pathway/templates.ts';
import type { ToolInput } from './tool.ts';

/**
 * Checks what the schema cannot: names, templates, targets and the JSON Schema of the parameters.
 *
 * @throws {CallwayError} 400 `invalid_tool`
 */
export function requireValidTool(tool: ToolInput, policy: TargetPolicy): void {
  const problems = [
    BUILT_IN_TOOLS.some((name) => name === tool.name) && {
      path: '/name',
      message: `${tool.name} is the name of a built-in tool`,
    },
    described('/parameters', checkParameters(tool.parameters)),
    described('/http/url', checkTarget(tool.http.url, policy, { allowTemplates: true })?.message),
    described('/http/url', checkTemplate(tool.http.url)),
    tool.http.bodyTemplate !== undefined &&
      described('/http/bodyTemplate', checkTemplate(tool.http.bodyTemplate)),
    described('/http/bodyTemplate', checkHasBody(tool.http)),
  ].filter((problem) => typeof problem === 'object');
  const [first] = problems;
  if (first) throw invalid('invalid_tool', first.message, problems);
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

function described(path: string, message: string | undefined) {
  return message === undefined ? undefined : { path, message };
}

/** Models need parameters as the JSON Schema of an object. @see https://json-schema.org/draft/2020-12 */
function checkParameters(schema: Readonly<Record<string, unknown>>): string | undefined {
  if (schema.type !== 'object') return 'parameters must be a JSON Schema of type object';
  const { $schema: _dialect, ...rest } = schema;
  try {
    new Ajv2020({ strict: false, validateFormats: false, logger: false, addUsedSchema: false }).compile(rest);
    return undefined;
  } catch (error) {
    const reason = error instanceof Error ? error.message.slice(0, 200) : 'unknown';
    return `parameters must be a JSON Schema: ${reason}`;
  }
}
