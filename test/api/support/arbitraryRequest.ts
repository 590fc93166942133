import fc from 'fast-check';

import type { Operation } from '../../support/apiContract.ts';

type Schema = Record<string, unknown>;
type Document = { components?: { schemas?: Record<string, Schema> } };

/** A request, as for `fetch`. */
export interface ArbitraryRequest {
  readonly path: string;
  readonly query: string;
  readonly body: string | undefined;
}

const MAX_DEPTH = 4;
const ODD_TEXTS = [
  '',
  ' ',
  '\u0000',
  '\ud800',
  '\u{1f600}',
  '__proto__',
  'constructor',
  '{{ a }}',
  '{% if',
  "'; DROP TABLE projects; --",
  '../../etc/passwd',
  'https://example.com/',
  'http://169.254.169.254/',
  '%00',
  'x'.repeat(5000),
  '0197a000-0000-7000-8000-000000000000',
];
const oddText = fc.constantFrom(...ODD_TEXTS);
const oddValue = fc.oneof(
  oddText,
  fc.constantFrom(null, true, 0, -0, -1, 1.5, 1e15, 2 ** 53, 1e308, -1e308, [], {}, [[]], { a: { b: [1] } }),
  fc.jsonValue({ maxDepth: 3 }),
);

/** `fc.string` would first number a million characters. */
const anyCharacters = fc
  .array(fc.nat(0x10_ffff), { maxLength: 12 })
  .map((points) => String.fromCodePoint(...points));

/** Random requests to one operation, mostly valid by its schemas. */
export function arbitraryRequest(operation: Operation, document: Document, known: readonly string[]) {
  const body = operation.definition.requestBody?.content['application/json']?.schema;
  const names = [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const ids = fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...known) },
    { weight: 1, arbitrary: oddText },
  );
  const query = (operation.definition.parameters ?? []).filter((one) => one.in === 'query');
  return fc.record<ArbitraryRequest>({
    path: fc.tuple(...names.map(() => ids)).map((values) =>
      names.reduce((path, name, index) => {
        const value = name === 'projectId' ? (known[0] ?? '') : (values[index] ?? '');
        return path.replace(`{${name}}`, encodeURIComponent(value.toWellFormed()) || 'x');
      }, operation.path),
    ),
    query: fc.tuple(...query.map(() => fc.option(fc.oneof(fc.nat().map(String), oddText)))).map((values) =>
      queryOf(
        query.map(({ name }) => name),
        values,
      ),
    ),
    body: body ? bodyText(roughValue(body, document, 0)) : fc.constant(undefined),
  });
}

function queryOf(names: readonly string[], values: readonly (string | null)[]): string {
  const pairs = names.flatMap((name, index) => {
    const value = values[index];
    return value === null || value === undefined
      ? []
      : [`${name}=${encodeURIComponent(value.toWellFormed())}`];
  });
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`;
}

function bodyText(value: fc.Arbitrary<unknown>): fc.Arbitrary<string> {
  const text = value.map((one) => JSON.stringify(one) ?? '');
  return fc.oneof(
    { weight: 12, arbitrary: text },
    { weight: 1, arbitrary: oddValue.map((odd) => JSON.stringify(odd)) },
    { weight: 1, arbitrary: fc.tuple(text, fc.nat(200)).map(([whole, end]) => whole.slice(0, end)) },
    { weight: 1, arbitrary: text.map((whole) => whole.replace(/\d+/, '1e999')) },
  );
}

function roughValue(schema: Schema, document: Document, depth: number): fc.Arbitrary<unknown> {
  const sound = soundValue(schema, document, depth);
  return fc.oneof({ weight: 14, arbitrary: sound }, { weight: 1, arbitrary: oddValue });
}

function soundValue(schema: Schema, document: Document, depth: number): fc.Arbitrary<unknown> {
  const next = (inner: unknown) => roughValue((inner ?? {}) as Schema, document, depth + 1);
  if (typeof schema.$ref === 'string') {
    const name = schema.$ref.split('/').at(-1) ?? '';
    return soundValue(document.components?.schemas?.[name] ?? {}, document, depth);
  }
  if (Array.isArray(schema.enum)) return fc.constantFrom(...schema.enum);
  if ('const' in schema) return fc.constant(schema.const);
  const branches = (schema.anyOf ?? schema.oneOf) as Schema[] | undefined;
  if (branches) return fc.oneof(...branches.map((branch) => soundValue(branch, document, depth)));
  if (depth > MAX_DEPTH) return fc.constant(null);
  switch (schema.type) {
    case 'object':
      return objectOf(schema, next);
    case 'array':
      return fc.array(next(schema.items), { maxLength: 3 });
    case 'string':
      return textOf(schema);
    case 'integer':
      return fc.integer({ min: Number(schema.minimum ?? -5), max: Number(schema.maximum ?? 1e9) });
    case 'number':
      return fc.double({ noNaN: true, noDefaultInfinity: true });
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    default:
      return fc.jsonValue({ maxDepth: 2 });
  }
}

function objectOf(schema: Schema, next: (inner: unknown) => fc.Arbitrary<unknown>): fc.Arbitrary<object> {
  const properties = Object.entries((schema.properties ?? {}) as Record<string, Schema>);
  const required = (schema.required ?? []) as string[];
  const known = fc
    .tuple(
      ...properties.map(([name, inner]) =>
        // Sometimes omits a required part.
        fc.option(next(inner), { freq: required.includes(name) ? 30 : 2, nil: undefined }),
      ),
    )
    .map((values) => Object.fromEntries(properties.map(([name], index) => [name, values[index]])));
  const more = fc.dictionary(fc.oneof(oddText, fc.string({ maxLength: 8 })), fc.jsonValue({ maxDepth: 1 }), {
    maxKeys: 1,
  });
  const chance = schema.additionalProperties === false ? 20 : 2;
  return fc
    .tuple(known, fc.option(more, { freq: 1, nil: {} }), fc.nat(chance))
    .map(([object, extra, roll]) => (roll === 0 ? { ...object, ...extra } : object));
}

function textOf(schema: Schema): fc.Arbitrary<string> {
  const examples = [schema.example, ...((schema.examples ?? []) as unknown[])].filter(
    (one): one is string => typeof one === 'string',
  );
  if (examples.length > 0) return fc.oneof(fc.constantFrom(...examples), fc.string({ maxLength: 12 }));
  if (typeof schema.pattern === 'string' && schema.pattern.length < 120) {
    return fc.oneof(fc.constantFrom('en', 'a', 'lookup', '1'), fc.string({ maxLength: 12 }));
  }
  return fc.oneof(
    fc.string({ minLength: Number(schema.minLength ?? 0), maxLength: 20 }),
    anyCharacters,
    fc.constantFrom('https://example.com/a?b={{ c }}', 'Asia/Taipei', 'end_call', 'start', 'end'),
  );
}
