import type { Database, Queryable } from './database.ts';
import { openPostgres } from './postgres.ts';

/** What there is to know of a Postgres server before Callway starts on it. */
export interface DatabaseFacts {
  /** As in `15.18`. */
  readonly version: string;
  readonly majorVersion: number;
  /** Whether pgvector is in this database, could be put there, or is not on the server at all. */
  readonly vector: 'installed' | 'available' | 'missing';
  /** Whether the role may install extensions for certain. */
  readonly isSuperuser: boolean;
  /** Checksums of the migrations that have been run, by version; `undefined` before the first start. */
  readonly migrations: ReadonlyMap<number, string> | undefined;
  /** Of the key that its secrets are sealed with; `undefined` before the first start. @see Sealer */
  readonly sealerFingerprint: string | undefined;
}

/**
 * Looks at a server without changing anything there.
 *
 * @throws {Error} When it cannot be reached or refuses the credentials; the cause has the driver's reason.
 */
export async function probePostgres(url: string): Promise<DatabaseFacts> {
  const database = openPostgres({
    url,
    onIdleError: () => {
      // The next query tells.
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
