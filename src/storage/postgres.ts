import pg from 'pg';

import { isUnavailable } from '../base/errors.ts';
import type { Database, Parameter, Queryable } from './database.ts';
import { translateDatabaseError } from './errors.ts';
import { repeatConflicts } from './repeatConflicts.ts';

const POOL_SIZE = 20;
/** A request waits so long for a connection before it answers that the database is away. */
const CONNECT_TIMEOUT_MILLISECONDS = 3_000;
const IDLE_TIMEOUT_MILLISECONDS = 30_000;
/** No query of a request may hold a connection longer. */
const DEFAULT_STATEMENT_TIMEOUT_MILLISECONDS = 30_000;
/** A server that has not even said by then that it gave a statement up is away, though its connections stand. */
const SILENCE_MILLISECONDS = 2_000;

export interface PostgresOptions {
  /** `postgres://…`, credentials included. */
  readonly url: string;
  /** Told when a connection that nobody used breaks. */
  readonly onIdleError: (error: Error) => void;
  /** The server gives a statement up after so long. */
  readonly statementTimeoutMs?: number;
}

/** A Postgres server, by a pool of connections that mends itself when the server comes back. */
export function openPostgres(options: PostgresOptions): Database {
  const statementTimeoutMs = options.statementTimeoutMs ?? DEFAULT_STATEMENT_TIMEOUT_MILLISECONDS;
  const pool = new pg.Pool({
    connectionString: options.url,
    max: POOL_SIZE,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MILLISECONDS,
    idleTimeoutMillis: IDLE_TIMEOUT_MILLISECONDS,
    statement_timeout: statementTimeoutMs,
    query_timeout: statementTimeoutMs + SILENCE_MILLISECONDS,
    application_name: 'callway',
    keepAlive: true,
  });
  pool.on('error', options.onIdleError);
  let closing: Promise<void> | undefined;

  return {
    // Alone, a statement is a transaction.
    query: (sql, parameters, name) => repeatConflicts(() => run(pool, sql, parameters, name)),
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

async function transact<Result>(
  pool: pg.Pool,
  work: (transaction: Queryable) => Promise<Result>,
): Promise<Result> {
  const client = await pool.connect().catch((error: unknown) => {
    throw translateDatabaseError(error);
  });
  // Between two queries of a transaction nobody else listens for the connection's end.
  const ignore = () => {};
  client.on('error', ignore);
  let broken: Error | undefined;
  const rollBack = async (cause: unknown) => {
    // A server that is away rolls back by itself, and a connection that is silent is not to be waited for again.
    if (isUnavailable(cause)) broken = cause;
    else await run(client, 'ROLLBACK');
  };
  try {
    await run(client, 'BEGIN');
    const result = await work({
      query: (sql, parameters, name) => run(client, sql, parameters, name),
    });
    await run(client, 'COMMIT');
    return result;
  } catch (error) {
    await rollBack(error).catch((failure: Error) => {
      broken = failure;
    });
    throw error;
  } finally {
    client.off('error', ignore);
    client.release(broken);
  }
}

async function run<Row>(
  target: pg.Pool | pg.PoolClient,
  sql: string,
  parameters?: readonly Parameter[],
  name?: string,
): Promise<Row[]> {
  try {
    // Without parameters the simple protocol is used, which takes several statements.
    const query = parameters
      ? { text: sql, values: [...parameters], ...(name === undefined ? {} : { name }) }
      : sql;
    const result = await target.query(query);
    return result.rows as Row[];
  } catch (error) {
    throw translateDatabaseError(error);
  }
}
