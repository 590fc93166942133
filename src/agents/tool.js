import { z } from 'zod';
import { headerList, targetUrl } from './fields.js';
export const DEFAULT_TOOL_TIMEOUT_MILLISECONDS = 10_000;
const LONGEST_TOOL_TIMEOUT_MILLISECONDS = 60_000;
const httpFields = {
  method: z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']),
  url: targetUrl.describe('May hold templates in its path and query.'),
  headers: headerList,
  bodyTemplate: z.string().max(20_000).optional().describe('Without it the arguments are sent as JSON.'),
  timeoutMs: z.int().min(100).max(LONGEST_TOOL_TIMEOUT_MILLISECONDS),
};
const http = z.strictObject(httpFields);
const httpInput = z.strictObject({
  ...httpFields,
  headers: httpFields.headers.default([]),
  timeoutMs: httpFields.timeoutMs.default(DEFAULT_TOOL_TIMEOUT_MILLISECONDS),
});
const fields = {
  name: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be letters, digits, _ and -, at most 64')
    .describe('What the model calls it by; unique in the project.')
    .meta({ example: 'book_appointment' }),
  description: z.string().max(4000),
  parameters: z.record(z.string(), z.unknown()).describe('JSON Schema of the arguments.'),
  http,
};
export const toolInput = z.strictObject({
  ...fields,
  description: fields.description.default(''),
  parameters: fields.parameters.default({ type: 'object', properties: {} }),
  http: httpInput,
});
/** What it leaves out stays as it is. What a new tool may leave out it takes away by null. */
export const toolPatch = z
  .strictObject({
    ...fields,
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
/** The answer to its creation; a repetition of that answer has null in place of header values, which are not kept. */
export const createdTool = tool.extend({
  http: http.extend({ headers: z.array(z.object({ key: z.string(), value: z.string().nullable() })) }),
});
/** The tool as a patch leaves it; what the patch sets to null has the default of a new tool, or is gone. */
export function patchTool(current, patch) {
  const http = Object.entries({ ...current.http, ...patch.http }).filter(([, value]) => value !== null);
  return toolInput.parse({
    name: patch.name ?? current.name,
    description: patch.description ?? current.description,
    parameters: patch.parameters ?? current.parameters,
    http: Object.fromEntries(http),
  });
}
