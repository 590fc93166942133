import type { StoredWebhookSecret, WebhookSecretStore } from '../../../webhooks/signingSecrets.ts';
import type { Queryable } from '../connection/database.ts';
import type { SecretFields } from '../secrets/secretFields.ts';
import { fieldsOf } from '../sql/rows.ts';

const COLUMNS = 'secret, previous, rotated_at';

export function webhookSecretStore(database: Queryable, secrets: SecretFields): WebhookSecretStore {
  const fromRow = (row: object): StoredWebhookSecret => {
    const { secret, previous, rotatedAt } = fieldsOf<StoredWebhookSecret>(row);
    const opened = previous === null ? null : secrets.open(previous);
    return { secret: secrets.open(secret), previous: opened, rotatedAt };
  };
  const write = async (sql: string, projectId: string, secret: string, at: string) => {
    const [row] = await database.query<object>(`${sql} RETURNING ${COLUMNS}`, [
      projectId,
      secrets.seal(secret),
      at,
    ]);
    if (!row) throw new Error('upsert returned no row');
    return fromRow(row);
  };
  const insert = `INSERT INTO webhook_secrets AS kept (project_id, secret, rotated_at) VALUES ($1, $2, $3)`;

  return {
    async find(projectId) {
      const [row] = await database.query<object>(
        `SELECT ${COLUMNS} FROM webhook_secrets WHERE project_id = $1`,
        [projectId],
      );
      return row && fromRow(row);
    },
    // When two requests insert the first secret, the update returns the first one's row to the second.
    insert: (projectId, secret, at) =>
      write(`${insert} ON CONFLICT (project_id) DO UPDATE SET secret = kept.secret`, projectId, secret, at),
    rotate: (projectId, secret, at) =>
      write(
        `${insert} ON CONFLICT (project_id) DO UPDATE
         SET secret = excluded.secret, previous = kept.secret, rotated_at = excluded.rotated_at`,
        projectId,
        secret,
        at,
      ),
  };
}
