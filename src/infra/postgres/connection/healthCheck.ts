import pg from 'pg';

import { isUnavailable } from '../../../base/errors.ts';
import { translateDatabaseError } from './errors.ts';

/** A server that has not answered by then, over a connection that nobody else uses, says nothing. */
const ANSWER_MS = 1_500;
/** Insufficient resources, such as connections: said by a server that is there. @see PostgreSQL appendix A */
const SHORT_OF_SOMETHING = /^53/;

export interface HealthCheck {
  /** @throws {CallwayError} `database_unavailable` */
  probe(): Promise<void>;
  close(): Promise<void>;
}

/** Asks a Postgres server whether it is there, over a connection of its own. */
export function createHealthCheck(url: string): HealthCheck {
  const pool = new pg.Pool({
    connectionString: url,
    max: 1,
    connectionTimeoutMillis: ANSWER_MS,
    query_timeout: ANSWER_MS,
    idleTimeoutMillis: 0,
    allowExitOnIdle: true,
    application_name: 'callway-heartbeat',
    keepAlive: true,
  });
  // A connection that breaks between two questions is made anew for the next, which then tells.
  pool.on('error', () => undefined);
  return {
    async probe() {
      try {
        await pool.query('SELECT 1');
      } catch (error) {
        const translated = translateDatabaseError(error);
        if (isUnavailable(translated) && !isShort(error)) throw translated;
      }
    },
    close: () => pool.end(),
  };
}

function isShort(error: unknown): boolean {
  return (
    error instanceof Error &&
    'code' in error &&
    typeof error.code === 'string' &&
    SHORT_OF_SOMETHING.test(error.code)
  );
}
