import { PGlite, type Transaction } from '@electric-sql/pglite';
import { pg_trgm } from '@electric-sql/pglite/contrib/pg_trgm';
import { vector } from '@electric-sql/pglite-pgvector';

import type { Database, Parameter, Queryable } from './database.ts';
import { translateDatabaseError } from './errors.ts';
import { createPriorityMutex, type Priority } from './priorityMutex.ts';
import { retryConflicts } from './retryConflicts.ts';

/** Inserting one vector into an index takes about 30 ms here and blocks this thread. */
const BACKGROUND_ROWS = 1;

export interface EmbeddedOptions {
  /** Data folder; `memory://` for a database in memory. */
  readonly folder: string;
  /** Initial data, as `PGlite.dumpDataDir` returns it. */
  readonly snapshot?: Blob;
}

type Target = PGlite | Transaction;

/**
 * PGlite: Postgres in this process, with pgvector. Committed writes survive a kill of the process. It does not call
 * fsync, so a power failure may lose the last ones.
 */
export async function openEmbedded(options: EmbeddedOptions): Promise<Database> {
  const database = await PGlite.create(options.folder, {
    extensions: { vector, pg_trgm },
    ...(options.snapshot ? { loadDataDir: options.snapshot } : {}),
  });
  const runExclusive = createPriorityMutex();
  const queryWith =
    (priority: Priority): Queryable['query'] =>
    (sql, parameters) =>
      retryConflicts(() => runExclusive(priority, () => run(database, sql, parameters)));
  let closing: Promise<void> | undefined;

  return {
    query: queryWith('foreground'),
    background: { query: queryWith('background'), rowsAtOnce: BACKGROUND_ROWS },
    transaction: (work) =>
      retryConflicts(() =>
        runExclusive('foreground', () =>
          database.transaction(async (transaction) => {
            return await work({ query: (sql, parameters) => run(transaction, sql, parameters) });
          }),
        ),
      ),
    session: (work) =>
      runExclusive('foreground', () =>
        work({
          query: (sql, parameters) => run(database, sql, parameters),
          async script(sql) {
            await database.exec(sql).catch((error: unknown) => {
              throw translateDatabaseError(error);
            });
          },
        }),
      ),
    close() {
      closing ??= runExclusive('foreground', () => database.close());
      return closing;
    },
  };
}

async function run<Row>(target: Target, sql: string, parameters?: readonly Parameter[]): Promise<Row[]> {
  try {
    const result = await target.query<Row>(sql, parameters ? [...parameters] : []);
    return result.rows;
  } catch (error) {
    throw translateDatabaseError(error);
  }
}
