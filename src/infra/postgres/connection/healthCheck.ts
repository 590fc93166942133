import pg from 'pg';

import { isUnavailable } from '../../../base/errors.ts';
import { translateDatabaseError } from './errors.ts';

/** Timeout of a query on a connection that is used for nothing else. */
const PROBE_TIMEOUT_MS = 1_500;
/** Insufficient resources, such as connections: the server is up. @see PostgreSQL appendix A */
const INSUFFICIENT_RESOURCES = /^53/;

export interface HealthCheck {
  /** @throws {CallwayError} `database_unavailable` */
  probe(): Promise<void>;
  close(): Promise<void>;
}

/** Probes a Postgres server over a separate connection. */
export function createHealthCheck(url: string): HealthCheck {
  const pool = new pg.Pool({
    connectionString: url,
    max: 1,
    connectionTimeoutMillis: PROBE_TIMEOUT_MS,
    query_timeout: PROBE_TIMEOUT_MS,
    idleTimeoutMillis: 0,
    allowExitOnIdle: true,
    application_name: 'callway-heartbeat',
    keepAlive: true,
  });
  // A broken connection is replaced by the next probe, which reports a failure.
  pool.on('error', () => undefined);
  return {
    async probe() {
      try {
        await pool.query('SELECT 1');
      } catch (error) {
        const translated = translateDatabaseError(error);
        if (isUnavailable(translated) && !hasInsufficientResources(error)) throw translated;
      }
    },
    close: () => pool.end(),
  };
}

function hasInsufficientResources(error: unknown): boolean {
  return (
    error instanceof Error &&
    'code' in error &&
    typeof error.code === 'string' &&
    INSUFFICIENT_RESOURCES.test(error.code)
  );
}
