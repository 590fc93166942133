import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { registerTypes } from 'pgvector/pg';
import {
  type HealthMonitor,
  type HealthMonitorOptions,
  monitorHealth,
} from '../../../base/async/healthMonitor.ts';
import { CallwayError, isUnavailable, unavailable } from '../../../base/errors.ts';
import { memoize } from '../../../base/values/memoize.ts';
import type { Database, Parameter, Queryable, Session } from './database.ts';
import { isConflict, translateDatabaseError } from './errors.ts';
import { createHealthCheck } from './healthCheck.ts';

/** Including the first one. More retries would not help against sustained load. */
const ATTEMPTS = 3;
/** Long enough for the concurrent transaction to get its locks. */
const PAUSE_MS = 20;

const DEFAULT_POOL_SIZE = 20;
const CONNECT_TIMEOUT_MILLISECONDS = 3_000;
/**
 * Maximum wait for a connection of the pool. Longer than a connect: a full pool does not mean that the database is
 * down.
 */
const QUEUE_TIMEOUT_MILLISECONDS = 15_000;
const IDLE_TIMEOUT_MILLISECONDS = 30_000;
/** Default timeout of a statement. */
const DEFAULT_STATEMENT_TIMEOUT_MILLISECONDS = 30_000;
/** A server that does not report a statement timeout within this time is down, even with an open connection. */
const UNRESPONSIVE_AFTER_MILLISECONDS = 2_000;
/** Inserting one vector into an index takes the embedded server about 30 ms. */
const SHARED_SESSION_EXPENSIVE_ROWS = 1;

export interface PostgresOptions {
  /** `postgres://…` with credentials. */
  readonly url: string;
  /** Most connections; default {@link DEFAULT_POOL_SIZE}. */
  readonly poolSize?: number | undefined;
  /** Called when an idle connection breaks. */
  readonly onIdleError: (error: Error) => void;
  /** Enforced by the server. */
  readonly statementTimeoutMs?: number;
  /**
   * Whether all connections share one session, as those of the embedded server: prepared statements would meet those of
   * others, and a statement delays all others.
   */
  readonly sharesSession?: boolean;
  /**
   * Enables health monitoring: when the server stops answering, pending and new queries fail within seconds until it
   * is back. Without it, only the statement timeout bounds a query.
   */
  readonly health?: HealthMonitorOptions;
}

interface Connections {
  readonly pool: pg.Pool;
  /** Rejects queries while the server is down. */
  readonly health: Pick<HealthMonitor, 'guard'>;
  /** The same one each time that a connection is borrowed. */
  clientOf(connection: pg.PoolClient): Queryable;
}

const UNMONITORED: Connections['health'] = { guard: (operation) => operation() };

/** The pool's own timeout covers the wait for a connection; this one covers the connect. */
class ConnectTimeoutClient extends pg.Client {
  constructor(config?: pg.ClientConfig) {
    super({ ...config, connectionTimeoutMillis: CONNECT_TIMEOUT_MILLISECONDS });
  }
}

/** Vectors are read as arrays of numbers. A database that is not migrated yet has no such type. */
async function registerVectors(client: pg.ClientBase): Promise<void> {
  const rows = await client.query(`SELECT FROM pg_type WHERE typname = 'vector'`);
  if (rows.rowCount) await registerTypes(client);
}

/** A pool of connections to a Postgres server; reconnects by itself. */
export function openPostgres(options: PostgresOptions): Database {
  const statementTimeoutMs = options.statementTimeoutMs ?? DEFAULT_STATEMENT_TIMEOUT_MILLISECONDS;
  const pool = new pg.Pool({
    connectionString: options.url,
    max: options.poolSize ?? DEFAULT_POOL_SIZE,
    // A shared session answers a connection only after the statements before it.
    ...(!options.sharesSession && { Client: ConnectTimeoutClient }),
    connectionTimeoutMillis: QUEUE_TIMEOUT_MILLISECONDS,
    idleTimeoutMillis: IDLE_TIMEOUT_MILLISECONDS,
    statement_timeout: statementTimeoutMs,
    query_timeout: statementTimeoutMs + UNRESPONSIVE_AFTER_MILLISECONDS,
    application_name: 'callway',
    keepAlive: true,
    onConnect: registerVectors,
  });
  pool.on('error', options.onIdleError);
  const monitor = options.health && monitorServer(options.url, options.health);
  const health = monitor?.health ?? UNMONITORED;
  const connections: Connections = {
    pool,
    health,
    clientOf: memoize((connection) => ({
      query: (sql, parameters, name) =>
        health.guard(() => run(connection, sql, parameters, options.sharesSession ? undefined : name)),
    })),
  };
  let closing: Promise<void> | undefined;
  const transaction: Database['transaction'] = (work) =>
    retryConflicts(() => withClient(connections, (client) => transact(client, work), rollBack));

  return {
    // A single statement is a transaction and may be retried.
    query: (sql, parameters, name) =>
      retryConflicts(() => withClient(connections, (client) => client.query(sql, parameters, name))),
    ...(options.sharesSession
      ? { sharesSession: true, expensiveRowsAtOnce: SHARED_SESSION_EXPENSIVE_ROWS }
      : { within: (timeoutMs) => ({ query: queryWithin(transaction, timeoutMs) }) }),
    transaction,
    session: (work) => withOwnConnection(options, work),
    close() {
      closing ??= Promise.all([pool.end(), monitor?.close()]).then(() => undefined);
      return closing;
    },
  };
}

/** A statement with a timeout of its own. */
function queryWithin(transaction: Database['transaction'], timeoutMs: number): Queryable['query'] {
  return (sql, parameters) =>
    transaction(async ({ query }) => {
      await query(`SET LOCAL statement_timeout = ${timeoutMs}`);
      return await query(sql, parameters);
    });
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
 * Borrows a connection of the pool. A connection that may be broken is closed afterwards.
 *
 * @param recover - Resets a connection after a failure, so that it can be reused.
 */
async function withClient<Result>(
  connections: Connections,
  work: (client: Queryable) => Promise<Result>,
  recover?: (client: Queryable) => Promise<void>,
): Promise<Result> {
  const connection = await borrow(connections);
  const client = connections.clientOf(connection);
  // Between two queries nothing else listens for errors of the connection.
  const ignore = () => {};
  connection.on('error', ignore);
  let broken: Error | undefined;
  try {
    return await work(client);
  } catch (error) {
    // The server rolls back by itself, and a silent connection must not be used again.
    if (isUnavailable(error)) broken = error;
    else
      await recover?.(client).catch((failure: Error) => {
        broken = failure;
      });
    throw error;
  } finally {
    connection.off('error', ignore);
    connection.release(broken);
  }
}

/**
 * A connection that becomes free after a rejection is returned to the pool. A server that refuses the connection is
 * unavailable whatever it says: a password that was changed, too, is no fault of the request.
 */
async function borrow({ pool, health }: Connections): Promise<pg.PoolClient> {
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
    throw error instanceof CallwayError ? error : unavailable('database', error);
  }
}

/** Outside the pool, whose connections have timeouts on both sides. */
async function withOwnConnection<Result>(
  { url, sharesSession }: PostgresOptions,
  work: (session: Session) => Promise<Result>,
): Promise<Result> {
  const connection = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: sharesSession ? QUEUE_TIMEOUT_MILLISECONDS : CONNECT_TIMEOUT_MILLISECONDS,
    application_name: 'callway-migration',
    keepAlive: true,
  });
  // A query that runs then rejects with the same error.
  connection.on('error', () => undefined);
  try {
    await connection.connect();
    return await work({
      query: (sql, parameters) => run(connection, sql, parameters),
      async script(sql) {
        await run(connection, sql);
      },
    });
  } catch (error) {
    throw translateDatabaseError(error);
  } finally {
    await connection.end().catch(() => undefined);
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
  connection: pg.ClientBase,
  sql: string,
  parameters?: readonly Parameter[],
  name?: string,
): Promise<Row[]> {
  try {
    // Without parameters the simple protocol is used, which allows several statements.
    const query = parameters
      ? { text: sql, values: [...parameters], ...(name === undefined ? {} : { name }) }
      : sql;
    const result = await connection.query(query);
    return result.rows as Row[];
  } catch (error) {
    throw translateDatabaseError(error);
  }
}

/**
 * Retries a transaction after a conflict. A random pause lets the concurrent transaction proceed first.
 *
 * @throws {CallwayError} 503 `database_busy` when the last attempt fails too.
 */
async function retryConflicts<Result>(transaction: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await transaction();
    } catch (error) {
      if (attempt === ATTEMPTS || !isConflict(error)) throw error;
      await pause(PAUSE_MS * attempt * (0.5 + Math.random()));
    }
  }
}
