import { isUuid } from '../base/ids.js';
import { isoTime, mapPage, queryPage } from './rows.js';

const COLUMNS = `id, name, session_idle_minutes, history_retention_days, report_usage, created_at, updated_at`;
export function projectStore(database) {
  return {
    async insert(project) {
      await database.query(`INSERT INTO projects (${COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7)`, [
        project.id,
        project.name,
        project.sessionIdleMinutes,
        project.historyRetentionDays,
        project.reportUsage,
        project.createdAt,
        project.updatedAt,
      ]);
    },
    async find(projectId, lock) {
      if (!isUuid(projectId)) return undefined;
      // Who edits a pathway has it before reaching for the project; in the same order nobody waits in a circle.
      if (lock) await database.query('SELECT FROM pathways WHERE project_id = $1 FOR UPDATE', [projectId]);
      const [row] = await database.query(
        `SELECT ${COLUMNS} FROM projects WHERE id = $1 ${lock ? 'FOR UPDATE' : ''}`,
        [projectId],
      );
      return row && fromRow(row);
    },
    async list(page) {
      const select = `SELECT ${COLUMNS} FROM projects ORDER BY created_at, id`;
      return mapPage(await queryPage(database, select, [], page), fromRow);
    },
    async update(projectId, patch, updatedAt) {
      if (!isUuid(projectId)) return undefined;
      const [row] = await database.query(
        `UPDATE projects SET
           name = coalesce($2, name),
           session_idle_minutes = coalesce($3, session_idle_minutes),
           history_retention_days = coalesce($4, history_retention_days),
           report_usage = coalesce($5, report_usage),
           updated_at = $6
         WHERE id = $1 RETURNING ${COLUMNS}`,
        [
          projectId,
          patch.name ?? null,
          patch.sessionIdleMinutes ?? null,
          patch.historyRetentionDays ?? null,
          patch.reportUsage ?? null,
          updatedAt,
        ],
      );
      return row && fromRow(row);
    },
    async remove(projectId) {
      if (!isUuid(projectId)) return false;
      const rows = await database.query('DELETE FROM projects WHERE id = $1 RETURNING id', [projectId]);
      return rows.length > 0;
    },
  };
}
function fromRow(row) {
  return {
    id: row.id,
    name: row.name,
    sessionIdleMinutes: row.session_idle_minutes,
    historyRetentionDays: row.history_retention_days,
    reportUsage: row.report_usage,
    createdAt: isoTime(row.created_at),
    updatedAt: isoTime(row.updated_at),
  };
}
