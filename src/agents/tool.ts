import { z } from 'zod';
import { headerList, targetUrl } from './fields.ts';

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
/** A patch has none of these defaults: what it leaves out stays as it is. */
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
export const toolPatch = z.strictObject({ ...fields, http: http.partial() }).partial();
export const tool = z
  .object({ id: z.uuid(), ...fields, createdAt: z.iso.datetime(), updatedAt: z.iso.datetime() })
  .meta({ id: 'Tool' });
/** The answer to its creation; a repetition of that answer has null in place of header values, which are not kept. */
export const createdTool = tool.extend({
  http: http.extend({ headers: z.array(z.object({ key: z.string(), value: z.string().nullable() })) }),
});

export type ToolInput = z.output<typeof toolInput>;
export type ToolPatch = z.output<typeof toolPatch>;
export type Tool = z.infer<typeof tool>;
