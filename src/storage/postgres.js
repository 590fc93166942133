import pg from 'pg';
import { translateDatabaseError } from './errors.js';
import { repeatConflicts } from './repeatConflicts.js';

const POOL_SIZE = 20;
/** A request waits so long for a connection before it answers that the database is away. */
const CONNECT_TIMEOUT_MILLISECONDS = 3_000;
const IDLE_TIMEOUT_MILLISECONDS = 30_000;
/** No query of a request may hold a connection longer. */
const DEFAULT_STATEMENT_TIMEOUT_MILLISECONDS = 30_000;
/** A Postgres server, by a pool of connections that mends itself when the server comes back. */
export function openPostgres(options) {
  const pool = new pg.Pool({
    connectionString: options.url,
    max: POOL_SIZE,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MILLISECONDS,
    idleTimeoutMillis: IDLE_TIMEOUT_MILLISECONDS,
    statement_timeout: options.statementTimeoutMs ?? DEFAULT_STATEMENT_TIMEOUT_MILLISECONDS,
    application_name: 'callway',
    keepAlive: true,
  });
  pool.on('error', options.onIdleError);
  let closing;
  return {
    // Alone, a statement is a transaction.
    query: (sql, parameters) => repeatConflicts(() => run(pool, sql, parameters)),
    transaction: (work) => repeatConflicts(() => transact(pool, work)),
    script: async (transaction, sql) => {
      await transaction.query(sql);
    },
    close() {
      closing ??= pool.end();
      return closing;
    },
  };
}
async function transact(pool, work) {
  const client = await pool.connect().catch((error) => {
    throw translateDatabaseError(error);
  });
  // Between two queries of a transaction nobody else listens for the connection's end.
  const ignore = () => {};
  client.on('error', ignore);
  let broken;
  try {
    await run(client, 'BEGIN');
    const result = await work({ query: (sql, parameters) => run(client, sql, parameters) });
    await run(client, 'COMMIT');
    return result;
  } catch (error) {
    await run(client, 'ROLLBACK').catch((failure) => {
      broken = failure;
    });
    throw error;
  } finally {
    client.off('error', ignore);
    client.release(broken);
  }
}
async function run(target, sql, parameters) {
  try {
    // Without parameters the simple protocol is used, which takes several statements.
    const result = await (parameters ? target.query(sql, [...parameters]) : target.query(sql));
    return result.rows;
  } catch (error) {
    throw translateDatabaseError(error);
  }
}
