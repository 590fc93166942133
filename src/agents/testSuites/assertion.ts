import { z } from 'zod';
import { jsonPath } from './jsonPath.ts';

export const MAX_TEXT_CHARACTERS = 20_000;
const MAX_LATENCY_MS = 600_000;

/** Any JSON. Not recursive, since the OpenAPI generator does not support recursive schemas. */
export const anyJson = z.union([
  z.null(),
  z.boolean(),
  z.number(),
  z.string(),
  z.array(z.unknown()),
  z.record(z.string(), z.unknown()),
]);

const text = z.string().min(1).max(MAX_TEXT_CHARACTERS);
const name = z.string().min(1).max(64);
const latency = z.int().min(1).max(MAX_LATENCY_MS);
const type = <Name extends string>(value: Name) => z.literal(value);

/** What must hold of a play. */
export const assertion = z.discriminatedUnion('type', [
  z.strictObject({ type: type('contains'), value: text }),
  z.strictObject({ type: type('not_contains'), value: text }),
  z.strictObject({
    type: type('regex'),
    value: z
      .string()
      .min(1)
      .max(2000)
      .refine(isRegularExpression, 'must be a regular expression')
      .describe('Without look-around and back references, which take more than linear time.'),
  }),
  z
    .strictObject({ type: type('said_in_order'), values: z.array(text).min(1).max(50) })
    .describe('The agent says these, each after the one before. Case and punctuation do not matter.'),
  z.strictObject({ type: type('not_said'), value: text }).describe('Case and punctuation do not matter.'),
  z
    .strictObject({ type: type('language_is'), value: z.string().regex(/^[a-z]{2,3}(-[A-Za-z0-9]+)*$/) })
    .describe('The language of the agent’s words, such as `de`.'),
  z.strictObject({ type: type('node_visited'), nodeId: z.string().min(1).max(128) }),
  z.strictObject({ type: type('variable_equals'), name, value: anyJson }),
  z
    .strictObject({
      type: type('json_path'),
      path: z.string().min(1).max(500).refine(isJsonPath, 'must be a path such as $.order.items[0].name'),
      value: anyJson,
    })
    .describe('`$` is the variables.'),
  z.strictObject({ type: type('tool_called'), name }),
  z
    .strictObject({ type: type('tool_called_with'), name, arguments: z.record(z.string(), z.unknown()) })
    .describe('Called with these arguments at least.'),
  z.strictObject({ type: type('ended_by'), value: z.enum(['caller', 'agent']) }),
  z.strictObject({ type: type('transferred_to'), to: z.string().min(1).max(256) }),
  z.strictObject({ type: type('dtmf_sent'), digits: z.string().regex(/^[0-9A-D*#]{1,64}$/) }),
  z.strictObject({ type: type('max_latency_ms'), value: latency }),
  z
    .strictObject({ type: type('interrupted_within_ms'), value: latency })
    .describe('How soon the agent stops speaking when the caller interrupts.'),
  z
    .strictObject({ type: type('judge'), prompt: text, votes: z.int().min(1).max(9).optional() })
    .describe('A chat model’s verdict; of several votes the majority’s.'),
]);

export type Assertion = z.infer<typeof assertion>;

function isRegularExpression(source: string): boolean {
  try {
    new RegExp(source, 'u');
    return true;
  } catch {
    return false;
  }
}

function isJsonPath(path: string): boolean {
  return jsonPath(path) !== undefined;
}
