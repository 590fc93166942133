import type { AuditStore } from '../../../agents/accounts/accountStores.ts';
import type { AuditEntry } from '../../../agents/accounts/audit.ts';
import { mapPage } from '../../../base/values/page.ts';
import type { Queryable } from '../connection/database.ts';
import { type List, queryPage } from '../sql/pages.ts';
import { fieldsOf, insertRow } from '../sql/rows.ts';

const COLUMNS = 'id, project_id, at, actor, action, target, details, request_id';

/** A statement locks no more rows than this. */
const REMOVAL_ROWS = 1_000;

export function auditStore(database: Queryable): AuditStore {
  return {
    async append(entry) {
      await insertRow(database, 'audit_log', {
        id: entry.id,
        project_id: entry.projectId,
        at: entry.at,
        actor: JSON.stringify(entry.actor),
        action: entry.action,
        target: entry.target,
        details: JSON.stringify(entry.details),
        request_id: entry.requestId,
      });
    },
    async list(projectId, page) {
      const list: List = {
        name: 'audit_log',
        columns: COLUMNS,
        from: 'audit_log',
        where: 'project_id = $1',
        parameters: [projectId],
        order: [
          { column: 'at', type: 'time' },
          { column: 'id', type: 'uuid' },
        ],
        direction: 'DESC',
      };
      return mapPage(await queryPage(database, list, page), fieldsOf<AuditEntry>);
    },
    async removeOlderThan(time) {
      for (let removed = REMOVAL_ROWS; removed === REMOVAL_ROWS; ) {
        const rows = await database.query(
          `DELETE FROM audit_log WHERE id IN (
             SELECT id FROM audit_log WHERE id < $1 AND at < $2 ORDER BY id LIMIT ${REMOVAL_ROWS}
           ) RETURNING 1`,
          [firstIdOf(time), time.toISOString()],
        );
        removed = rows.length;
      }
    },
  };
}

/** The least UUID of version 7 of this time: the primary key is an index by time. */
function firstIdOf(time: Date): string {
  const ms = time.getTime().toString(16).padStart(12, '0');
  return `${ms.slice(0, 8)}-${ms.slice(8)}-0000-0000-000000000000`;
}
