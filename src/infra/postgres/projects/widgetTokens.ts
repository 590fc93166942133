import type { WidgetToken, WidgetTokenStore } from '../../../agents/accounts/widgetToken.ts';
import { isUuid } from '../../../base/values/ids.ts';
import { mapPage } from '../../../base/values/page.ts';
import type { Queryable } from '../connection/database.ts';
import { projectRows } from '../sql/projectRows.ts';
import { isoTime, isoTimeOrNull } from '../sql/rows.ts';

interface Row {
  id: string;
  hint: string;
  allowed_origins: string[];
  max_minutes_per_day: number;
  requests_per_minute: number;
  max_concurrent: number;
  expires_at: Date | null;
  created_at: Date;
  used_on: string | null;
  used_ms: number;
}

const STORED =
  'id, hint, allowed_origins, max_minutes_per_day, requests_per_minute, max_concurrent, expires_at, created_at';
const USAGE = `to_char(used_on, 'YYYY-MM-DD') AS used_on, used_ms::float8 AS used_ms`;
/** The current day in UTC. The second parameter is the time. */
const TODAY = `($2::timestamptz AT TIME ZONE 'UTC')::date`;
const USED_TODAY = `(CASE WHEN used_on = ${TODAY} THEN used_ms ELSE 0 END)`;
const LEFT_TODAY = `(max_minutes_per_day::bigint * 60000 - ${USED_TODAY})`;
const IS_VALID = '(expires_at IS NULL OR expires_at > $2::timestamptz)';

export function widgetTokenStore(database: Queryable): WidgetTokenStore {
  const rows = projectRows<Row>(database, 'widget_tokens', `${STORED}, ${USAGE}`);
  return {
    async insert(token) {
      await database.query(
        `INSERT INTO widget_tokens (project_id, digest, ${STORED}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
        [
          token.projectId,
          token.digest,
          token.id,
          token.hint,
          token.allowedOrigins,
          token.maxMinutesPerDay,
          token.requestsPerMinute,
          token.maxConcurrent,
          token.expiresAt,
          token.createdAt,
        ],
      );
    },
    async list(projectId, page, now) {
      const today = now.toISOString().slice(0, 10);
      return mapPage(await rows.list(projectId, page), (row) => fromRow(row, today));
    },
    async findByDigest(digest) {
      const [row] = await database.query<Row & { project_id: string }>(
        `SELECT project_id, ${STORED} FROM widget_tokens WHERE digest = $1`,
        [digest],
      );
      return (
        row && {
          kind: 'widget',
          keyId: row.id,
          hint: row.hint,
          projectId: row.project_id,
          scopes: [],
          allowedOrigins: row.allowed_origins,
          requestsPerMinute: row.requests_per_minute,
          maxConcurrent: row.max_concurrent,
          expiresAtMs: row.expires_at?.getTime() ?? null,
        }
      );
    },
    async allOrigins(now) {
      const rows = await database.query<{ project_id: string; origin: string }>(
        `SELECT DISTINCT project_id, unnest(allowed_origins) AS origin FROM widget_tokens
         WHERE expires_at IS NULL OR expires_at > $1::timestamptz`,
        [now.toISOString()],
      );
      return rows.map(({ project_id, origin }) => ({ projectId: project_id, origin }));
    },
    async remove(projectId, tokenId) {
      if (!isUuid(tokenId)) return undefined;
      const [row] = await database.query<{ digest: string }>(
        'DELETE FROM widget_tokens WHERE project_id = $1 AND id = $2 RETURNING digest',
        [projectId, tokenId],
      );
      return row?.digest;
    },
    async digestsOf(projectId) {
      const found = await database.query<{ digest: string }>(
        'SELECT digest FROM widget_tokens WHERE project_id = $1',
        [projectId],
      );
      return found.map(({ digest }) => digest);
    },
    async msLeftToday(tokenId, now) {
      const [row] = await database.query<{ left: number }>(
        `SELECT ${LEFT_TODAY}::float8 AS left FROM widget_tokens WHERE id = $1 AND ${IS_VALID}`,
        [tokenId, now.toISOString()],
      );
      return Math.max(0, row?.left ?? 0);
    },
    async take(tokenId, ms, now) {
      const [row] = await database.query<{ taken: number }>(
        `UPDATE widget_tokens SET used_on = ${TODAY}, used_ms = ${USED_TODAY} + taken.ms
         FROM (SELECT id, least($3::bigint, ${LEFT_TODAY}) AS ms FROM widget_tokens WHERE id = $1 FOR UPDATE) AS taken
         WHERE widget_tokens.id = taken.id AND taken.ms > 0 AND ${IS_VALID}
         RETURNING taken.ms::float8 AS taken`,
        [tokenId, now.toISOString(), Math.round(ms)],
      );
      return row?.taken ?? 0;
    },
    async giveBack(tokenId, ms, now) {
      await database.query(
        `UPDATE widget_tokens SET used_ms = greatest(0, used_ms - $3::bigint) WHERE id = $1 AND used_on = ${TODAY}`,
        [tokenId, now.toISOString(), Math.round(ms)],
      );
    },
  };
}

function fromRow(row: Row, today: string): WidgetToken {
  return {
    id: row.id,
    hint: row.hint,
    allowedOrigins: row.allowed_origins,
    maxMinutesPerDay: row.max_minutes_per_day,
    requestsPerMinute: row.requests_per_minute,
    maxConcurrent: row.max_concurrent,
    expiresAt: isoTimeOrNull(row.expires_at),
    createdAt: isoTime(row.created_at),
    minutesUsedToday: row.used_on === today ? Math.round(row.used_ms / 600) / 100 : 0,
  };
}
