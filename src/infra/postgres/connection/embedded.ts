import { PGlite, type Transaction } from '@electric-sql/pglite';
import { pg_trgm } from '@electric-sql/pglite/contrib/pg_trgm';
import { vector } from '@electric-sql/pglite-pgvector';

import type { Database, Parameter, Queryable } from './database.ts';
import { translateDatabaseError } from './errors.ts';
import { createPriorityMutex, type Lane } from './priorityMutex.ts';
import { retryConflicts } from './retryConflicts.ts';

/** A vector takes its place in an index within some 30 ms here, in which this thread does nothing else. */
const BACKGROUND_ROWS = 1;

export interface EmbeddedOptions {
  /** Folder of the database; `memory://` keeps it in memory. */
  readonly folder: string;
  /** A database as `PGlite.dumpDataDir` gives it, to begin with. */
  readonly snapshot?: Blob;
}

type Target = PGlite | Transaction;

/**
 * PGlite: Postgres in this process, with pgvector. It outlives a kill of the process without losing a committed
 * write; it does not call fsync, so that a power cut may cost the last ones.
 */
export async function openEmbedded(options: EmbeddedOptions): Promise<Database> {
  const database = await PGlite.create(options.folder, {
    extensions: { vector, pg_trgm },
    ...(options.snapshot ? { loadDataDir: options.snapshot } : {}),
  });
  const inTurn = createPriorityMutex();
  const queryIn =
    (lane: Lane): Queryable['query'] =>
    (sql, parameters) =>
      retryConflicts(() => inTurn(lane, () => run(database, sql, parameters)));
  const scripts = new WeakMap<Queryable, Transaction>();
  let closing: Promise<void> | undefined;

  return {
    query: queryIn('foreground'),
    background: { query: queryIn('background'), rowsAtOnce: BACKGROUND_ROWS },
    transaction: (work) =>
      retryConflicts(() =>
        inTurn('foreground', () =>
          database.transaction(async (transaction) => {
            const queryable: Queryable = { query: (sql, parameters) => run(transaction, sql, parameters) };
            scripts.set(queryable, transaction);
            return await work(queryable);
          }),
        ),
      ),
    async script(queryable, sql) {
      const transaction = scripts.get(queryable);
      if (!transaction) throw new Error('a script runs in a transaction of its own database');
      await transaction.exec(sql);
    },
    close() {
      closing ??= inTurn('foreground', () => database.close());
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
