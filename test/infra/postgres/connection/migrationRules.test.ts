import { describe, expect, test } from 'vitest';

import { readMigrations } from '../../../../src/infra/postgres/connection/migrate.ts';
import { MIGRATIONS } from '../support/databases.ts';

/** The schema of an empty database; later migrations meet nodes and rows of the release before. */
const FIRST_VERSION = 1;
/** Breaks nodes of the release before, which run beside this one during a rolling upgrade. */
const BREAKING =
  /\b(DROP\s+(TABLE|COLUMN|TYPE|VIEW|FUNCTION|SCHEMA|EXTENSION)|TRUNCATE|DELETE\s+FROM|RENAME\b|ALTER\s+COLUMN\s+\w+\s+(SET\s+DATA\s+)?TYPE|SET\s+NOT\s+NULL|ADD\s+COLUMN(?![^,;]*\bDEFAULT\b)[^,;]*\bNOT\s+NULL)\b/i;
/** A migration that removes something names the release since which it is unused. */
const CONTRACT = /^-- contract: unused since \d+\.\d+\.\d+$/m;
/** Tables that grow with use. */
const LARGE =
  /^(sessions|session_\w+|calls|call_\w+|chunks|\w+_embeddings|webhook_\w+|queued_events|sip_trace|customer_memories)$/;
const BLOCKING: readonly (readonly [RegExp, string])[] = [
  [/CREATE (?:UNIQUE )?INDEX (?!CONCURRENTLY)[^;]*? ON (\w+)/gi, 'an index that is not CONCURRENTLY'],
  [/^UPDATE (\w+)/gim, 'an update of all rows'],
  [
    /ALTER TABLE (\w+)[^;]*?(?:ALTER COLUMN \w+ (?:SET DATA )?TYPE|SET NOT NULL|ADD (?:CONSTRAINT \w+ )?(?:CHECK|FOREIGN KEY|UNIQUE)(?![^;]*NOT VALID))/gi,
    'a rewrite or a scan under a lock',
  ],
];

/** What would stop nodes of the release before, or the writers of a large table. */
function offencesOf(sql: string): string[] {
  // Function bodies run when they are called, not when they are created.
  const statements = sql.replace(/\$\$.*?\$\$/gs, '').replace(/--.*$/gm, '');
  const created = new Set([...statements.matchAll(/CREATE TABLE (\w+)/gi)].map(([, table]) => table));
  const breaking = CONTRACT.test(sql) ? undefined : BREAKING.exec(statements)?.[0];
  return [
    ...(breaking === undefined ? [] : [breaking]),
    ...BLOCKING.flatMap(([pattern, what]) =>
      [...statements.matchAll(pattern)]
        .filter(([, table = '']) => LARGE.test(table) && !created.has(table))
        .map(([, table]) => `${what} on ${table}`),
    ),
  ];
}

describe('A migration', () => {
  test('leaves nodes of the release before and writers of large tables at work', async () => {
    const later = (await readMigrations(MIGRATIONS)).filter(({ version }) => version > FIRST_VERSION);
    expect(later.flatMap(({ name, sql }) => offencesOf(sql).map((offence) => [name, offence]))).toEqual([]);
  });

  test.each([
    ['ALTER TABLE a DROP COLUMN b;', ['DROP COLUMN']],
    ['DROP TABLE a;', ['DROP TABLE']],
    ['ALTER TABLE a RENAME TO b;', ['RENAME']],
    ['ALTER TABLE a ALTER COLUMN b TYPE text;', ['ALTER COLUMN b TYPE']],
    ['ALTER TABLE a ALTER COLUMN b SET NOT NULL;', ['SET NOT NULL']],
    ['ALTER TABLE a ADD COLUMN b text NOT NULL;', ['ADD COLUMN b text NOT NULL']],
    ["ALTER TABLE a ADD COLUMN b text NOT NULL DEFAULT '';", []],
    ["ALTER TABLE a ADD COLUMN b text DEFAULT '' NOT NULL;", []],
    ['ALTER TABLE a ADD COLUMN b text, ADD COLUMN c boolean;', []],
    ['DELETE FROM a;', ['DELETE FROM']],
    ['-- contract: unused since 1.2.0\nDROP TABLE a;', []],
    ['-- contract: tidy\nDROP TABLE a;', ['DROP TABLE']],
    ['CREATE FUNCTION f() RETURNS trigger AS $$ BEGIN DELETE FROM a; END $$ LANGUAGE plpgsql;', []],
    ['CREATE TABLE b (a_id uuid REFERENCES a ON DELETE CASCADE);', []],
    ['CREATE INDEX calls_by_b ON calls (b);', ['an index that is not CONCURRENTLY on calls']],
    ['CREATE INDEX CONCURRENTLY calls_by_b ON calls (b);', []],
    ['CREATE INDEX trunks_by_b ON trunks (b);', []],
    ['CREATE TABLE call_notes (b int);\nCREATE INDEX call_notes_by_b ON call_notes (b);', []],
    ['UPDATE sessions SET b = 1;', ['an update of all rows on sessions']],
    ['ALTER TABLE calls ADD CHECK (b > 0);', ['a rewrite or a scan under a lock on calls']],
    ['ALTER TABLE calls ADD CHECK (b > 0) NOT VALID;', []],
  ])('is judged by its statements: %s', (sql, offences) => {
    expect(offencesOf(sql)).toEqual(offences);
  });
});
