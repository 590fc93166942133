import { z } from 'zod';

const MAX_TEXT_CHARACTERS = 20_000;
const MAX_WAIT_MS = 600_000;

const turn = z.union([
  z.strictObject({ say: z.string().min(1).max(MAX_TEXT_CHARACTERS) }),
  z.strictObject({ dtmf: z.string().regex(/^[0-9A-D*#]{1,64}$/, 'must be digits 0-9, A-D, * and #') }),
  z.strictObject({ waitMs: z.int().min(0).max(MAX_WAIT_MS) }),
]);

/** Any JSON. Not recursive, since the OpenAPI generator does not support recursive schemas. */
const anyJson = z.union([
  z.null(),
  z.boolean(),
  z.number(),
  z.string(),
  z.array(z.unknown()),
  z.record(z.string(), z.unknown()),
]);

/** A condition that must hold after the run. */
export const assertion = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('contains'), value: z.string().min(1).max(MAX_TEXT_CHARACTERS) }),
  z.strictObject({ type: z.literal('not_contains'), value: z.string().min(1).max(MAX_TEXT_CHARACTERS) }),
  z.strictObject({
    type: z.literal('regex'),
    value: z.string().min(1).max(2000).refine(isRegularExpression, 'must be a regular expression'),
  }),
  z.strictObject({ type: z.literal('node_visited'), nodeId: z.string().min(1).max(128) }),
  z.strictObject({ type: z.literal('variable_equals'), name: z.string().min(1).max(64), value: anyJson }),
  z.strictObject({ type: z.literal('tool_called'), name: z.string().min(1).max(64) }),
  z.strictObject({ type: z.literal('max_latency_ms'), value: z.int().min(1).max(MAX_WAIT_MS) }),
  z.strictObject({ type: z.literal('judge'), prompt: z.string().min(1).max(MAX_TEXT_CHARACTERS) }),
]);

const fields = {
  name: z.string().min(1).max(128).meta({ example: 'Books an appointment' }),
  description: z.string().max(4000).nullable(),
  channel: z.enum(['chat', 'phone']),
  persona: z
    .strictObject({ prompt: z.string().min(1).max(MAX_TEXT_CHARACTERS) })
    .nullable()
    .describe('Simulates the caller if there are no turns.'),
  variables: z.record(z.string(), z.unknown()).nullable(),
  turns: z.array(turn).max(200).nullable().describe('The caller’s words, DTMF digits and pauses, in order.'),
  assertions: z.array(assertion).max(100),
};

export const testCaseInput = z.strictObject({
  ...fields,
  description: fields.description.default(null),
  channel: fields.channel.default('chat'),
  persona: fields.persona.default(null),
  variables: fields.variables.default(null),
  turns: fields.turns.default(null),
  assertions: fields.assertions.default([]),
});
export const testCasePatch = z.strictObject(fields).partial();
export const testCase = z
  .object({
    id: z.uuid(),
    projectId: z.uuid(),
    ...fields,
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
  })
  .meta({ id: 'TestCase' });

export type TestCaseInput = z.output<typeof testCaseInput>;
export type TestCasePatch = z.output<typeof testCasePatch>;
export type TestCase = z.infer<typeof testCase>;

function isRegularExpression(source: string): boolean {
  try {
    new RegExp(source, 'u');
    return true;
  } catch {
    return false;
  }
}
