import type { ProjectStore } from '../../../agents/accounts/accountStores.ts';
import type { CallingHours } from '../../../agents/accounts/callingHours.ts';
import {
  type CallLimits,
  type CallLimitsPatch,
  NO_CALL_LIMITS,
} from '../../../agents/accounts/callLimits.ts';
import {
  DEFAULT_CHAT_IDLE_MINUTES,
  DEFAULT_SESSION_IDLE_MINUTES,
  type Project,
  type ProjectPatch,
  sessionRetentionOf,
} from '../../../agents/accounts/project.ts';
import { type Quotas, quotasFrom } from '../../../agents/accounts/quotas.ts';
import { type RetentionDaysPatch, retentionFrom } from '../../../agents/accounts/retention.ts';
import type { ReviewRule } from '../../../agents/accounts/reviewRules.ts';
import { isUuid } from '../../../base/values/ids.ts';
import { omitUndefined } from '../../../base/values/omitUndefined.ts';
import { mapPage } from '../../../base/values/page.ts';
import type { Queryable } from '../connection/database.ts';
import { type List, queryPage } from '../sql/pages.ts';
import { BY_CREATION } from '../sql/projectRows.ts';
import { isoTime } from '../sql/rows.ts';

interface Row {
  id: string;
  name: string;
  session_idle_minutes: number | null;
  history_retention_days: number | null;
  retention_days: RetentionDaysPatch;
  report_usage: boolean;
  call_limits: CallLimitsPatch;
  quotas: Partial<Quotas>;
  calling_hours: CallingHours | null;
  review_rules: ReviewRule[] | null;
  created_at: Date;
  updated_at: Date;
}

const COLUMNS = `id, name, session_idle_minutes, history_retention_days, report_usage, call_limits, quotas, created_at, updated_at,
  retention_days, calling_hours, review_rules`;

const INSERT = `INSERT INTO projects (${COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`;

/** Rows removed by one statement: a session has thousands of its own. */
const REMOVED_AT_ONCE = 20;
const CONTENTS = [
  ['sessions', 'instance_id'],
  ['session_history', 'instance_id'],
  // What is kept of these.
  ['insight_removed', 'id'],
  ['webhook_deliveries', 'id, attempt'],
  ['test_runs', 'id'],
].map(
  ([table, key]) =>
    `DELETE FROM ${table} WHERE (${key}) IN (
       SELECT ${key} FROM ${table} WHERE project_id = $1 LIMIT ${REMOVED_AT_ONCE}
     ) RETURNING 1`,
);

export function projectStore(database: Queryable): ProjectStore {
  return {
    async insert(project) {
      await database.query(INSERT, [
        project.id,
        project.name,
        project.sessionIdleMinutes ?? null,
        project.historyRetentionDays,
        project.reportUsage,
        JSON.stringify(project.callLimits ?? {}),
        JSON.stringify(project.quotas ?? {}),
        project.createdAt,
        project.updatedAt,
        storedRetention(project.retentionDays),
        storedHours(project.callingHours),
        storedRules(project.reviewRules),
      ]);
    },
    async find(projectId, lock) {
      if (!isUuid(projectId)) return undefined;
      // Editing a pathway locks the pathway before the project; the same order here prevents a deadlock.
      if (lock) await database.query('SELECT FROM pathways WHERE project_id = $1 FOR UPDATE', [projectId]);
      const [row] = await database.query<Row>(
        `SELECT ${COLUMNS} FROM projects WHERE id = $1 ${lock ? 'FOR UPDATE' : ''}`,
        [projectId],
      );
      return row && fromRow(row);
    },
    async list(page) {
      const list: List = {
        name: 'projects',
        columns: COLUMNS,
        from: 'projects',
        where: 'true',
        parameters: [],
        order: BY_CREATION,
        direction: 'ASC',
      };
      return mapPage(await queryPage<Row>(database, list, page), fromRow);
    },
    async update(projectId, patch: ProjectPatch, updatedAt) {
      if (!isUuid(projectId)) return undefined;
      const sessionRetention = sessionRetentionOf(patch);
      const [row] = await database.query<Row>(
        `UPDATE projects SET
           name = coalesce($2, name),
           session_idle_minutes = coalesce($3, session_idle_minutes),
           history_retention_days = CASE WHEN $10 THEN $4 ELSE history_retention_days END,
           retention_days = retention_days || $9::jsonb,
           report_usage = coalesce($5, report_usage),
           call_limits = call_limits || $6::jsonb,
           quotas = quotas || $8::jsonb,
           calling_hours = CASE WHEN $12 THEN $11::jsonb ELSE calling_hours END,
           review_rules = CASE WHEN $14 THEN $13::json ELSE review_rules END,
           updated_at = $7
         WHERE id = $1 RETURNING ${COLUMNS}`,
        [
          projectId,
          patch.name ?? null,
          patch.sessionIdleMinutes ?? null,
          sessionRetention ?? null,
          patch.reportUsage ?? null,
          JSON.stringify(patch.callLimits ?? {}),
          updatedAt,
          JSON.stringify(patch.quotas ?? {}),
          storedRetention(patch.retentionDays),
          sessionRetention !== undefined,
          storedHours(patch.callingHours),
          patch.callingHours !== undefined,
          storedRules(patch.reviewRules),
          patch.reviewRules !== undefined,
        ],
      );
      return row && fromRow(row);
    },
    async removeContents(projectId) {
      if (!isUuid(projectId)) return;
      for (const removeSome of CONTENTS) while ((await database.query(removeSome, [projectId])).length > 0);
    },
    async remove(projectId) {
      if (!isUuid(projectId)) return false;
      const rows = await database.query('DELETE FROM projects WHERE id = $1 RETURNING id', [projectId]);
      return rows.length > 0;
    },
  };
}

function fromRow(row: Row): Project {
  return {
    id: row.id,
    name: row.name,
    sessionIdleMinutes: row.session_idle_minutes ?? DEFAULT_SESSION_IDLE_MINUTES,
    chatIdleMinutes: row.session_idle_minutes ?? DEFAULT_CHAT_IDLE_MINUTES,
    historyRetentionDays: row.history_retention_days,
    retentionDays: retentionFrom(row.history_retention_days, row.retention_days),
    reportUsage: row.report_usage,
    callLimits: limitsFrom(row.call_limits),
    quotas: quotasFrom(row.quotas),
    callingHours: row.calling_hours,
    reviewRules: row.review_rules ?? [],
    createdAt: isoTime(row.created_at),
    updatedAt: isoTime(row.updated_at),
  };
}

function storedHours(hours: CallingHours | null | undefined): string | null {
  return hours ? JSON.stringify(hours) : null;
}

/** Null for none, so that sessions keep none either. */
function storedRules(rules: readonly ReviewRule[] | undefined): string | null {
  return rules && rules.length > 0 ? JSON.stringify(rules) : null;
}

/** The days of sessions have a column of their own. */
function storedRetention({ sessions, ...others }: RetentionDaysPatch = {}): string {
  return JSON.stringify(others);
}

/** Limits of a newer release, whose nodes run beside this one during an upgrade, are ignored. */
function limitsFrom(stored: CallLimitsPatch): CallLimits {
  const known = Object.entries(stored).filter(([name]) => name in NO_CALL_LIMITS);
  return { ...NO_CALL_LIMITS, ...omitUndefined<CallLimitsPatch>(Object.fromEntries(known)) };
}
