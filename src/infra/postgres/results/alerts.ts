import type { Alert } from '../../../results/alerts/alert.ts';
import type { AlertStore } from '../../../results/alerts/alertStore.ts';
import type { Queryable } from '../connection/database.ts';
import type { SecretFields } from '../secrets/secretFields.ts';
import { projectRows } from '../sql/projectRows.ts';
import { fieldsOf } from '../sql/rows.ts';
import { storableJson } from '../sql/storable.ts';

const COLUMNS =
  'id, project_id, settings, webhook, enabled, state, since, last_value, calm_looks, created_at, updated_at';

type Settings = Pick<Alert, 'name' | 'metric' | 'filter' | 'windowMinutes' | 'minCount' | 'above' | 'below'>;

export function alertStore(database: Queryable, secrets: SecretFields): AlertStore {
  const rows = projectRows(database, 'alerts', COLUMNS, (row): Alert => {
    const { settings, webhook, ...fields } = fieldsOf<Alert & { readonly settings: Settings }>(row);
    return { ...fields, ...settings, webhook: webhook && secrets.openHeaders(webhook) };
  });
  const columnsOf = ({ webhook, enabled, updatedAt, ...alert }: Alert) => {
    const { name, metric, filter, windowMinutes, minCount, above, below } = alert;
    return {
      settings: storableJson({ name, metric, filter, windowMinutes, minCount, above, below }),
      webhook: webhook && JSON.stringify(secrets.sealHeaders(webhook)),
      enabled,
      updated_at: updatedAt,
      next_at: updatedAt,
    };
  };
  return {
    find: rows.find,
    list: rows.list,
    remove: rows.remove,
    async insert(alert) {
      const { id, projectId, state, since, createdAt } = alert;
      const own = { id, project_id: projectId, state, since, created_at: createdAt };
      await rows.insert({ ...own, ...columnsOf(alert) });
    },
    async update(alert) {
      // A look that runs has lost its claim, so that it does not put the next one off.
      await rows.update(alert.projectId, alert.id, { ...columnsOf(alert), claim_id: null });
    },
    async saveLook({ id, state, since, calmLooks, updatedAt }, after) {
      const saved = await database.query(SAVE_LOOK, [
        id,
        after.state,
        after.since,
        after.lastValue,
        after.calmLooks,
        state,
        since,
        calmLooks,
        updatedAt,
      ]);
      return saved.length > 0;
    },
  };
}

const SAVE_LOOK = `
  UPDATE alerts SET state = $2, since = $3, last_value = $4, calm_looks = $5
  WHERE id = $1 AND state = $6 AND since = $7::timestamptz AND calm_looks = $8 AND updated_at = $9::timestamptz
  RETURNING 1`;
