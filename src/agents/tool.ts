import { z } from 'zod';
import { headerList, languageTag, settableVariable, targetUrl } from './fields.ts';
import { jsonObjectSchema } from './pathway/schema/fields.ts';

export const DEFAULT_TOOL_TIMEOUT_MS = 10_000;
const MAX_TOOL_TIMEOUT_MS = 60_000;

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
export const tool = z
  .object({ id: z.uuid(), ...fields, createdAt: z.iso.datetime(), updatedAt: z.iso.datetime() })
  .meta({ id: 'Tool' });
/** The response to its creation. A repeated response has null as header values, which are not stored for it. */
export const createdTool = tool.extend({
  http: http.extend({ headers: z.array(z.object({ key: z.string(), value: z.string().nullable() })) }),
});

export type ToolInput = z.output<typeof toolInput>;
export type ToolPatch = z.output<typeof toolPatch>;
export type Tool = z.infer<typeof tool>;

/** Applies a patch; null resets a field to the default of a new tool, or removes it. */
export function patchTool(current: Tool, patch: ToolPatch): ToolInput {
  const http = Object.entries({ ...current.http, ...patch.http }).filter(([, value]) => value !== null);
  const { resultMapping = current.resultMapping, speakWhile = current.speakWhile } = patch;
  return toolInput.parse({
    ...(resultMapping ? { resultMapping } : {}),
    ...(speakWhile ? { speakWhile } : {}),
    name: patch.name ?? current.name,
    description: patch.description ?? current.description,
    parameters: patch.parameters ?? current.parameters,
    http: Object.fromEntries(http),
  });
}
