import type { WidgetPrincipal } from '../../../agents/accounts/principal.ts';
import type { WidgetToken, WidgetTokenStore } from '../../../agents/accounts/widgetToken.ts';
import { isUuid } from '../../../base/values/ids.ts';
import { mapPage } from '../../../base/values/page.ts';
import type { Queryable } from '../connection/database.ts';
import { projectRows } from '../sql/projectRows.ts';
import { insertRow } from '../sql/rows.ts';

/** A token as its columns have it. */
interface Stored extends Omit<WidgetToken, 'minutesUsedToday'> {
  readonly usedOn: string | null;
  readonly usedMs: number;
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
  const rows = projectRows<Stored>(database, 'widget_tokens', `${STORED}, ${USAGE}`);
  return {
    async insert(token) {
      await insertRow(database, 'widget_tokens', {
        id: token.id,
        project_id: token.projectId,
        digest: token.digest,
        hint: token.hint,
        allowed_origins: token.allowedOrigins,
        max_minutes_per_day: token.maxMinutesPerDay,
        requests_per_minute: token.requestsPerMinute,
        max_concurrent: token.maxConcurrent,
        expires_at: token.expiresAt,
        created_at: token.createdAt,
      });
    },
    async list(projectId, page, now) {
      const today = now.toISOString().slice(0, 10);
      return mapPage(await rows.list(projectId, page), ({ usedOn, usedMs, ...token }) => ({
        ...token,
        minutesUsedToday: usedOn === today ? Math.round(usedMs / 600) / 100 : 0,
      }));
    },
    async findByDigest(digest) {
      const [row] = await database.query<WidgetPrincipal & { expiresAt: Date | null }>(
        `SELECT 'widget' AS kind, id AS "keyId", hint, project_id AS "projectId", '{}'::text[] AS scopes,
           allowed_origins AS "allowedOrigins", requests_per_minute AS "requestsPerMinute",
           max_concurrent AS "maxConcurrent", expires_at AS "expiresAt"
         FROM widget_tokens WHERE digest = $1`,
        [digest],
      );
      if (!row) return undefined;
      const { expiresAt, ...principal } = row;
      return { ...principal, expiresAtMs: expiresAt?.getTime() ?? null };
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
