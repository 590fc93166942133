type JsonSchema = Readonly<Record<string, unknown>>;

/** Keywords whose schemas apply to the same value, so that what they declare is declared for it. */
const SAME_VALUE = [
  'allOf',
  'anyOf',
  'oneOf',
  'if',
  'then',
  'else',
  'dependentSchemas',
  '$ref',
  '$dynamicRef',
];
/** Keywords with a schema, or a list of schemas, of values inside. */
const INNER = ['items', 'prefixItems', 'contains', 'additionalProperties', 'unevaluatedItems'];
/** Keywords with schemas of values inside, by name. */
const NAMED = ['properties', 'patternProperties'];

/**
 * A tool's parameters in which objects have no properties but those that they declare: `additionalProperties` is false
 * at every depth unless the author has set it. An object inside that declares no properties at all takes any.
 *
 * @param schema - JSON Schema 2020-12 of an object.
 */
export function closedSchema(schema: JsonSchema): JsonSchema {
  return closeValue(schema, true);
}

function closeValue(schema: unknown, isRoot = false): JsonSchema {
  if (!isSchema(schema)) return schema as JsonSchema;
  const closed = closeInner(schema);
  if ('additionalProperties' in schema || 'unevaluatedProperties' in schema) return closed;
  const isComposed = SAME_VALUE.some((keyword) => keyword in schema);
  if (isComposed) return isRoot || declares(schema) ? { ...closed, unevaluatedProperties: false } : closed;
  return isRoot || NAMED.some((keyword) => keyword in schema)
    ? { ...closed, additionalProperties: false }
    : closed;
}

/** Closes the objects inside, also those in the schemas that apply to the same value; definitions stay open. */
function closeInner(schema: JsonSchema): JsonSchema {
  return Object.fromEntries(
    Object.entries(schema).map(([keyword, value]) => {
      if (NAMED.includes(keyword)) return [keyword, mapValues(value, (inner) => closeValue(inner))];
      if (INNER.includes(keyword)) return [keyword, mapEach(value, (inner) => closeValue(inner))];
      if (keyword === '$defs' || keyword === 'definitions' || keyword === 'dependentSchemas')
        return [keyword, mapValues(value, closeOpenly)];
      if (SAME_VALUE.includes(keyword)) return [keyword, mapEach(value, closeOpenly)];
      return [keyword, value];
    }),
  );
}

function closeOpenly(schema: unknown): unknown {
  return isSchema(schema) ? closeInner(schema) : schema;
}

/** Whether a composed schema, or one that it is made of, declares properties; a reference counts as if it did. */
function declares(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.some(declares);
  if (!isSchema(schema)) return false;
  if ('$ref' in schema || NAMED.some((keyword) => keyword in schema)) return true;
  return SAME_VALUE.some((keyword) => declares(schema[keyword]));
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function mapValues(value: unknown, change: (inner: unknown) => unknown): unknown {
  if (!isSchema(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, change(inner)]));
}

function mapEach(value: unknown, change: (inner: unknown) => unknown): unknown {
  return Array.isArray(value) ? value.map(change) : change(value);
}
