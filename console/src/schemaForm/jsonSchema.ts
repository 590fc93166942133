import { queryOptions } from '@tanstack/react-query';

/** The keywords of JSON Schema that forms are made of. */
export interface JsonSchema {
  readonly $ref?: string;
  readonly title?: string;
  readonly description?: string;
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly items?: JsonSchema;
  readonly additionalProperties?: boolean | JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly not?: JsonSchema;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
}

export type JsonObject = Readonly<Record<string, unknown>>;

/** How a value of a schema is edited. */
export type FieldKind =
  | 'text'
  | 'number'
  | 'boolean'
  | 'choice'
  | 'texts'
  | 'choices'
  | 'list'
  | 'object'
  | 'record'
  | 'union'
  | 'json';

/** The OpenAPI document: the schemas of all requests. */
export const apiDocumentQuery = queryOptions({
  queryKey: ['openapi'],
  queryFn: async (): Promise<JsonObject> => {
    const response = await fetch('/openapi.json');
    if (!response.ok) throw new Error(`HTTP ${response.status}`);
    return (await response.json()) as JsonObject;
  },
  staleTime: Number.POSITIVE_INFINITY,
});

/** The schema at a JSON pointer such as `#/components/schemas/PathwayNodeInput`. */
export function schemaAt(document: unknown, pointer: string): JsonSchema {
  const found = pointer
    .replace(/^#\//, '')
    .split('/')
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce<unknown>((value, key) => (isObject(value) ? value[key] : undefined), document);
  return isObject(found) ? found : {};
}

/** The schema of a request's body. @param path - As in the document: `/v1/projects/{projectId}/agent`. */
export function bodySchema(document: unknown, method: string, path: string): JsonSchema {
  const keys = ['paths', path, method, 'requestBody', 'content', 'application/json', 'schema'];
  return schemaAt(document, keys.map((key) => key.replaceAll('~', '~0').replaceAll('/', '~1')).join('/'));
}

/** Follows references, and takes null out of a union: an empty field stands for it. */
export function resolved(schema: JsonSchema, document: unknown): { schema: JsonSchema; isNullable: boolean } {
  // A schema that refers to itself alone has no fields.
  let target = schema;
  for (let steps = 0; target.$ref !== undefined && steps < 20; steps++) {
    const { $ref, ...beside } = target;
    target = { ...schemaAt(document, $ref), ...beside };
  }
  const branches = (target.anyOf ?? target.oneOf)?.flatMap((branch) => flattened(branch, document));
  if (!branches) return { schema: target, isNullable: false };
  const others = branches.filter(({ type }) => type !== 'null');
  const { anyOf: _anyOf, oneOf: _oneOf, ...rest } = target;
  const [only] = others;
  const isNullable = others.length < branches.length;
  if (only && others.length === 1) {
    const inner = resolved({ ...only, ...definedIn(rest) }, document);
    return { schema: inner.schema, isNullable: isNullable || inner.isNullable };
  }
  return { schema: { ...rest, anyOf: others }, isNullable };
}

/** @param schema - Resolved. */
export function kindOf(schema: JsonSchema): FieldKind {
  if (schema.anyOf) return 'union';
  if (schema.enum ?? 'const' in schema) return 'choice';
  switch (schema.type) {
    case 'string':
      return 'text';
    case 'integer':
    case 'number':
      return 'number';
    case 'boolean':
      return 'boolean';
    case 'array':
      return listKindOf(schema.items);
    case 'object':
      return schema.properties ? 'object' : recordKindOf(schema);
    default:
      return schema.properties ? 'object' : 'json';
  }
}

/** Whether a value is meant for the branch of a union. */
export function fits(value: unknown, branch: JsonSchema): boolean {
  if (branch.not) return false;
  if ('const' in branch) return value === branch.const;
  if (branch.enum) return branch.enum.includes(value);
  if (branch.type !== undefined && branch.type !== typeOf(value, branch.type)) return false;
  if (!isObject(value)) return true;
  return Object.entries(branch.properties ?? {}).every(([name, property]) => {
    const isMark = 'const' in property || property.not !== undefined;
    return !isMark || (name in value ? fits(value[name], property) : !branch.required?.includes(name));
  });
}

/** A first value, with what the schema requires. */
export function initialValue(given: JsonSchema, document: unknown): unknown {
  const { schema, isNullable } = resolved(given, document);
  if ('const' in schema) return schema.const;
  if (schema.default !== undefined) return schema.default;
  if (isNullable) return null;
  if (schema.enum) return schema.enum[0];
  const kind = kindOf(schema);
  if (kind === 'union') return initialValue(schema.anyOf?.[0] ?? {}, document);
  if (kind === 'text') return '';
  if (kind === 'boolean') return false;
  if (kind === 'number') return schema.minimum ?? 0;
  if (kind === 'texts' || kind === 'choices' || kind === 'list') return [];
  const required = Object.entries(schema.properties ?? {}).filter(([name]) =>
    schema.required?.includes(name),
  );
  return Object.fromEntries(required.map(([name, property]) => [name, initialValue(property, document)]));
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Without the property where the value is undefined. */
export function withProperty(object: unknown, name: string, value: unknown): JsonObject {
  const { [name]: _previous, ...others } = isObject(object) ? object : {};
  if (value === undefined) return others;
  return { ...(isObject(object) ? object : {}), [name]: value };
}

function flattened(branch: JsonSchema, document: unknown): readonly JsonSchema[] {
  const target = branch.$ref === undefined ? branch : { ...schemaAt(document, branch.$ref) };
  return (target.anyOf ?? target.oneOf)?.flatMap((inner) => flattened(inner, document)) ?? [target];
}

function definedIn(schema: JsonSchema): JsonSchema {
  return Object.fromEntries(Object.entries(schema).filter(([, value]) => value !== undefined));
}

function listKindOf(items: JsonSchema | undefined): FieldKind {
  if (items?.type !== 'string') return items ? 'list' : 'json';
  return items.enum ? 'choices' : 'texts';
}

function recordKindOf({ additionalProperties }: JsonSchema): FieldKind {
  const isTyped = isObject(additionalProperties) && Object.keys(additionalProperties).length > 0;
  return isTyped ? 'record' : 'json';
}

function typeOf(value: unknown, wanted: JsonSchema['type']): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number')
    return wanted === 'integer' && Number.isInteger(value) ? 'integer' : 'number';
  return typeof value;
}
