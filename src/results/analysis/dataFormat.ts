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
/** What alternatives may have beside them. */
const KNOWN_BESIDE = new Set([...CHECKED_LATER, 'description', 'nullable', 'anyOf', 'oneOf']);
const KNOWN = new Set([
  ...KNOWN_BESIDE,
  'type',
  'enum',
  'const',
  'properties',
  'required',
  'items',
  'additionalProperties',
]);
/** A small schema may unfold to any size by references to references. */
const MAX_REFERENCES = 100;
const MAX_STRICT_CHARACTERS = 40_000;

/**
 * Puts a schema's own definitions in place of the references to them, as far as none contains itself and they are at most
 * {@link MAX_REFERENCES}; others stay.
 */
export function withoutReferences(schema: JsonSchema): JsonSchema {
  const { $defs: _defs, definitions: _definitions, ...root } = schema;
  let left = MAX_REFERENCES;
  const unfold = (value: unknown, within: readonly string[]): unknown => {
    if (Array.isArray(value)) return value.map((item) => unfold(item, within));
    if (typeof value !== 'object' || value === null) return value;
    const inner = Object.entries(value).map(([name, one]) => [name, unfold(one, within)] as const);
    const { $ref: reference, ...rest } = Object.fromEntries(inner);
    if (typeof reference !== 'string') return Object.fromEntries(inner);
    const definition = within.includes(reference) ? undefined : definitionAt(schema, reference);
    if (definition === undefined || left <= 0) return { $ref: reference, ...rest };
    left -= 1;
    return { ...recordOf(unfold(definition, [...within, reference])), ...rest };
  };
  return recordOf(unfold(root, []));
}

/** @param reference - A JSON pointer as a fragment, such as `#/$defs/guest`. */
function definitionAt(schema: JsonSchema, reference: string): unknown {
  const [start, ...path] = reference.split('/');
  const names = path.map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
  return start === '#' ? names.reduce<unknown>((part, name) => recordOf(part)[name], schema) : undefined;
}

/**
 * A user's schema as structured outputs take it: every property is required, and those that the user does not require
 * may be null.
 *
 * @param schema - Without references.
 * @returns Undefined for a schema that they do not take, such as one of an object with any properties.
 * @see https://platform.openai.com/docs/guides/structured-outputs, "Supported schemas"
 */
export function strictSchema(schema: JsonSchema): JsonSchema | undefined {
  const strict = strictValue(schema);
  return JSON.stringify(strict ?? {}).length <= MAX_STRICT_CHARACTERS ? strict : undefined;
}

function strictValue(schema: JsonSchema): JsonSchema | undefined {
  const { nullable, ...own } = schema;
  const strict = hasOnly(own, KNOWN) ? strictKind(own) : undefined;
  return strict && nullable === true ? orNull(strict) : strict;
}

function strictKind(schema: JsonSchema): JsonSchema | undefined {
  const alternatives = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(alternatives)) return strictAlternatives(schema, alternatives);
  if ('const' in schema) return strictKind({ type: schema.type, enum: [schema.const] });
  const { type, format } = schema;
  const description =
    format === 'date' ? `${schema.description ?? ''} (YYYY-MM-DD)`.trim() : schema.description;
  const base = { type, description };
  if (Array.isArray(schema.enum)) {
    const types = type ?? typesOf(schema.enum);
    return isScalar(types) ? { ...base, type: types, enum: schema.enum } : undefined;
  }
  const [kind, ...others] = [type].flat().filter((one) => one !== 'null');
  if (kind === 'array' && others.length === 0) {
    const items = strictValue(recordOf(schema.items));
    return items && { ...base, items };
  }
  if (kind === 'object' && others.length === 0) return strictObject(schema);
  return isScalar(type) ? base : undefined;
}

function strictAlternatives(schema: JsonSchema, alternatives: readonly unknown[]): JsonSchema | undefined {
  const known = alternatives.map((one) => strictValue(recordOf(one)));
  const anyOf = known.filter((one) => one !== undefined);
  if (!hasOnly(schema, KNOWN_BESIDE) || anyOf.length < known.length) return undefined;
  const { description } = schema;
  const types = [...new Set(anyOf.flatMap(({ type }) => type))];
  return anyOf.every(isOnlyType) ? { type: types, description } : { description, anyOf };
}

/** Whether it says no more than of which scalar type a value is. */
function isOnlyType({ type, description, ...more }: JsonSchema): boolean {
  return isScalar(type) && description === undefined && Object.keys(more).length === 0;
}

function strictObject(schema: JsonSchema): JsonSchema | undefined {
  const required = requiredOf(schema);
  const properties = Object.entries(recordOf(schema.properties)).map(([name, inner]) => {
    const strict = strictValue(recordOf(inner));
    return [name, strict && (required.has(name) ? strict : orNull(strict))] as const;
  });
  const names = properties.map(([name]) => name);
  const isDeclared = [...required].every((name) => names.includes(String(name)));
  if (names.length === 0 || !isDeclared || schema.additionalProperties) return undefined;
  if (properties.some(([, inner]) => inner === undefined)) return undefined;
  return {
    type: schema.type,
    description: schema.description,
    properties: Object.fromEntries(properties),
    required: names,
    additionalProperties: false,
  };
}

function orNull(schema: JsonSchema): JsonSchema {
  if (Array.isArray(schema.anyOf)) return { ...schema, anyOf: [...schema.anyOf, { type: 'null' }] };
  const type = [...new Set([schema.type, 'null'].flat())];
  return Array.isArray(schema.enum)
    ? { ...schema, type, enum: [...new Set([...schema.enum, null])] }
    : { ...schema, type };
}

/**
 * Removes what a model adds to the data: null for what it has left open and the schema does not require, and properties of
 * names that the schema does not have, unless it takes any.
 *
 * @param schema - Without references.
 */
export function asDeclared(schema: JsonSchema, value: unknown): unknown {
  const parts = partsOf(schema);
  if (Array.isArray(value)) {
    const items = { anyOf: parts.map((part) => part.items) };
    return value.map((item) => asDeclared(items, item));
  }
  if (typeof value !== 'object' || value === null) return value;
  const required = new Set(parts.flatMap((part) => [...requiredOf(part)]));
  const isClosed = parts.every((part) => hasOnly(part, KNOWN) && !part.additionalProperties);
  const kept = Object.entries(value).flatMap(([name, inner]) => {
    const schemas = parts.flatMap((part) => Object.entries(recordOf(part.properties)));
    const own = schemas.flatMap(([property, one]) => (property === name ? [one] : []));
    if (inner === null && !required.has(name)) return [];
    if (own.length === 0 && isClosed && schemas.length > 0) return [];
    return [[name, asDeclared({ anyOf: own }, inner)] as const];
  });
  return Object.fromEntries(kept);
}

/** A schema and those that apply to the same value. */
function partsOf(schema: JsonSchema): JsonSchema[] {
  const others = [schema.anyOf, schema.oneOf, schema.allOf].flatMap((list) =>
    Array.isArray(list) ? list : [],
  );
  const { allOf: _allOf, ...own } = schema;
  return [own, ...others.flatMap((other) => partsOf(recordOf(other)))];
}

function hasOnly(schema: JsonSchema, keywords: ReadonlySet<string>): boolean {
  return Object.keys(schema).every((keyword) => keywords.has(keyword));
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
