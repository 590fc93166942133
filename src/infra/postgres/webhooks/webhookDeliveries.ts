import { mapPage } from '../../../base/values/page.ts';
import type { LoggedDelivery, WebhookDeliveryStore } from '../../../webhooks/deliveryStore.ts';
import type { Queryable } from '../connection/database.ts';
import { type List, queryPage } from '../sql/pages.ts';
import { fieldsOf } from '../sql/rows.ts';

const COLUMNS = 'id, attempt, session_id, webhook, event, url, status, duration_ms, error, at, body, answer';
const FIND = `
  SELECT ${COLUMNS} FROM webhook_deliveries WHERE project_id = $1 AND id = $2 ORDER BY attempt DESC LIMIT 1`;

export function webhookDeliveryStore(database: Queryable): WebhookDeliveryStore {
  return {
    async list(projectId, { sessionId, event, webhook }, page) {
      const list: List = {
        name: 'webhook_deliveries',
        columns: COLUMNS,
        from: 'webhook_deliveries',
        where: `project_id = $1 AND ($2::text IS NULL OR session_id = $2) AND ($3::text IS NULL OR event = $3)
          AND ($4::text IS NULL OR webhook = $4)`,
        parameters: [projectId, sessionId ?? null, event ?? null, webhook ?? null],
        order: [
          { column: 'at', type: 'time' },
          { column: 'id', type: 'uuid' },
          { column: 'attempt', type: 'integer' },
        ],
        direction: 'DESC',
      };
      return mapPage(await queryPage(database, list, page), fieldsOf<LoggedDelivery>);
    },
    async find(projectId, deliveryId) {
      const [row] = await database.query<object>(FIND, [projectId, deliveryId]);
      return row && fieldsOf<LoggedDelivery>(row);
    },
  };
}
