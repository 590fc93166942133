import type { AuditStore } from '../../../agents/accounts/accountStores.ts';
import type { AuditEntry } from '../../../agents/accounts/audit.ts';
import type { Queryable } from '../connection/database.ts';
import { isoTime, mapPage, queryPage } from '../sql/rows.ts';

interface Row {
  id: string;
  project_id: string | null;
  at: Date;
  actor: AuditEntry['actor'];
  action: string;
  target: string | null;
  details: AuditEntry['details'];
  request_id: string | null;
}

const COLUMNS = 'id, project_id, at, actor, action, target, details, request_id';

export function auditStore(database: Queryable): AuditStore {
  return {
    async append(entry) {
      await database.query(`INSERT INTO audit_log (${COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`, [
        entry.id,
        entry.projectId,
        entry.at,
        JSON.stringify(entry.actor),
        entry.action,
        entry.target,
        JSON.stringify(entry.details),
        entry.requestId,
      ]);
    },
    async list(projectId, page) {
      const select = `SELECT ${COLUMNS} FROM audit_log WHERE project_id = $1 ORDER BY at DESC, id DESC`;
      return mapPage(await queryPage<Row>(database, select, [projectId], page), (row) => ({
        id: row.id,
        projectId: row.project_id,
        at: isoTime(row.at),
        actor: row.actor,
        action: row.action,
        target: row.target,
        details: row.details,
        requestId: row.request_id,
      }));
    },
  };
}
