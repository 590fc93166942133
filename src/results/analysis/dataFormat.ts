import type { JsonSchema } from '../../models/ports/toolDefinition.ts';

/** Keywords that a model's structured output does not take; the answer is checked by the whole schema. */
const CHECKED_LATER = new Set([
  '$schema',
  '$id',
  '$comment',
  'title',
  'default',
  'examples',
  'deprecated',
  'readOnly',
  'writeOnly',
  'format',
  'pattern',
  'minLength',
  'maxLength',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minItems',
  'maxItems',
  'uniqueItems',
  'minProperties',
  'maxProperties',
]);
const KNOWN = new Set([
  ...CHECKED_LATER,
  'type',
  'description',
  'enum',
  'const',
  'properties',
  'required',
  'items',
  'additionalProperties',
]);

/**
 * A user's schema as structured outputs take it: every property is required, and those that the user does not require
 * may be null.
 *
 * @returns Undefined for a schema that they do not take, such as one with references.
 * @see https://platform.openai.com/docs/guides/structured-outputs, "Supported schemas"
 */
export function strictSchema(schema: JsonSchema): JsonSchema | undefined {
  if (Object.keys(schema).some((keyword) => !KNOWN.has(keyword))) return undefined;
  if ('const' in schema) return strictSchema({ type: schema.type, enum: [schema.const] });
  const { type, format } = schema;
  const description =
    format === 'date' ? `${schema.description ?? ''} (YYYY-MM-DD)`.trim() : schema.description;
  const base = { type, description };
  if (Array.isArray(schema.enum)) {
    const types = type ?? typesOf(schema.enum);
    return isScalar(types) ? { ...base, type: types, enum: schema.enum } : undefined;
  }
  if (type === 'array') {
    const items = strictSchema(recordOf(schema.items));
    return items && { ...base, items };
  }
  if (type === 'object') return strictObject(schema);
  return isScalar(type) ? base : undefined;
}

/** Removes what the model has left open: null for a property that is not required. */
export function withoutNulls(schema: JsonSchema, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => withoutNulls(recordOf(schema.items), item));
  if (typeof value !== 'object' || value === null) return value;
  const properties = recordOf(schema.properties);
  const required = requiredOf(schema);
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name, inner]) => inner !== null || required.has(name))
      .map(([name, inner]) => [name, withoutNulls(recordOf(properties[name]), inner)]),
  );
}

function strictObject(schema: JsonSchema): JsonSchema | undefined {
  const required = requiredOf(schema);
  const properties = Object.entries(recordOf(schema.properties)).map(([name, inner]) => {
    const strict = strictSchema(recordOf(inner));
    return [name, strict && (required.has(name) ? strict : orNull(strict))] as const;
  });
  if (properties.length === 0 || properties.some(([, inner]) => inner === undefined)) return undefined;
  const { description } = schema;
  return {
    type: 'object',
    description,
    properties: Object.fromEntries(properties),
    required: properties.map(([name]) => name),
    additionalProperties: false,
  };
}

function orNull(schema: JsonSchema): JsonSchema {
  const type = [...new Set([schema.type, 'null'].flat())];
  return Array.isArray(schema.enum) ? { ...schema, type, enum: [...schema.enum, null] } : { ...schema, type };
}

function isScalar(type: unknown): boolean {
  const types = [type].flat();
  return types.length > 0 && types.every((one) => SCALARS.has(one));
}

const SCALARS = new Set<unknown>(['string', 'number', 'integer', 'boolean', 'null']);

function typesOf(values: readonly unknown[]): string[] {
  return [...new Set(values.map((value) => (value === null ? 'null' : typeof value)))];
}

function requiredOf({ required }: JsonSchema): ReadonlySet<unknown> {
  return new Set(Array.isArray(required) ? required : []);
}

function recordOf(value: unknown): JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonSchema) : {};
}
