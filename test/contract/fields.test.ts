import { afterAll, beforeAll, expect, test } from 'vitest';
import { settings } from '../../src/app/settings/settings.ts';
import * as providers from '../../src/vendors/registry.ts';
import { startTestServer, type TestServer } from '../support/httpServer.ts';
import { documentFields } from './documentFields.ts';
import type { FieldRow, FieldTable } from './fields/fieldTable.ts';
import { SETTINGS_ROWS } from './fields/settings.ts';
import { TABLES } from './fields/tables.ts';
import { mentions, NamedTests } from './namedTests.ts';

/**
 * Every field that a user can send, and every field of a webhook, acts: a row of a table names the test that shows where.
 *
 * To add a field, add a row to the table of its resource in `fields/`: its name, and `file › title` of a test that fails
 * when the field does nothing. The test's code, with the declarations of its file that it uses, must contain the field's
 * name; a test that knows it by another name says so by `as`. Tests through the API are in `*Fields.integration.test.ts`.
 */

let server: TestServer;
let fieldsOf: ReturnType<typeof documentFields>;
beforeAll(async () => {
  server = await startTestServer();
  fieldsOf = documentFields((await server.send('GET', '/openapi.json', { key: null })).body);
});
afterAll(() => server.close());

const tests = new NamedTests();

/** The fields of a table, without its prefix. Of several prefixes of a field the longest decides. */
function fieldsIn({ places }: FieldTable): Set<string> {
  const fields = places.flatMap(([place, prefix = '']) =>
    [...(fieldsOf.get(place) ?? [])].flatMap((field) =>
      prefixOf(place, field) === prefix ? [field.slice(prefix.length)] : [],
    ),
  );
  return new Set(fields);
}

/** @returns Undefined for a field that belongs to no table. */
function prefixOf(place: string, field: string): string | undefined {
  const prefixes = TABLES.flatMap(({ places }) => places)
    .filter(([path, prefix = '']) => path === place && field.startsWith(prefix))
    .map(([, prefix = '']) => prefix);
  return prefixes.toSorted((a, b) => b.length - a.length)[0];
}

test('Every request body and every webhook has a table', () => {
  const open = [...fieldsOf].flatMap(([place, fields]) =>
    [...fields].filter((field) => prefixOf(place, field) === undefined).map((field) => `${place} ${field}`),
  );
  expect(open, 'in no table of test/contract/fields/').toEqual([]);
});

test.each(TABLES.map((table) => [table.name, table] as const))('Every field of %s has a row', (_, table) => {
  const fields = fieldsIn(table);
  const missing = [...fields].filter((field) => !Object.hasOwn(table.rows, field));
  expect(missing, 'without a row in test/contract/fields/').toEqual([]);
  const unknown = Object.keys(table.rows).filter((field) => !fields.has(field));
  expect(unknown, 'rows of test/contract/fields/ without a field').toEqual([]);
});

test.each(TABLES.map((table) => [table.name, table] as const))(
  'Every row of %s names a test that exists and uses the field',
  (_, table) => {
    expect(Object.entries(table.rows).flatMap(([field, row]) => objectionTo(field, row))).toEqual([]);
  },
);

function objectionTo(field: string, row: FieldRow): string[] {
  const { test: named, as = nameOf(field) } = typeof row === 'string' ? { test: row } : row;
  const [file = '', title = ''] = named.split(' › ');
  const source = tests.sourceOf(`test/${file}`, title);
  if (source === undefined) return [`${field}: there is no test ${JSON.stringify(title)} in test/${file}`];
  return mentions(source, as) ? [] : [`${field}: ${named} does not use ${as}`];
}

/** `headers[].key` is named `key`. */
function nameOf(field: string): string {
  return field.split('.').at(-1)?.replaceAll('[]', '') ?? field;
}

/** Read by their provider's name. */
const credentials = new Set(
  Object.values(providers)
    .flatMap((registry) => Object.keys(registry))
    .flatMap((name) => (name === 'custom' ? ['custom_stt', 'custom_tts', 'custom_s2s'] : [name]))
    .flatMap((name) => [`${name.toUpperCase()}_API_KEY`, `${name.toUpperCase()}_BASE_URL`]),
);

test('Every setting is read by the program, and has the effect that its row names', () => {
  const names = Object.keys(settings.shape);
  const program = tests.sourcesOf('src', 'src/app/settings/settings.ts');
  expect(names.length).toBeGreaterThan(40);
  const isRead = (name: string) => credentials.has(name) || program.some((source) => mentions(source, name));
  expect(names.filter((name) => !isRead(name))).toEqual([]);
  expect(Object.keys(SETTINGS_ROWS).toSorted()).toEqual(names.toSorted());
  expect(Object.entries(SETTINGS_ROWS).flatMap(([name, row]) => objectionTo(name, row))).toEqual([]);
});
