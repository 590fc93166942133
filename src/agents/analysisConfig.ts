import { z } from 'zod';

import { invalid } from '../base/errors.ts';
import { CHAT_ENDPOINTS } from '../models/ports/providerNames.ts';
import { jsonObjectSchema, text } from './pathway/schema/fields.ts';
import type { SchemaChecker } from './schemaChecker.ts';

const MAX_DISPOSITIONS = 50;
const MAX_DATA_PROPERTIES = 50;
/** The model reads the schema with each session. */
const MAX_SCHEMA_CHARACTERS = 20_000;
/** Keywords by which an object may have properties beside those of `properties`. */
const OPENING = [
  'patternProperties',
  '$ref',
  '$dynamicRef',
  'allOf',
  'anyOf',
  'oneOf',
  'if',
  'dependentSchemas',
];

const disposition = z.strictObject({
  value: text(1, 64).describe('Its name in results, lists and filters.').meta({ example: 'booked' }),
  description: z.string().min(1).max(2000).describe('When it holds, as the model is told.'),
  success: z
    .boolean()
    .optional()
    .describe('Whether a session with it is a success. Default: it says nothing.'),
});

const dataSchema = jsonObjectSchema
  .refine(({ type }) => type === 'object', '{field} must be a JSON Schema of type object')
  .refine(
    ({ properties = {} }) =>
      typeof properties === 'object' &&
      properties !== null &&
      Object.keys(properties).length <= MAX_DATA_PROPERTIES,
    `{field} must have at most ${MAX_DATA_PROPERTIES} properties`,
  )
  .refine(
    (schema) => JSON.stringify(schema).length <= MAX_SCHEMA_CHARACTERS,
    `{field} must have at most ${MAX_SCHEMA_CHARACTERS} characters as JSON`,
  )
  .superRefine((schema, context) => {
    const name = undeclaredIn(schema);
    if (name !== undefined)
      context.addIssue({
        code: 'custom',
        message: `{field} requires ${name}, which is none of its properties`,
      });
  });

export const analysisConfig = z
  .strictObject({
    summary: z.boolean().optional().describe('Default: true. Summarize the session in a few sentences.'),
    dispositions: z
      .array(disposition)
      .min(1)
      .max(MAX_DISPOSITIONS)
      .refine(
        (list) => new Set(list.map(({ value }) => value)).size === list.length,
        'must have unique values',
      )
      .optional()
      .describe('How a session may have ended; the model chooses one, or none.'),
    data: dataSchema
      .optional()
      .describe(
        `JSON Schema of an object with at most ${MAX_DATA_PROPERTIES} properties, which the model fills from the conversation. A property that it does not require is absent where nothing was said of it. Patterns are regular expressions without look-around and back references.`,
      )
      .meta({ example: { type: 'object', properties: { guests: { type: 'integer' } } } }),
    model: text(1, 200).optional().describe('Default: the agent’s.'),
    endpoint: z.enum(CHAT_ENDPOINTS).optional().describe('Default: the agent’s.'),
    instructions: z.string().min(1).max(4000).optional().describe('What else the model is told.'),
  })
  .refine(
    ({ summary, dispositions, data }) => summary !== false || dispositions || data,
    'must ask for a summary, dispositions or data',
  )
  .describe(
    'What the model says of each ended session: in its history, its call and in session.finalized, with `postEvaluationConfig` in one request where both have the same model.',
  );
export type AnalysisConfig = z.infer<typeof analysisConfig>;

/**
 * Finds a required property that its object does not have: no answer of a model would fit. Objects that take properties
 * by other keywords than `properties` are left out, and so are those inside that declare none, which take any.
 *
 * @see closedSchema
 */
function undeclaredIn(schema: unknown, isRoot = true): string | undefined {
  if (typeof schema !== 'object' || schema === null) return undefined;
  const { properties, required, items, ...others }: Readonly<Record<string, unknown>> = { ...schema };
  const members = typeof properties === 'object' && properties !== null ? properties : {};
  const isOpen =
    Boolean(others.additionalProperties ?? others.unevaluatedProperties) ||
    OPENING.some((keyword) => keyword in others) ||
    (!isRoot && properties === undefined);
  const missing =
    Array.isArray(required) && !isOpen ? required.find((name) => !Object.hasOwn(members, name)) : undefined;
  if (missing !== undefined) return String(missing);
  return [...Object.values(members), items]
    .map((inner) => undeclaredIn(inner, false))
    .find((name) => name !== undefined);
}

/**
 * Checks the schema of the data, which may take seconds: never in a transaction.
 *
 * @throws {CallwayError} 400 `invalid_analysis`
 */
export async function requireValidAnalysis(
  schemas: SchemaChecker,
  projectId: string,
  config: AnalysisConfig | null | undefined,
): Promise<void> {
  const problem = config?.data && (await schemas.checkSchema(projectId, config.data));
  if (problem === undefined) return;
  const message = `analysis.data must be a JSON Schema: ${problem}`;
  throw invalid('invalid_analysis', message, [{ path: '/analysis/data', message }]);
}
