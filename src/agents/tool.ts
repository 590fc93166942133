import { z } from 'zod';
import { invalid } from '../base/errors.ts';
import { omitUndefined } from '../base/values/omitUndefined.ts';
import {
  headerList,
  languageTag,
  originOf,
  secretNeededAgain,
  settableVariable,
  shownHeaderList,
  targetUrl,
  withoutHeaderValues,
} from './fields.ts';
import { jsonObjectSchema } from './pathway/schema/fields.ts';

export const DEFAULT_TOOL_TIMEOUT_MS = 10_000;
export const MAX_TOOL_TIMEOUT_MS = 60_000;

const httpFields = {
  method: z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']),
  url: targetUrl.describe('May contain templates in its path and query.'),
  headers: headerList,
  bodyTemplate: z
    .string()
    .max(20_000)
    .optional()
    .describe('For POST, PUT and PATCH. Default: the arguments as JSON.'),
  timeoutMs: z.int().min(100).max(MAX_TOOL_TIMEOUT_MS),
};
const http = z.strictObject(httpFields);
const httpInput = z.strictObject({
  ...httpFields,
  headers: httpFields.headers.default([]),
  timeoutMs: httpFields.timeoutMs.default(DEFAULT_TOOL_TIMEOUT_MS),
});

const spokenLine = z.string().min(1).max(500);

const fields = {
  name: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be letters, digits, _ and -, at most 64')
    .describe('The name that the model sees; unique in the project.')
    .meta({ example: 'book_appointment' }),
  description: z.string().max(4000),
  parameters: jsonObjectSchema.describe(
    'JSON Schema of the arguments. Objects take no properties but those that they declare, unless additionalProperties says so. Patterns are regular expressions without look-around and back references.',
  ),
  http,
  resultMapping: z
    .array(
      z.strictObject({
        path: z
          .string()
          .max(200)
          .describe('Dotted path into the answer, as in JSONLogic; an empty one is the whole answer.')
          .meta({ example: 'booking.id' }),
        variable: settableVariable,
      }),
    )
    .max(50)
    .optional()
    .describe('Variables that are set from the JSON of a successful answer.'),
  speakWhile: z
    .union([spokenLine, z.record(languageTag, spokenLine)])
    .optional()
    .describe(
      'Said when the tool takes longer than 1.2 s, in place of the agent’s placeholders: a text, or texts by language. A template.',
    )
    .meta({ example: { en: 'Let me look that up.' } }),
};

export const toolInput = z.strictObject({
  ...fields,
  description: fields.description.default(''),
  parameters: fields.parameters.default({ type: 'object', properties: {} }),
  http: httpInput,
});
/** Only the supplied fields change. Null removes an optional field. */
export const toolPatch = z
  .strictObject({
    ...fields,
    resultMapping: fields.resultMapping.nullable(),
    speakWhile: fields.speakWhile.nullable(),
    http: z
      .strictObject({
        ...httpFields,
        headers: httpFields.headers.nullable(),
        bodyTemplate: httpFields.bodyTemplate.nullable(),
        timeoutMs: httpFields.timeoutMs.nullable(),
      })
      .partial(),
  })
  .partial();
/** A tool as the API shows it: `http` of source http, `mcp` of source mcp. */
export const tool = z
  .object({
    id: z.uuid(),
    source: z.enum(['http', 'mcp']).describe('http: called at its url. mcp: offered by an MCP server.'),
    ...fields,
    http: http.extend({ headers: shownHeaderList }).optional(),
    mcp: z
      .object({
        serverId: z.uuid(),
        name: z.string().describe('The server’s own name of the tool.'),
        available: z.boolean().describe('False when the server no longer lists the tool.'),
      })
      .optional(),
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
  })
  .meta({ id: 'Tool' });
/** The response to its creation. A repeated response has null as header values, which are not stored for it. */
export const createdTool = tool.required({ http: true });

export type ToolInput = z.output<typeof toolInput>;
export type ToolPatch = z.output<typeof toolPatch>;
export type ShownTool = z.infer<typeof tool>;
type AnyTool = Omit<ShownTool, 'source' | 'http' | 'mcp'>;
/** A tool that is an HTTP request. */
export type HttpTool = AnyTool & { readonly http: z.infer<typeof http> };
/** A tool that an MCP server offers. */
export type McpTool = AnyTool & { readonly mcp: NonNullable<ShownTool['mcp']> };
export type Tool = HttpTool | McpTool;

export function isMcpTool(tool: Tool): tool is McpTool {
  return 'mcp' in tool;
}

/** @param showsSecrets - Whether the values of its headers are shown. */
export function shownTool(tool: Tool, showsSecrets: boolean): ShownTool {
  if (isMcpTool(tool)) return { ...tool, source: 'mcp' };
  if (showsSecrets) return { ...tool, source: 'http' };
  return { ...tool, source: 'http', http: { ...tool.http, headers: withoutHeaderValues(tool.http.headers) } };
}

/**
 * Applies a patch; null resets a field to the default of a new tool, or removes it.
 *
 * @throws {CallwayError} 400 `secret_needed_again` where the url is of another server and the headers are not given.
 */
export function patchTool(current: HttpTool, patch: ToolPatch): ToolInput {
  const isMoved = patch.http?.url !== undefined && originOf(patch.http.url) !== originOf(current.http.url);
  if (isMoved && patch.http?.headers === undefined && current.http.headers.length > 0)
    throw secretNeededAgain('/http/headers', 'the headers');
  const http = Object.entries({ ...current.http, ...patch.http }).filter(([, value]) => value !== null);
  const { resultMapping = current.resultMapping, speakWhile = current.speakWhile } = patch;
  return toolInput.parse({
    resultMapping,
    speakWhile,
    name: patch.name ?? current.name,
    description: patch.description ?? current.description,
    parameters: patch.parameters ?? current.parameters,
    http: Object.fromEntries(http),
  });
}

/**
 * Applies a patch to a tool of an MCP server: the rest is the server's.
 *
 * @throws {CallwayError} 400 `invalid_tool`
 */
export function patchMcpTool(current: McpTool, patch: ToolPatch): McpTool {
  const { resultMapping, speakWhile, ...others } = patch;
  const [field] = Object.keys(others);
  if (field !== undefined) {
    const message = `${field} is what the MCP server says; only resultMapping and speakWhile can be changed`;
    throw invalid('invalid_tool', message, [{ path: `/${field}`, message }]);
  }
  const {
    resultMapping: mapping = null,
    speakWhile: line = null,
    ...rest
  } = {
    ...current,
    ...omitUndefined({ resultMapping, speakWhile }),
  };
  return { ...rest, resultMapping: mapping ?? undefined, speakWhile: line ?? undefined };
}
