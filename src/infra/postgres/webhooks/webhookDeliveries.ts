import { mapPage } from '../../../base/values/page.ts';
import type {
  DeliveredEvent,
  LoggedDelivery,
  WebhookDeliveryStore,
  WebhookKind,
} from '../../../webhooks/deliveryStore.ts';
import type { Queryable } from '../connection/database.ts';
import { type List, queryPage } from '../sql/pages.ts';
import { isoTime } from '../sql/rows.ts';

interface Row {
  id: string;
  attempt: number;
  /** Null for an event that belongs to no session. */
  session_id: string | null;
  webhook: WebhookKind;
  event: DeliveredEvent;
  url: string;
  status: number | null;
  duration_ms: number;
  error: LoggedDelivery['error'];
  at: Date;
  body: string | null;
  answer: string | null;
}

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
      return mapPage(await queryPage<Row>(database, list, page), fromRow);
    },
    async find(projectId, deliveryId) {
      const [row] = await database.query<Row>(FIND, [projectId, deliveryId]);
      return row && fromRow(row);
    },
  };
}

function fromRow({ session_id, duration_ms, at, ...rest }: Row) {
  return { ...rest, sessionId: session_id, durationMs: duration_ms, at: isoTime(at) };
}
