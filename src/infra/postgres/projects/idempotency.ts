import type { IdempotencyStore, StoredResponse } from '../../../agents/accounts/accountStores.ts';
import type { Queryable } from '../connection/database.ts';
import { newestSession } from '../sessions/newestSession.ts';

/** Stored responses are replayed for this long. */
const KEPT_HOURS = 24;

export function idempotencyStore(database: Queryable): IdempotencyStore {
  return {
    async claim(scope, key, fingerprint, now) {
      const oldest = new Date(now.getTime() - KEPT_HOURS * 3_600_000);
      // The insert waits for a transaction that holds the same key, and then sees its result or nothing.
      const claimed = await database.query(
        `INSERT INTO idempotency_keys AS kept (scope, key, fingerprint, created_at) VALUES ($1, $2, $3, $4)
         ON CONFLICT (scope, key) DO UPDATE
           SET fingerprint = excluded.fingerprint, created_at = excluded.created_at, status = NULL, body = NULL, instance_id = NULL
           WHERE kept.created_at < $5
         RETURNING key`,
        [scope, key, fingerprint, now, oldest],
      );
      if (claimed.length > 0) return undefined;
      const [kept] = await database.query<StoredResponse>(
        'SELECT fingerprint, status, body FROM idempotency_keys WHERE scope = $1 AND key = $2',
        [scope, key],
      );
      return kept;
    },
    async keep(scope, key, { status, body }, session) {
      await database.query(
        `UPDATE idempotency_keys SET status = $3, body = $4, instance_id = ${newestSession('$5', '$6')}
         WHERE scope = $1 AND key = $2`,
        [
          scope,
          key,
          status,
          JSON.stringify(body ?? null),
          session?.projectId ?? null,
          session?.sessionId ?? null,
        ],
      );
    },
  };
}
