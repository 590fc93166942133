import type { Database, Queryable } from './database.ts';
import { openPostgres } from './postgres.ts';

/** What `callway doctor` checks on a Postgres server. */
export interface DatabaseFacts {
  /** Such as `15.18`. */
  readonly version: string;
  readonly majorVersion: number;
  /** Whether pgvector is installed in this database, can be installed, or is missing on the server. */
  readonly vector: 'installed' | 'available' | 'missing';
  /** A superuser may install extensions. */
  readonly isSuperuser: boolean;
  /** Checksums of the applied migrations by version; undefined before the first start. */
  readonly migrations: ReadonlyMap<number, string> | undefined;
  /** Fingerprint of the key of its secrets; undefined before the first start. @see Sealer */
  readonly sealerFingerprint: string | undefined;
}

/**
 * Inspects a server without changing anything.
 *
 * @throws {Error} When the server is unreachable or rejects the credentials; the cause is the driver's error.
 */
export async function probePostgres(url: string): Promise<DatabaseFacts> {
  const database = openPostgres({
    url,
    onIdleError: () => {
      // The next query reports it.
    },
  });
  try {
    return await factsOf(database);
  } finally {
    await database.close();
  }
}

async function factsOf(database: Database): Promise<DatabaseFacts> {
  const [server] = await database.query<{ version: string; number: number; is_superuser: boolean }>(
    `SELECT current_setting('server_version') AS version,
            current_setting('server_version_num')::integer AS number,
            (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) AS is_superuser`,
    [],
  );
  const [vector] = await database.query<{ installed: boolean }>(
    `SELECT installed_version IS NOT NULL AS installed FROM pg_available_extensions WHERE name = 'vector'`,
    [],
  );
  return {
    version: server?.version.split(' ')[0] ?? '',
    majorVersion: Math.floor((server?.number ?? 0) / 10_000),
    vector: vector ? (vector.installed ? 'installed' : 'available') : 'missing',
    isSuperuser: server?.is_superuser ?? false,
    migrations: await migrationsOf(database),
    sealerFingerprint: await fingerprintOf(database),
  };
}

async function migrationsOf(database: Queryable): Promise<ReadonlyMap<number, string> | undefined> {
  if (!(await hasTable(database, 'schema_migrations'))) return undefined;
  const rows = await database.query<{ version: number; checksum: string }>(
    'SELECT version, checksum FROM schema_migrations',
    [],
  );
  return new Map(rows.map(({ version, checksum }) => [version, checksum]));
}

async function fingerprintOf(database: Queryable): Promise<string | undefined> {
  if (!(await hasTable(database, 'installation'))) return undefined;
  const [row] = await database.query<{ value: string }>(
    `SELECT value FROM installation WHERE name = 'secrets_key_fingerprint'`,
    [],
  );
  return row?.value;
}

async function hasTable(database: Queryable, name: string): Promise<boolean> {
  const [row] = await database.query<{ found: boolean }>('SELECT to_regclass($1) IS NOT NULL AS found', [
    name,
  ]);
  return row?.found ?? false;
}
