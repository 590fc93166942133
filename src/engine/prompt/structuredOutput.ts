import { z } from 'zod';
import type { AgentConfig } from '../../agents/agentConfig.ts';
import type { JsonSchema, ToolDefinition } from '../../models/ports/toolDefinition.ts';

/**
 * The JSON formats of the engine's questions to a model: the JSON schemas that are sent, and the zod schemas that read
 * the answers. Unknown keys are dropped, since models add some.
 */

/** The tool by which an answering model takes an edge. */
export const MOVE_TOOL = 'move_to';

/** Arguments of {@link MOVE_TOOL}. */
export const moveArguments = z.object({ edge: z.string().min(1) });

/** The selected edge; null stays. */
export const routeAnswer = z.object({ edge: z.string().min(1).nullable() });

/** Variables by name; null or undefined when the conversation has no value. The values are not yet checked. */
export const extractAnswer = z.record(z.string(), z.unknown());

/** The answer: one verdict for each criterion, by its name. */
export const judgeAnswer = z.object({
  results: z.array(z.object({ name: z.string(), passed: z.boolean(), reason: z.string().default('') })),
});

/** An edge as a model is shown it. */
export interface Choice {
  readonly id: string;
  readonly label: string;
  /** The edge's condition as a sentence; empty for an unconditional edge. */
  readonly sentence: string;
}

type Criterion = { readonly name: string };
type VariableConfig = NonNullable<AgentConfig['variableConfigs']>[number];

/** A `jsonSchema` of a ChatRequest. */
export interface AnswerFormat {
  readonly name: string;
  readonly schema: JsonSchema;
}

/** Offers the edges as a tool, for an answer and a move in one request. */
export function moveTool(choices: readonly Choice[]): ToolDefinition {
  const ways = choices.map(({ id, label, sentence }) => `${id}: ${sentence || label}`);
  return {
    name: MOVE_TOOL,
    description: [
      'Moves the conversation on, when one of these holds. Call it at most once, and only then.',
      ...ways,
    ].join('\n'),
    parameters: closedObject({ edge: { type: 'string', enum: choices.map(({ id }) => id) } }),
  };
}

export function routeFormat(choices: readonly Choice[]): AnswerFormat {
  const edge = { type: ['string', 'null'], enum: [...choices.map(({ id }) => id), null] };
  return { name: 'route', schema: closedObject({ edge }) };
}

export function extractFormat(configs: readonly VariableConfig[]): AnswerFormat {
  const properties = Object.fromEntries(configs.map((config) => [config.name, variableSchema(config)]));
  return { name: 'extract', schema: closedObject(properties) };
}

export function judgeFormat(criteria: readonly Criterion[]): AnswerFormat {
  const results = verdictsFormat(criteria, { passed: { type: 'boolean' } });
  return { name: 'judge', schema: closedObject({ results }) };
}

/** Returns the schema of a list of verdicts, one for each criterion. */
export function verdictsFormat(
  criteria: readonly Criterion[],
  verdict: Readonly<Record<string, JsonSchema>>,
): JsonSchema {
  const name = { type: 'string', enum: criteria.map((criterion) => criterion.name) };
  return { type: 'array', items: closedObject({ name, ...verdict, reason: { type: 'string' } }) };
}

/** Returns an object schema that requires all properties and allows no others, as strict schemas need. */
export function closedObject(properties: Readonly<Record<string, JsonSchema>>): JsonSchema {
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false };
}

function variableSchema({ type, description, values }: VariableConfig): JsonSchema {
  switch (type) {
    case 'number':
    case 'boolean':
      return { type: [type, 'null'], description };
    case 'date':
      return { type: ['string', 'null'], description: `${description} (YYYY-MM-DD)`.trim() };
    case 'enum':
      return { type: ['string', 'null'], enum: [...(values ?? []), null], description };
    case 'string':
      return { type: ['string', 'null'], description };
  }
}
