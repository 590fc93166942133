import pg from 'pg';

import { CallwayError, isUnavailable, unavailable } from '../../../base/errors.ts';
import { type HealthMonitor, type HealthMonitorOptions, monitorHealth } from '../../../base/healthMonitor.ts';
import type { Database, Parameter, Queryable } from './database.ts';
import { translateDatabaseError } from './errors.ts';
import { createHealthCheck } from './healthCheck.ts';
import { retryConflicts } from './retryConflicts.ts';

const POOL_SIZE = 20;
/** A connection that is not made by then is not made. */
const CONNECT_TIMEOUT_MILLISECONDS = 3_000;
/** Work waits so long until a connection of the pool is free: many at once are no sign that the database is away. */
const QUEUE_TIMEOUT_MILLISECONDS = 15_000;
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
  /**
   * Has the server watched: one that falls silent is known to be away after some seconds; then what waits for it fails,
   * and what begins, until it is back. Without it, a statement's own time is the only bound.
   */
  readonly health?: HealthMonitorOptions;
}

/** Whether the server is there, for those who are about to wait for it. */
type Guard = Pick<HealthMonitor, 'guard'>;

const UNMONITORED: Guard = { guard: (operation) => operation() };

/** The pool bounds the wait for one of its connections; this one how long making it may take. */
class PromptClient extends pg.Client {
  constructor(config?: pg.ClientConfig) {
    super({ ...config, connectionTimeoutMillis: CONNECT_TIMEOUT_MILLISECONDS });
  }
}

/** A Postgres server, by a pool of connections that mends itself when the server comes back. */
export function openPostgres(options: PostgresOptions): Database {
  const statementTimeoutMs = options.statementTimeoutMs ?? DEFAULT_STATEMENT_TIMEOUT_MILLISECONDS;
  const pool = new pg.Pool({
    connectionString: options.url,
    max: POOL_SIZE,
    Client: PromptClient,
    connectionTimeoutMillis: QUEUE_TIMEOUT_MILLISECONDS,
    idleTimeoutMillis: IDLE_TIMEOUT_MILLISECONDS,
    statement_timeout: statementTimeoutMs,
    query_timeout: statementTimeoutMs + SILENCE_MILLISECONDS,
    application_name: 'callway',
    keepAlive: true,
  });
  pool.on('error', options.onIdleError);
  const monitor = options.health && monitorServer(options.url, options.health);
  const health = monitor?.health ?? UNMONITORED;
  let closing: Promise<void> | undefined;

  return {
    // Alone, a statement is a transaction.
    query: (sql, parameters, name) =>
      retryConflicts(() => withClient(pool, health, (client) => client.query(sql, parameters, name))),
    transaction: (work) =>
      retryConflicts(() => withClient(pool, health, (client) => transact(client, work), rollBack)),
    script: async (transaction, sql) => {
      await transaction.query(sql);
    },
    close() {
      closing ??= Promise.all([pool.end(), monitor?.close()]).then(() => undefined);
      return closing;
    },
  };
}

function monitorServer(url: string, options: HealthMonitorOptions) {
  const healthCheck = createHealthCheck(url);
  const toError = (reason: unknown) =>
    unavailable('database', reason instanceof CallwayError ? reason.cause : reason);
  const health = monitorHealth({ ...options, probe: healthCheck.probe, toError });
  return {
    health,
    async close() {
      await Promise.all([health.close(), healthCheck.close()]);
    },
  };
}

/**
 * Lends a connection of the pool; one that the server may not answer on any more is not kept.
 *
 * @param mend - Makes a connection as good as new after work on it that failed.
 */
async function withClient<Result>(
  pool: pg.Pool,
  health: Guard,
  work: (client: Queryable) => Promise<Result>,
  mend?: (client: Queryable) => Promise<void>,
): Promise<Result> {
  const connection = await borrow(pool, health);
  const client: Queryable = {
    query: (sql, parameters, name) => health.guard(() => run(connection, sql, parameters, name)),
  };
  // Between two queries nobody else listens for the connection's end.
  const ignore = () => {};
  connection.on('error', ignore);
  let broken: Error | undefined;
  try {
    return await work(client);
  } catch (error) {
    // A server that is away rolls back by itself, and a connection that is silent is not to be waited for again.
    if (isUnavailable(error)) broken = error;
    else
      await mend?.(client).catch((failure: Error) => {
        broken = failure;
      });
    throw error;
  } finally {
    connection.off('error', ignore);
    connection.release(broken);
  }
}

/** One that is free only when nobody wants it any more goes back. */
async function borrow(pool: pg.Pool, health: Guard): Promise<pg.PoolClient> {
  let pending: Promise<pg.PoolClient> | undefined;
  try {
    return await health.guard(() => {
      pending = pool.connect();
      return pending;
    }, false);
  } catch (error) {
    pending?.then(
      (connection) => connection.release(),
      () => undefined,
    );
    throw translateDatabaseError(error);
  }
}

async function transact<Result>(
  client: Queryable,
  work: (transaction: Queryable) => Promise<Result>,
): Promise<Result> {
  await client.query('BEGIN');
  const result = await work(client);
  await client.query('COMMIT');
  return result;
}

async function rollBack(client: Queryable): Promise<void> {
  await client.query('ROLLBACK');
}

async function run<Row>(
  connection: pg.PoolClient,
  sql: string,
  parameters?: readonly Parameter[],
  name?: string,
): Promise<Row[]> {
  try {
    // Without parameters the simple protocol is used, which takes several statements.
    const query = parameters
      ? { text: sql, values: [...parameters], ...(name === undefined ? {} : { name }) }
      : sql;
    const result = await connection.query(query);
    return result.rows as Row[];
  } catch (error) {
    throw translateDatabaseError(error);
  }
}
