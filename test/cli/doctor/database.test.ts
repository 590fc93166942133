import { describe, expect, it } from 'vitest';

import { checkDatabase } from '../../../src/cli/doctor/database.ts';
import type { Migration } from '../../../src/infra/postgres/connection/migrate.ts';
import type { DatabaseFacts } from '../../../src/infra/postgres/connection/probe.ts';

const refusing = () => Promise.reject(Object.assign(new Error(), { code: 'ECONNREFUSED' }));

describe('The database check', () => {
  const migrations: Migration[] = [1, 2].map((version) => ({
    version,
    name: `n${version}`,
    sql: '',
    checksum: `c${version}`,
  }));
  const sound: DatabaseFacts = {
    version: '15.1',
    majorVersion: 15,
    vector: 'installed',
    isSuperuser: false,
    migrations: new Map([
      [1, 'c1'],
      [2, 'c2'],
    ]),
    sealerFingerprint: 'f',
  };

  it.each<{ title: string; facts: Partial<DatabaseFacts>; statuses: string[] }>([
    { title: 'all well', facts: {}, statuses: ['ok', 'ok', 'ok'] },
    { title: 'too old', facts: { majorVersion: 14 }, statuses: ['fail', 'ok', 'ok'] },
    { title: 'no pgvector', facts: { vector: 'missing' }, statuses: ['ok', 'fail', 'ok'] },
    {
      title: 'pgvector to be installed by a superuser',
      facts: { vector: 'available', isSuperuser: true },
      statuses: ['ok', 'ok', 'ok'],
    },
    {
      title: 'pgvector to be installed by another',
      facts: { vector: 'available' },
      statuses: ['ok', 'warn', 'ok'],
    },
    { title: 'empty', facts: { migrations: undefined }, statuses: ['ok', 'ok', 'ok'] },
    { title: 'behind', facts: { migrations: new Map([[1, 'c1']]) }, statuses: ['ok', 'ok', 'ok'] },
    {
      title: 'ahead',
      facts: {
        migrations: new Map([
          [1, 'c1'],
          [2, 'c2'],
          [3, 'c3'],
        ]),
      },
      statuses: ['ok', 'ok', 'warn'],
    },
    {
      title: 'changed',
      facts: {
        migrations: new Map([
          [1, 'c1'],
          [2, 'other'],
        ]),
      },
      statuses: ['ok', 'ok', 'fail'],
    },
  ])('reports $statuses with $title', async ({ facts, statuses }) => {
    const probe = async () => ({ ...sound, ...facts });
    const { findings, sealedWith } = await checkDatabase('postgres://u:p@h/d', { probe, migrations });
    expect(findings.map(({ status }) => status)).toEqual(statuses);
    expect(sealedWith).toBe('f');
  });

  it('counts the pending migrations', async () => {
    const probe = async () => ({ ...sound, migrations: new Map([[1, 'c1']]) });
    const { findings } = await checkDatabase('postgres://h/d', { probe, migrations });
    expect(findings[2]?.message).toBe('1 of 2 will run at the next start');
  });

  it('names an unreachable server without its password; the embedded database always passes', async () => {
    const away = await checkDatabase('postgres://u:hidden@h/d?sslkey=k', { probe: refusing, migrations });
    expect(away.findings).toMatchObject([
      { status: 'fail', message: 'postgres://h/d cannot be used (connection refused)' },
    ]);
    const embedded = await checkDatabase(undefined, { probe: refusing, migrations });
    expect(embedded.findings).toMatchObject([{ status: 'ok' }]);
  });
});
