import { RE2JS } from 're2js';

import type { JsonObject } from './request.ts';
import { recordOf } from './toolCalls.ts';

/** A schema that demands more values, or deeper ones, is not followed any further. */
const MAX_VALUES = 2_000;
const MAX_DEPTH = 32;
const MAX_LENGTH = 1_000;
const LONGEST_TRIED = 16;
const FORMATS: Readonly<Record<string, string>> = {
  date: '1970-01-01',
  'date-time': '1970-01-01T00:00:00Z',
  time: '00:00:00Z',
  email: 'nobody@example.com',
  uri: 'https://example.com',
  uuid: '00000000-0000-0000-0000-000000000000',
};

/**
 * Returns the simplest value that a JSON Schema takes: null where it may be null, else the empty or smallest one, with what
 * the schema requires. A pattern is met as far as one of a few texts does; `not`, `if`, `contains` and `uniqueItems` are
 * left out.
 */
export function simplestValue(root: JsonObject): unknown {
  let left = MAX_VALUES;
  const simplest = (schema: unknown, depth: number): unknown => {
    left -= 1;
    if (left < 0 || depth > MAX_DEPTH) return null;
    const whole = combined(schema, root, 0);
    if ('const' in whole) return whole.const;
    if (Array.isArray(whole.enum)) return whole.enum.includes(null) ? null : whole.enum[0];
    const inner = (one: unknown) => simplest(one, depth + 1);
    switch (kindOf(whole)) {
      case 'object':
        return Object.fromEntries(membersOf(whole).map(([name, member]) => [name, inner(member)]));
      case 'array':
        return itemsOf(whole, inner);
      case 'string':
        return textsFor(whole).find((text) => takes(whole, text, root)) ?? '';
      case 'number':
      case 'integer':
        return numbersFor(whole).find((number) => takes(whole, number, root)) ?? 0;
      case 'boolean':
        return false;
      default:
        return null;
    }
  };
  return simplest(root, 0);
}

/** Whether a schema takes a text, a number or a boolean. */
export function takes(schema: unknown, value: unknown, root: JsonObject, depth = 0): boolean {
  if (schema === false || depth > MAX_DEPTH) return false;
  const { $ref, allOf, anyOf, oneOf, enum: values, ...own } = recordOf(schema);
  const inner = (one: unknown) => takes(one, value, root, depth + 1);
  if ($ref !== undefined && !inner(definitionAt(root, $ref))) return false;
  if (!listOf(allOf).every(inner)) return false;
  if ([anyOf, oneOf].some((list) => Array.isArray(list) && !list.some(inner))) return false;
  if (Array.isArray(values) && !values.includes(value)) return false;
  if ('const' in own && own.const !== value) return false;
  const types = typesOf(own);
  const type = typeof value;
  if (types.length > 0 && !types.includes(type) && !(types.includes('integer') && Number.isInteger(value)))
    return false;
  if (typeof value === 'string') {
    const { minLength = 0, maxLength = Number.POSITIVE_INFINITY, pattern } = own;
    return value.length >= Number(minLength) && value.length <= Number(maxLength) && matches(pattern, value);
  }
  if (typeof value !== 'number') return true;
  const { low, lowest, high, highest } = rangeOf(own);
  const isWithin = value > low && value >= lowest && value < high && value <= highest;
  return isWithin && (typeof own.multipleOf !== 'number' || Number.isInteger(value / own.multipleOf));
}

/** A schema together with what it refers to and is made of; of alternatives, null or the first one. */
function combined(schema: unknown, root: JsonObject, depth: number): JsonObject {
  const { $ref, allOf, anyOf, oneOf, ...own } = recordOf(schema);
  if (depth > MAX_DEPTH) return own;
  const alternatives = [anyOf, oneOf].map((list) => {
    const one = own.type === undefined ? listOf(list).find(isNull) : undefined;
    return one ?? listOf(list)[0];
  });
  const parts = [
    $ref === undefined ? undefined : definitionAt(root, $ref),
    ...listOf(allOf),
    ...alternatives,
  ];
  return parts
    .filter((part) => part !== undefined)
    .reduce<JsonObject>((whole, part) => both(whole, combined(part, root, depth + 1)), own);
}

function both(one: JsonObject, other: JsonObject): JsonObject {
  const [properties, more] = [recordOf(one.properties), recordOf(other.properties)];
  const shared = Object.entries(more).map(([name, schema]) => {
    return [name, name in properties ? { allOf: [properties[name], schema] } : schema];
  });
  const types = typesOf(other).filter((type) => one.type === undefined || typesOf(one).includes(type));
  return {
    ...one,
    ...other,
    properties: { ...properties, ...Object.fromEntries(shared) },
    required: [...listOf(one.required), ...listOf(other.required)],
    type: other.type === undefined ? one.type : types,
  };
}

/** What an object of the schema cannot be without, by name. */
function membersOf(schema: JsonObject): (readonly [name: string, schema: unknown])[] {
  const properties = recordOf(schema.properties);
  const dependent = recordOf(schema.dependentRequired);
  const required = new Set(listOf(schema.required).map(String));
  for (const name of required) for (const other of listOf(dependent[name])) required.add(String(other));
  const count = Math.min(Number(schema.minProperties ?? 0), MAX_LENGTH);
  const others = Array.from({ length: count }, (_, index) => `value${index + 1}`);
  const names = [...new Set([...required, ...Object.keys(properties), ...others])];
  return names
    .slice(0, Math.max(required.size, count))
    .map((name) => [name, properties[name] ?? schema.additionalProperties]);
}

function itemsOf(schema: JsonObject, simplest: (schema: unknown) => unknown): unknown[] {
  const { minItems = 0, prefixItems, items } = schema;
  const first = listOf(prefixItems);
  const count = Math.min(Number(minItems), MAX_LENGTH);
  return Array.from({ length: count }, (_, index) => simplest(first[index] ?? items));
}

function textsFor({ format, minLength }: JsonObject): string[] {
  const long = 'a'.repeat(Math.min(Number(minLength ?? 0), MAX_LENGTH));
  const lengths = Array.from({ length: LONGEST_TRIED }, (_, index) => index + 1);
  const repeated = ['1', 'a', 'A'].flatMap((sign) => lengths.map((length) => sign.repeat(length)));
  const phones = lengths.map((length) => `+${'1'.repeat(length)}`);
  return [FORMATS[String(format)] ?? '', long, ...repeated, ...phones, ...Object.values(FORMATS)];
}

function numbersFor(schema: JsonObject): number[] {
  const { low, lowest, high, highest } = rangeOf(schema);
  const [from, to] = [Math.max(low, lowest), Math.min(high, highest)];
  const step = typeof schema.multipleOf === 'number' ? schema.multipleOf : 1;
  const up = Math.ceil(from / step) * step;
  const down = Math.floor(to / step) * step;
  return [0, up, up + step, down, down - step, from, to, (from + to) / 2].filter(Number.isFinite);
}

function rangeOf(schema: JsonObject) {
  const bound = (name: string, none: number) => {
    const value = schema[name];
    return typeof value === 'number' ? value : none;
  };
  return {
    low: bound('exclusiveMinimum', Number.NEGATIVE_INFINITY),
    lowest: bound('minimum', Number.NEGATIVE_INFINITY),
    high: bound('exclusiveMaximum', Number.POSITIVE_INFINITY),
    highest: bound('maximum', Number.POSITIVE_INFINITY),
  };
}

/** Users write the patterns: they are matched in linear time. */
function matches(pattern: unknown, text: string): boolean {
  if (typeof pattern !== 'string') return true;
  try {
    return RE2JS.compile(RE2JS.translateRegExp(pattern)).matcher(text).find();
  } catch {
    return false;
  }
}

/** The type of the simplest value; undefined where any will do. */
function kindOf(schema: JsonObject): unknown {
  const types = typesOf(schema);
  if (schema.nullable === true) return undefined;
  if (types.length > 0) return types.includes('null') ? 'null' : types[0];
  if (membersOf(schema).length > 0) return 'object';
  return 'items' in schema ? 'array' : undefined;
}

/** @param reference - A JSON pointer as a fragment, such as `#/$defs/guest`. */
function definitionAt(root: JsonObject, reference: unknown): unknown {
  const names = String(reference)
    .split('/')
    .slice(1)
    .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
  return names.reduce<unknown>((part, name) => recordOf(part)[name], root);
}

const isNull = (schema: unknown) => recordOf(schema).type === 'null';
const typesOf = ({ type }: JsonObject): unknown[] => (type === undefined ? [] : [type].flat());
const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
