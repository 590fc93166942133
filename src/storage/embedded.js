import { PGlite } from '@electric-sql/pglite';
import { pg_trgm } from '@electric-sql/pglite/contrib/pg_trgm';
import { vector } from '@electric-sql/pglite-pgvector';
import { translateDatabaseError } from './errors.js';
import { repeatConflicts } from './repeatConflicts.js';
/**
 * PGlite: Postgres in this process, with pgvector. It outlives a kill of the process without losing a committed
 * write; it does not call fsync, so that a power cut may cost the last ones.
 */
export async function openEmbedded(options) {
  const database = await PGlite.create(options.folder, {
    extensions: { vector, pg_trgm },
    ...(options.snapshot ? { loadDataDir: options.snapshot } : {}),
  });
  const scripts = new WeakMap();
  let closing;
  return {
    query: (sql, parameters) => repeatConflicts(() => run(database, sql, parameters)),
    transaction: (work) =>
      repeatConflicts(() =>
        database.transaction(async (transaction) => {
          const queryable = { query: (sql, parameters) => run(transaction, sql, parameters) };
          scripts.set(queryable, transaction);
          return await work(queryable);
        }),
      ),
    async script(queryable, sql) {
      const transaction = scripts.get(queryable);
      if (!transaction) throw new Error('a script runs in a transaction of its own database');
      await transaction.exec(sql);
    },
    close() {
      closing ??= database.close();
      return closing;
    },
  };
}
async function run(target, sql, parameters) {
  try {
    const result = await target.query(sql, parameters ? [...parameters] : []);
    return result.rows;
  } catch (error) {
    throw translateDatabaseError(error);
  }
}
